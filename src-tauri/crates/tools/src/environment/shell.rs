//! The shell that runs commands.

use std::path::{Path, PathBuf};

use super::Variables;

/// What the user set. Only Windows has a choice to make; elsewhere `System` is the user's shell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ShellChoice {
    #[default]
    System,
    GitBash,
    Program(PathBuf),
}

/// How a command is written for it, hence whether we can analyse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Posix,
    PowerShell,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    pub program: PathBuf,
    pub dialect: Dialect,
}

/// Shells that read what the analysis reads. In any other (fish, nu) a command could mean
/// something else than what was checked.
const POSIX: [&str; 6] = ["bash", "zsh", "sh", "dash", "ksh", "mksh"];

impl Shell {
    pub(super) fn choose(choice: &ShellChoice, variables: &Variables) -> Self {
        match choice {
            ShellChoice::Program(path) if path.is_file() => {
                if let Some(shell) = Self::at(path) {
                    return shell;
                }
            }
            ShellChoice::GitBash => {
                if let Some(program) = git_bash(variables) {
                    return Self {
                        program,
                        dialect: Dialect::Posix,
                    };
                }
            }
            ShellChoice::Program(_) | ShellChoice::System => {}
        }
        Self::system(variables)
    }

    /// Arguments that make it run `command`.
    pub fn arguments<'a>(&self, command: &'a str) -> Vec<&'a str> {
        match self.dialect {
            Dialect::Posix => vec!["-c", command],
            Dialect::PowerShell => {
                vec![
                    "-NoLogo",
                    "-NoProfile",
                    "-NonInteractive",
                    "-Command",
                    command,
                ]
            }
        }
    }

    fn at(path: &Path) -> Option<Self> {
        let name = path.file_stem()?.to_string_lossy().to_lowercase();
        let dialect = match name.as_str() {
            "powershell" | "pwsh" => Dialect::PowerShell,
            name if POSIX.contains(&name) => Dialect::Posix,
            _ => return None,
        };
        Some(Self {
            program: path.to_owned(),
            dialect,
        })
    }

    #[cfg(not(windows))]
    fn system(variables: &Variables) -> Self {
        let own = variables.get("SHELL").map(PathBuf::from);
        let usual = ["/bin/bash", "/usr/bin/bash", "/bin/sh"].map(PathBuf::from);
        own.into_iter()
            .chain(usual)
            .filter(|path| path.is_absolute() && path.is_file())
            .find_map(|path| Self::at(&path))
            .unwrap_or_else(|| Self {
                program: "/bin/sh".into(),
                dialect: Dialect::Posix,
            })
    }

    #[cfg(windows)]
    fn system(variables: &Variables) -> Self {
        let program = in_path("pwsh.exe", variables).unwrap_or_else(|| "powershell.exe".into());
        Self {
            program,
            dialect: Dialect::PowerShell,
        }
    }
}

fn git_bash(variables: &Variables) -> Option<PathBuf> {
    let beside_git = in_path("git.exe", variables).and_then(|git| {
        let program = git.parent()?.parent()?.join("bin").join("bash.exe");
        program.is_file().then_some(program)
    });
    let usual = variables
        .get("ProgramFiles")
        .map(|dir| Path::new(dir).join("Git/bin/bash.exe"));
    beside_git.or(usual.filter(|path| path.is_file()))
}

fn in_path(program: &str, variables: &Variables) -> Option<PathBuf> {
    let path = variables.get("PATH").or_else(|| variables.get("Path"))?;
    std::env::split_paths(path)
        .map(|dir| dir.join(program))
        .find(|path| path.is_file())
}
