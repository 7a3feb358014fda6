//! A terminal for a client, with a program in it that the person allowed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lathe_protocol::{Map, Project, Session, ShellDialect};
use lathe_records::{Failed, Result};
use lathe_tools::paths::external_directory;
use lathe_tools::process::{CommandSpec, Run, Size, Terminal};
use lathe_tools::{CommandAsk, RunPermit, text};

use crate::{FilePlace, Folders};

/// What a client wants to have run.
#[derive(Debug, Clone)]
pub struct TerminalInput {
    /// The person's shell if there is none.
    pub command: Option<String>,
    pub arguments: Vec<String>,
    /// Added to the variables of every command.
    pub variables: Vec<(String, String)>,
    pub size: Size,
}

/// A program in a terminal. Dropping it ends the program and all that it started.
pub struct OpenTerminal {
    pub command: String,
    pub arguments: Vec<String>,
    pub directory: PathBuf,
    pub process: u32,
    pub run: Run,
    pub terminal: Terminal,
}

impl Folders {
    /// Asks for what the agent would have to ask for, and starts the program in the path of the
    /// place. The question is one of the newest session of the place's folder: that is where the
    /// person is. The path is only what a client names: nothing is recorded of it.
    pub async fn open_terminal(
        &self,
        at: FilePlace<'_>,
        input: TerminalInput,
    ) -> Result<OpenTerminal> {
        let environment = &self.base.environment;
        let shell = environment.shell();
        let command = match input.command.filter(|command| !command.trim().is_empty()) {
            Some(command) => command,
            None => shell.program.display().to_string(),
        };
        let texts = std::iter::once(&command).chain(&input.arguments);
        let named = input
            .variables
            .iter()
            .flat_map(|(name, value)| [name, value]);
        if texts.chain(named).any(|text| text.contains('\0')) {
            return Err(Failed::refused("The command contains a NUL character"));
        }
        if input.variables.iter().any(|(name, _)| !is_variable(name)) {
            return Err(Failed::refused("A variable has a name that can’t be used"));
        }
        let named = at.directory.join(at.path);
        // A folder outside of the project is asked for.
        let inside = self.locate(FilePlace {
            path: named.to_str().unwrap_or(at.path),
            ..at
        });
        let directory = std::fs::canonicalize(&named)
            .map_err(|_| Failed::missing("folder", named.display().to_string()))?;
        let outside = inside.is_err().then(|| external_directory(&directory));
        let line = line(&command, &input.arguments, &input.variables);
        let session = self.session_of_folder(at.project, at.directory).await?;
        let gate = self.sessions.gate(&session, at.project).await?;
        let ask = CommandAsk {
            command: line.clone(),
            directory: directory.clone(),
            dialect: ShellDialect::Posix,
            wants: outside.into_iter().collect(),
            metadata: Map::from_iter([
                ("command".to_owned(), text::visible(&line).into()),
                ("description".to_owned(), "Open a terminal".into()),
            ]),
        };
        let permit = gate.ask_to_run(ask).await;
        let permit = permit.map_err(|failure| Failed::refused(failure.text))?;
        let mut variables = environment.variables().await.clone();
        variables.insert("TERM".to_owned(), "xterm-256color".to_owned());
        variables.extend(input.variables);
        let spec = CommandSpec {
            program: Path::new(&command),
            arguments: input.arguments.iter().map(String::as_str).collect(),
            directory: &directory,
            variables: &variables,
            walls: match permit {
                RunPermit::Free => None,
                RunPermit::Confined(walls) => Some(walls),
            },
            watched_since: None::<SystemTime>,
        };
        let started = environment.processes().start_in_terminal(&spec, input.size);
        let (run, terminal) = started
            .map_err(|error| Failed::refused(format!("The terminal could not start: {error}")))?;
        Ok(OpenTerminal {
            process: run.process().unwrap_or_default(),
            command,
            arguments: input.arguments,
            directory,
            run,
            terminal,
        })
    }

    async fn session_of_folder(&self, project: &Project, directory: &Path) -> Result<Session> {
        let directory = std::fs::canonicalize(directory)
            .map_err(|_| Failed::missing("folder", directory.display().to_string()))?;
        let folder = directory.display().to_string();
        let sessions = self.sessions.list(project).await?.into_iter();
        let newest = sessions
            .filter(|session| session.parent_id.is_none())
            .filter(|session| Path::new(&session.directory) == directory)
            .max_by_key(|session| session.time.updated);
        match newest {
            Some(session) => Ok(session),
            None => {
                let project = self.sessions.open_project(&directory).await?;
                let session = self.sessions.create_in(&project, &folder, None).await?;
                self.sessions.rename(&session.id, "Terminal").await
            }
        }
    }
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    letters.next().is_some_and(is_first)
        && letters.all(|letter| is_first(letter) || letter.is_ascii_digit())
}

/// The command as a line of a shell, which is what rules are about.
fn line(command: &str, arguments: &[String], variables: &[(String, String)]) -> String {
    let set = variables
        .iter()
        .map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = std::iter::once(command).chain(arguments.iter().map(String::as_str));
    let words: Vec<_> = set.chain(words.map(quoted)).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_a_shell_would_read_it() {
        let arguments = ["-c".to_owned(), "echo 'a b'".to_owned(), String::new()];
        let variables = [("NAME".to_owned(), "x y".to_owned())];
        assert_eq!(
            line("/bin/sh", &arguments, &variables),
            r"NAME='x y' /bin/sh -c 'echo '\''a b'\''' ''"
        );
    }

    #[test]
    fn a_variable_has_a_plain_name() {
        let names = ["PATH", "_a1", "1a", "", "a=b", "a b"];
        assert_eq!(
            names.map(is_variable),
            [true, true, false, false, false, false]
        );
    }
}
