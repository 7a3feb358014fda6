//! The shell that runs commands.

use lathe_protocol::ShellDialect;
use std::path::{Path, PathBuf};

use super::Variables;

/// The user's setting. `System` is the user's login shell, or PowerShell on Windows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ShellChoice {
    #[default]
    System,
    GitBash,
    Program(PathBuf),
}

impl ShellChoice {
    /// Parses the config value: a path, or one of a few names.
    pub fn parse(written: &str) -> Self {
        match written.trim() {
            "" | "system" | "powershell" => ShellChoice::System,
            "git-bash" => ShellChoice::GitBash,
            path => ShellChoice::Program(PathBuf::from(path)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    pub program: PathBuf,
    pub dialect: ShellDialect,
}

/// Shells whose syntax the command analysis understands. In others (fish, nu) a command could
/// mean something else than what was checked.
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
                        dialect: ShellDialect::Posix,
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
            ShellDialect::Posix => vec!["-c", command],
            ShellDialect::PowerShell => {
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
            "powershell" | "pwsh" => ShellDialect::PowerShell,
            name if POSIX.contains(&name) => ShellDialect::Posix,
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
                dialect: ShellDialect::Posix,
            })
    }

    #[cfg(windows)]
    fn system(variables: &Variables) -> Self {
        let program = in_path("pwsh.exe", variables).unwrap_or_else(|| "powershell.exe".into());
        Self {
            program,
            dialect: ShellDialect::PowerShell,
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

/// The program with the first usual extension that exists.
pub(super) fn with_ending(name: &str, variables: &Variables) -> Option<PathBuf> {
    if name.contains(['/', '\\']) {
        return None;
    }
    let endings = variables
        .get("PATHEXT")
        .map_or(".COM;.EXE;.BAT;.CMD", String::as_str);
    let named = endings
        .split(';')
        .map(|ending| format!("{name}{}", ending.to_lowercase()));
    std::iter::once(name.to_owned())
        .chain(named)
        .filter(|candidate| Path::new(candidate).extension().is_some())
        .find_map(|candidate| in_path(&candidate, variables))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_a_name_or_a_path_and_one_that_cannot_be_used_falls_back() {
        assert_eq!(ShellChoice::parse(" system "), ShellChoice::System);
        assert_eq!(ShellChoice::parse("git-bash"), ShellChoice::GitBash);
        let folder = tempfile::tempdir().unwrap();
        let chosen = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            let choice = ShellChoice::parse(&path.to_string_lossy());
            let shell = Shell::choose(&choice, &Variables::new());
            (shell.program == path, shell.dialect)
        };
        assert_eq!(chosen("zsh"), (true, ShellDialect::Posix));
        assert_eq!(chosen("pwsh.exe"), (true, ShellDialect::PowerShell));
        assert!(!chosen("fish").0, "the analysis cannot read it");
        let missing = ShellChoice::parse("/no/such/bash");
        let shell = Shell::choose(&missing, &Variables::new());
        assert_ne!(shell.program, PathBuf::from("/no/such/bash"));
    }

    #[test]
    fn a_name_is_found_by_its_usual_endings() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("npx"), "").unwrap();
        std::fs::write(folder.path().join("npx.cmd"), "").unwrap();
        let path = folder.path().to_string_lossy().into_owned();
        let variables: Variables = [("PATH".to_owned(), path)].into();
        let found = |name| with_ending(name, &variables);
        assert_eq!(found("npx"), Some(folder.path().join("npx.cmd")));
        assert_eq!(found("npx.cmd"), Some(folder.path().join("npx.cmd")));
        assert_eq!(found("node"), None);
        assert_eq!(found("./npx"), None);
    }
}
