//! The engines of Linux.

mod bubblewrap;
mod child;
mod landlock;
mod leftovers;
mod placeholder;
mod probe;
mod seccomp;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::confinement::Confinement;
use crate::plan::{Engine, Limit, SandboxError};
use crate::promise::Promise;
use crate::rules::Rules;

use child::ChildSetup;
use rustix::fs::{Mode, OFlags};

pub(crate) use leftovers::remove_leftovers;
pub(crate) use placeholder::is_placeholder;
pub(crate) use probe::probe;

/// Why nothing works where there is no engine to ask.
pub(crate) const UNAVAILABLE: &str = "this system has no sandbox that can be used";

/// One start of a command.
#[derive(Debug)]
pub(crate) struct Setup {
    prefix: Vec<OsString>,
    child: Arc<ChildSetup>,
    _placeholders: placeholder::Placeholders,
}

impl Setup {
    pub fn new(
        engine: Engine,
        rules: &Rules,
        confinement: &Confinement,
    ) -> Result<Self, SandboxError> {
        match engine {
            Engine::Bubblewrap => {
                let placeholders =
                    placeholder::Placeholders::create(rules, confinement.notes.as_deref())?;
                let call = bubblewrap::call(rules, confinement)?;
                Ok(Self {
                    prefix: call.words,
                    child: Arc::new(ChildSetup::Inherit(call.inherited)),
                    _placeholders: placeholders,
                })
            }
            Engine::Landlock => {
                let filters = seccomp::filters(seccomp::Sockets::without_namespace(confinement))?;
                let ruleset = landlock::ruleset(rules, confinement)?;
                Ok(Self {
                    prefix: Vec::new(),
                    child: Arc::new(ChildSetup::Restrict { ruleset, filters }),
                    _placeholders: placeholder::Placeholders::default(),
                })
            }
            Engine::Seatbelt => Err(SandboxError::Unavailable(UNAVAILABLE.to_owned())),
        }
    }

    pub fn prefix(&self) -> &[OsString] {
        &self.prefix
    }

    #[allow(unsafe_code)] // What is confined is the child, so it is done after the fork.
    pub fn install(&self, command: &mut Command) {
        use std::os::unix::process::CommandExt;
        let child = self.child.clone();
        // SAFETY: `apply` only makes system calls on values that were allocated before.
        unsafe {
            command.pre_exec(move || child.apply());
        }
    }
}

/// What an engine does not hold here, and what does not work inside of it.
pub(crate) fn shortcomings(
    engine: Engine,
    rules: &Rules,
    confinement: &Confinement,
) -> (Vec<Promise>, Vec<Limit>) {
    match engine {
        Engine::Landlock => landlock::shortcomings(rules, confinement),
        _ => {
            let fixed = rules.fixed.iter().cloned().map(Limit::FixedEntries);
            (vec![Promise::NamedPipes], fixed.collect())
        }
    }
}

/// Whether the person could create an entry in a folder, perhaps after changing its mode.
pub(crate) fn may_get_entries(folder: &Path) -> bool {
    match rustix::fs::access(folder, rustix::fs::Access::WRITE_OK) {
        Ok(()) => true,
        Err(rustix::io::Errno::ROFS) => false,
        Err(_) => is_own(folder),
    }
}

fn is_own(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    std::fs::metadata(path).is_ok_and(|found| found.uid() == own)
}

/// Opens a real path, to name it to the kernel. Fails if a link has taken the place of any part
/// of it: a command that still runs from before might try that.
fn open_exactly(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(path, flags, Mode::empty())?;
    let found = std::fs::read_link(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))?;
    if found != path {
        let sentence = format!("{} has been replaced", path.display());
        return Err(io::Error::other(sentence));
    }
    Ok(descriptor)
}
