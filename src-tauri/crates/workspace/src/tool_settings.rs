//! What the person set for tools: the shell of commands, and hosts of their own network.
//!
//! The config says what holds by default; the window's settings come on top. Both may change
//! while the program runs. Never from a project: it could open the network to itself.

use std::sync::Arc;

use lathe_tools::{Environment, ShellChoice};
use parking_lot::Mutex;

use crate::config::Settings;

/// As the window's settings have it; nothing leaves it to the config.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOptions {
    pub shell: Option<String>,
    pub private_hosts: Vec<String>,
}

pub struct ToolSettings {
    environment: Arc<Environment>,
    said: Mutex<Said>,
}

#[derive(Default)]
struct Said {
    by_config: ToolOptions,
    by_window: ToolOptions,
}

impl ToolSettings {
    pub fn new(environment: Arc<Environment>) -> Self {
        ToolSettings {
            environment,
            said: Mutex::default(),
        }
    }

    pub fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    /// `config` is the person's own.
    pub fn configure(&self, config: &Settings) {
        let hosts = config.webfetch.as_ref().map(|block| &block.allowed_hosts);
        let by_config = ToolOptions {
            shell: config.shell.clone(),
            private_hosts: hosts.cloned().unwrap_or_default(),
        };
        let mut said = self.said.lock();
        if said.by_config != by_config {
            said.by_config = by_config;
            self.apply(&said);
        }
    }

    pub fn set(&self, by_window: ToolOptions) {
        let mut said = self.said.lock();
        if said.by_window != by_window {
            said.by_window = by_window;
            self.apply(&said);
        }
    }

    fn apply(&self, said: &Said) {
        let (first, then) = (&said.by_window, &said.by_config);
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
    fn settings_come_on_top_of_the_config() {
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
