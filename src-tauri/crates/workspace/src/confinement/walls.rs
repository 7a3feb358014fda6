//! One start of a command in the sandbox, as tools see it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use lathe_sandbox::{Confinement, Launch, explain};
use lathe_tools::{Refusal, Refused, SetAside, Walls};
use parking_lot::Mutex;

use super::made::Before;

pub struct SandboxWalls {
    engine: &'static str,
    launch: Launch,
    confinement: Confinement,
    root: PathBuf,
    before: Before,
    /// Where the command runs, which relative paths in its messages start from.
    directory: Mutex<Option<PathBuf>>,
}

impl SandboxWalls {
    pub fn new(
        engine: &'static str,
        launch: Launch,
        confinement: Confinement,
        root: PathBuf,
        before: Before,
    ) -> Self {
        Self {
            engine,
            launch,
            confinement,
            root,
            before,
            directory: Mutex::default(),
        }
    }
}

impl Walls for SandboxWalls {
    fn engine(&self) -> &str {
        self.engine
    }

    fn prefix(&self) -> &[OsString] {
        self.launch.prefix()
    }

    fn install(&self, command: &mut Command) {
        *self.directory.lock() = command.get_current_dir().map(Path::to_owned);
        self.launch.install(command);
    }

    fn refusal(&self, code: Option<i32>, output: &str) -> Option<Refusal> {
        let directory = self.directory.lock().clone();
        let directory = directory.as_deref().unwrap_or(&self.root);
        let denial = explain(code, output, directory, &self.confinement)?;
        let refused = match denial.refused {
            lathe_sandbox::Refused::Write(path) => Refused::Write(path),
            lathe_sandbox::Refused::Read(path) => Refused::Read(path),
            lathe_sandbox::Refused::Network(host) => Refused::Network(host),
            lathe_sandbox::Refused::SystemCall => Refused::SystemCall,
        };
        let text = sentence(&refused, &self.root);
        Some(Refusal { refused, text })
    }

    fn set_aside(&self) -> SetAside {
        self.before.set_aside_what_is_new()
    }
}

fn sentence(refused: &Refused, root: &Path) -> String {
    match refused {
        Refused::Write(path) if path.starts_with(root) => {
            format!(
                "{} is protected and cannot be changed in it.",
                path.display()
            )
        }
        Refused::Write(path) => format!(
            "{} cannot be changed in it: only the project and temporary folders can.",
            path.display()
        ),
        Refused::Read(path) => format!("{} cannot be read in it.", path.display()),
        Refused::Network(Some(host)) => {
            format!("{host} cannot be reached from it: there is no network.")
        }
        Refused::Network(None) => "There is no network in it.".to_owned(),
        Refused::SystemCall => "It refuses a system call that the command needs.".to_owned(),
    }
}
