//! The environment of commands and requests: the user's home, shell and variables, and the
//! private hosts that they allow. One for the whole app; settings may change while it runs.

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
    /// Hosts that may be fetched from although they are in a private network.
    pub private_hosts: Vec<String>,
    /// Variables to withhold in addition to those that look secret; `*` matches any text.
    pub withhold: Vec<String>,
    /// Variables to pass on although they look secret.
    pub pass: Vec<String>,
}

pub type Variables = BTreeMap<String, String>;

pub struct Environment {
    home: Option<PathBuf>,
    shell: RwLock<Shell>,
    private_hosts: RwLock<Vec<String>>,
    secrets: SecretNames,
    own: Variables,
    /// Whether the variables are read from a login shell.
    ask_login: bool,
    loaded: OnceCell<Variables>,
    processes: Processes,
}

impl Environment {
    /// The user's environment, read from a login shell once: an app started from the desktop
    /// lacks the variables that the user's profile sets.
    pub fn of_user(settings: EnvironmentSettings) -> Self {
        let own: Variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            ask_login: true,
            ..Self::fixed(own, settings)
        }
    }

    /// An environment with exactly these variables.
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

    /// A copy, so that a command runs in the same shell that it was checked for.
    pub fn shell(&self) -> Shell {
        self.shell.read().clone()
    }

    /// Takes effect with the next command.
    pub fn set_shell(&self, choice: &ShellChoice) {
        *self.shell.write() = Shell::choose(choice, &self.own);
    }

    pub fn private_hosts(&self) -> Vec<String> {
        self.private_hosts.read().clone()
    }

    /// Takes effect with the next request.
    pub fn set_private_hosts(&self, hosts: Vec<String>) {
        *self.private_hosts.write() = hosts;
    }

    /// Resolves a program's name to its path. Windows itself only finds `.exe` files, but `npx`
    /// is a `.cmd`; on other systems the supervisor's shell resolves the name.
    pub async fn program(&self, name: &str) -> PathBuf {
        let found = if cfg!(windows) {
            shell::with_ending(name, self.variables().await)
        } else {
            None
        };
        found.unwrap_or_else(|| PathBuf::from(name))
    }

    /// The running commands, which are killed when the app exits.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// The variables of a command: without secrets, and set so that programs do not page or
    /// prompt.
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
