//! The person's settings for tools: the shell for commands, and allowed private hosts.
//!
//! The window's settings override those of the config. Both may change while the program runs.
//! A project cannot set them: it could give itself access to the private network.

use std::sync::Arc;

use lathe_tools::{Environment, ShellChoice};
use parking_lot::Mutex;

use crate::config::Settings;

/// Options from one source. `None` leaves the choice to the other source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOptions {
    pub shell: Option<String>,
    pub private_hosts: Vec<String>,
}

pub struct ToolSettings {
    environment: Arc<Environment>,
    sources: Mutex<OptionSources>,
}

#[derive(Default)]
struct OptionSources {
    config: ToolOptions,
    window: ToolOptions,
}

impl ToolSettings {
    pub fn new(environment: Arc<Environment>) -> Self {
        ToolSettings {
            environment,
            sources: Mutex::default(),
        }
    }

    pub fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    /// `config` must be the person's settings, without those of a project.
    pub fn configure(&self, config: &Settings) {
        let hosts = config.webfetch.as_ref().map(|block| &block.allowed_hosts);
        let config = ToolOptions {
            shell: config.shell.clone(),
            private_hosts: hosts.cloned().unwrap_or_default(),
        };
        let mut sources = self.sources.lock();
        if sources.config != config {
            sources.config = config;
            self.apply(&sources);
        }
    }

    pub fn set(&self, window: ToolOptions) {
        let mut sources = self.sources.lock();
        if sources.window != window {
            sources.window = window;
            self.apply(&sources);
        }
    }

    fn apply(&self, sources: &OptionSources) {
        let (first, then) = (&sources.window, &sources.config);
        let shell = first.shell.as_deref().or(then.shell.as_deref());
        self.environment
            .set_shell(&ShellChoice::parse(shell.unwrap_or_default()));
        let hosts = then.private_hosts.iter().chain(&first.private_hosts);
        self.environment.set_private_hosts(hosts.cloned().collect());
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::config::WebfetchBlock;
    use lathe_tools::EnvironmentSettings;
    use std::path::Path;

    #[test]
    fn window_settings_override_the_config() {
        let environment = Environment::fixed(Default::default(), EnvironmentSettings::default());
        let environment = Arc::new(environment);
        let settings = ToolSettings::new(environment.clone());
        let webfetch = WebfetchBlock {
            allowed_hosts: vec!["wiki.lan".to_owned()],
        };
        settings.configure(&Settings {
            shell: Some("/bin/sh".to_owned()),
            webfetch: Some(webfetch),
            ..Settings::default()
        });
        assert_eq!(environment.shell().program, Path::new("/bin/sh"));
        assert_eq!(environment.private_hosts(), ["wiki.lan"]);

        settings.set(ToolOptions {
            shell: Some("/bin/bash".to_owned()),
            private_hosts: vec!["localhost".to_owned()],
        });
        assert_eq!(environment.shell().program, Path::new("/bin/bash"));
        assert_eq!(environment.private_hosts(), ["wiki.lan", "localhost"]);

        settings.set(ToolOptions::default());
        assert_eq!(environment.shell().program, Path::new("/bin/sh"));
        settings.configure(&Settings::default());
        assert_eq!(environment.private_hosts(), Vec::<String>::new());
    }
}
