//! From what is wanted to a command that can be started.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::confinement::Confinement;
use crate::probe::Probe;
use crate::promise::Promise;
use crate::rules::{Access, Rules};
use crate::system;

/// What holds a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Namespaces and mounts by the system's `bwrap`, with seccomp on top.
    Bubblewrap,
    /// Landlock and seccomp: the floor where namespaces are not to be had.
    Landlock,
    /// macOS' `sandbox-exec`.
    Seatbelt,
}

/// Something harmless that does not work inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// Entries directly in this folder can be changed, but not created, renamed or removed.
    FixedEntries(PathBuf),
    /// No connections within the machine either.
    Loopback,
    /// No shared memory in `/dev/shm`.
    SharedMemory,
}

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("{0}")]
    Unavailable(String),
    #[error("the sandbox on this machine does not hold what is required: {}", list(.0))]
    NotCovered(Vec<Promise>),
    #[error("the whole system can’t be made writable")]
    WholeSystem,
    #[error("{} is both writable and unreadable", .0.display())]
    Contradiction(PathBuf),
    #[error("{} does not exist, so it can’t be granted", .0.display())]
    MissingGrant(PathBuf),
    #[error("the sandbox couldn’t be set up: {0}")]
    Setup(#[from] io::Error),
    #[error("the sandbox couldn’t be set up: {0}")]
    Rules(String),
}

fn list(promises: &[Promise]) -> String {
    let words: Vec<String> = promises.iter().map(ToString::to_string).collect();
    words.join("; ")
}

/// How one engine holds a confinement.
#[derive(Debug)]
pub struct Plan {
    engine: Engine,
    rules: Rules,
    confinement: Confinement,
    /// Promises that this engine does not hold here.
    pub not_covered: Vec<Promise>,
    /// Harmless things that do not work inside.
    pub limits: Vec<Limit>,
}

impl Plan {
    /// Plans for an engine, whether or not it is the best one. Fails where the probe has not
    /// seen it work, or where it does not hold a required promise.
    pub fn new(
        engine: Engine,
        confinement: &Confinement,
        probe: &Probe,
    ) -> Result<Self, SandboxError> {
        if let Some(reason) = probe.failure(engine) {
            return Err(SandboxError::Unavailable(reason.to_owned()));
        }
        let rules = Rules::resolve(confinement)?;
        let (not_covered, limits) = system::shortcomings(engine, &rules, confinement);
        let lacking: Vec<Promise> = confinement
            .required
            .iter()
            .filter(|promise| not_covered.contains(promise))
            .copied()
            .collect();
        if !lacking.is_empty() {
            return Err(SandboxError::NotCovered(lacking));
        }
        Ok(Self {
            engine,
            rules,
            confinement: confinement.clone(),
            not_covered,
            limits,
        })
    }

    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Everything that one start of a command needs.
    pub fn launch(&self) -> Result<Launch, SandboxError> {
        let setup = system::Setup::new(self.engine, &self.rules, &self.confinement)?;
        Ok(Launch {
            setup,
            rules: self.rules.clone(),
        })
    }
}

/// One start of a command inside the sandbox.
///
/// To be dropped only after the command has ended: it holds what placeholders in the place of protected
/// paths that do not exist.
#[derive(Debug)]
pub struct Launch {
    setup: system::Setup,
    rules: Rules,
}

impl Launch {
    /// The command that runs a program inside. Arguments, variables, folder and pipes are added
    /// as to any other; it is started once.
    ///
    /// With Bubblewrap the program is killed when the thread that started it ends.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match self.prefix().split_first() {
            Some((wrapper, arguments)) => {
                let mut command = Command::new(wrapper);
                command.args(arguments).arg(program);
                command
            }
            None => Command::new(program),
        };
        self.install(&mut command);
        command
    }

    /// Words to put before a program and its arguments, for a caller that starts them through a
    /// shell of its own; that shell must be started with [`Launch::install`].
    pub fn prefix(&self) -> &[OsString] {
        self.setup.prefix()
    }

    /// Whether the file at this real path, and its name, can be changed inside. Where names are
    /// held in place, nothing in that folder counts as changeable.
    pub fn may_write(&self, path: &Path) -> bool {
        let is_held = path
            .parent()
            .is_some_and(|folder| self.rules.fixed.contains(folder));
        !is_held && self.rules.access(path) == Access::Write
    }

    /// Prepares a process that is to run the program with the prefix, itself or as a child.
    pub fn install(&self, command: &mut Command) {
        self.setup.install(command);
    }
}

/// Prepares the start of one command with the strongest engine of this machine.
///
/// The first call asks the system what works, which takes some tens of milliseconds.
pub fn prepare(confinement: &Confinement) -> Result<(Plan, Launch), SandboxError> {
    let probe = Probe::this_machine();
    let engine = probe.engine().ok_or_else(|| {
        SandboxError::Unavailable(probe.reason().unwrap_or("no sandbox works here").to_owned())
    })?;
    let plan = Plan::new(engine, confinement, probe)?;
    let launch = plan.launch()?;
    Ok((plan, launch))
}
