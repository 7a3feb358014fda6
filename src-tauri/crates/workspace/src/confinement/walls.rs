//! One start of a command in the sandbox, as tools see it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use lathe_sandbox::{Confinement, Launch, explain};
use lathe_tools::{Refusal, Refused, SetAside, Walls, paths};
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
        let denials = explain(code, output, directory, &self.confinement);
        let refused = denials.into_iter().map(|denial| match denial.refused {
            lathe_sandbox::Refused::Write(path) => Refused::Write(path),
            lathe_sandbox::Refused::Read(path) => Refused::Read(path),
            lathe_sandbox::Refused::Network(host) => Refused::Network(host),
            lathe_sandbox::Refused::SystemCall => Refused::SystemCall,
        });
        let refused: Vec<Refused> = refused.collect();
        let sentences: Vec<String> = refused
            .iter()
            .map(|one| sentence(one, &self.root))
            .collect();
        let text = sentences.join(" ");
        (!refused.is_empty()).then_some(Refusal { refused, text })
    }

    fn may_write(&self, path: &Path) -> bool {
        self.launch.may_write(path)
    }

    fn set_aside(&self) -> SetAside {
        self.before.set_aside_what_is_new()
    }
}

fn sentence(refused: &Refused, root: &Path) -> String {
    let shown = |path: &Path| paths::shown(path, root);
    match refused {
        Refused::Write(path) if path.starts_with(root) => {
            format!("It may not change {}, which is protected.", shown(path))
        }
        Refused::Write(path) => format!(
            "It may not change {}, which is outside the project.",
            shown(path)
        ),
        Refused::Read(path) => format!("It may not read {}.", shown(path)),
        Refused::Network(Some(host)) => format!("It may not connect to {host}."),
        Refused::Network(None) => "It may not use the network.".to_owned(),
        Refused::SystemCall => "It needs a system call that is not allowed there.".to_owned(),
    }
}
