//! What commands run in: the user's home, shell and variables. One for the whole app.

mod secrets;
mod shell;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tokio::sync::OnceCell;

pub use self::shell::{Dialect, Shell, ShellChoice};

use self::secrets::SecretNames;
use crate::process::Processes;

/// The user's settings for commands.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentSettings {
    pub shell: ShellChoice,
    /// Variables to withhold besides those that look secret; `*` stands for any text.
    pub withhold: Vec<String>,
    /// Variables to pass on though they look secret.
    pub pass: Vec<String>,
}

pub type Variables = BTreeMap<String, String>;

pub struct Environment {
    home: Option<PathBuf>,
    shell: Shell,
    secrets: SecretNames,
    own: Variables,
    /// Whether a login shell is asked for its variables.
    ask_login: bool,
    loaded: OnceCell<Variables>,
    processes: Processes,
}

impl Environment {
    /// The user's own environment, asked of a login shell once: an app started from a desktop
    /// does not have what the user's profile sets.
    pub fn of_user(settings: EnvironmentSettings) -> Self {
        let own: Variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            ask_login: true,
            ..Self::fixed(own, settings)
        }
    }

    /// Exactly these variables.
    pub fn fixed(variables: Variables, settings: EnvironmentSettings) -> Self {
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        Self {
            home: variables
                .get(home)
                .map(PathBuf::from)
                .filter(|home| home.is_absolute()),
            shell: Shell::choose(&settings.shell, &variables),
            secrets: SecretNames {
                withhold: settings.withhold,
                pass: settings.pass,
            },
            own: variables,
            ask_login: false,
            loaded: OnceCell::new(),
            processes: Processes::default(),
        }
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    /// The commands that run now; ended as a whole when the app goes.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// What a command gets: without secrets, with answers to programs that would page or prompt.
    pub async fn variables(&self) -> &Variables {
        self.loaded
            .get_or_init(|| async {
                let mut variables = self.own.clone();
                if self.ask_login
                    && let Some(login) = variables::of_login(&self.shell, self.home()).await
                {
                    variables.extend(login);
                }
                variables.retain(|name, value| !self.secrets.is_secret(name, value));
                variables::quiet(&mut variables);
                variables
            })
            .await
    }
}
