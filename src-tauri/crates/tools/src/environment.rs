//! What commands and requests run in: the user's home, shell and variables, and the hosts they
//! let in. One for the whole app; settings may change while it runs.

mod secrets;
mod shell;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::RwLock;
use tokio::sync::OnceCell;

pub use self::shell::{Shell, ShellChoice};

use self::secrets::SecretNames;
use crate::process::Processes;

/// The user's settings for commands.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentSettings {
    pub shell: ShellChoice,
    /// Hosts that may be fetched from although they lie in a private network.
    pub private_hosts: Vec<String>,
    /// Variables to withhold besides those that look secret; `*` stands for any text.
    pub withhold: Vec<String>,
    /// Variables to pass on though they look secret.
    pub pass: Vec<String>,
}

pub type Variables = BTreeMap<String, String>;

pub struct Environment {
    home: Option<PathBuf>,
    shell: RwLock<Shell>,
    private_hosts: RwLock<Vec<String>>,
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
            shell: RwLock::new(Shell::choose(&settings.shell, &variables)),
            private_hosts: RwLock::new(settings.private_hosts),
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

    /// A copy, so that a command is run by the shell it was checked for.
    pub fn shell(&self) -> Shell {
        self.shell.read().clone()
    }

    /// From the next command on.
    pub fn set_shell(&self, choice: &ShellChoice) {
        *self.shell.write() = Shell::choose(choice, &self.own);
    }

    pub fn private_hosts(&self) -> Vec<String> {
        self.private_hosts.read().clone()
    }

    /// From the next request on.
    pub fn set_private_hosts(&self, hosts: Vec<String>) {
        *self.private_hosts.write() = hosts;
    }

    /// Where a program lies that is called by its name alone. Windows looks only for `.exe` by
    /// itself, and `npx` is a `.cmd`; elsewhere the supervisor's shell looks.
    pub async fn program(&self, name: &str) -> PathBuf {
        let found = if cfg!(windows) {
            shell::with_ending(name, self.variables().await)
        } else {
            None
        };
        found.unwrap_or_else(|| PathBuf::from(name))
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
                    && let Some(login) = variables::of_login(&self.shell(), self.home()).await
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
