//! The words of a `bwrap` call.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::MemfdFlags;
use rustix::io::fcntl_dupfd_cloexec;

use super::seccomp::{self, Sockets};
use super::{is_own, open_exactly};
use crate::confinement::Confinement;
use crate::plan::SandboxError;
use crate::rules::{Access, Rules};

/// Where systems have it. The search path is not asked: it may name folders that a project
/// writes to.
const PLACES: [&str; 4] = [
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
];

/// A shell may start bwrap, and scripts redirect descriptors below ten. One that is inherited must
/// not have such a number: another file would be mounted in its place.
const LOWEST_INHERITED: i32 = 10;

/// The program, its arguments up to the command, and what it must inherit.
pub(super) struct Call {
    pub words: Vec<OsString>,
    pub inherited: Vec<OwnedFd>,
}

pub(super) fn program() -> Option<&'static Path> {
    PLACES.iter().map(Path::new).find(|path| path.is_file())
}

pub(super) fn call(rules: &Rules, confinement: &Confinement) -> Result<Call, SandboxError> {
    let Some(program) = program() else {
        return Err(SandboxError::Unavailable("bwrap is not installed".into()));
    };
    let mut call = Call {
        words: vec![program.into()],
        inherited: Vec::new(),
    };
    call.add(&["--unshare-user", "--unshare-pid", "--unshare-ipc"]);
    if !confinement.network() {
        call.add(&["--unshare-net"]);
    }
    // An own session has no terminal to read from or to type into.
    call.add(&["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    call.add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    if rustix::process::geteuid().is_root() {
        // The kernel's settings there are root's by their owner, capabilities or not.
        call.add(&["--remount-ro", "/proc"]);
    }
    call.mounts(rules)?;
    for filter in seccomp::filters(Sockets::in_namespace(confinement))? {
        let descriptor = memory(&seccomp::bytes(&filter))?;
        call.add_descriptor("--add-seccomp-fd", &descriptor, &[])?;
    }
    call.add(&["--"]);
    Ok(call)
}

impl Call {
    fn add(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(OsString::from));
    }

    fn add_path(&mut self, option: &str, path: &Path) {
        self.words.push(option.into());
        self.words.push(path.into());
    }

    fn add_descriptor(
        &mut self,
        option: &str,
        descriptor: &OwnedFd,
        path: &[&Path],
    ) -> io::Result<()> {
        let descriptor = fcntl_dupfd_cloexec(descriptor, LOWEST_INHERITED)?;
        self.words.push(option.into());
        self.words.push(descriptor.as_raw_fd().to_string().into());
        self.words.extend(path.iter().map(OsString::from));
        self.inherited.push(descriptor);
        Ok(())
    }

    /// Outer places first, so that inner ones lie on top.
    fn mounts(&mut self, rules: &Rules) -> Result<(), SandboxError> {
        let pins = pins(rules);
        let mut places: BTreeSet<&Path> = rules.iter().map(|(path, _)| path).collect();
        places.extend(pins.iter().map(PathBuf::as_path));
        for path in places {
            let outside = path.parent().map_or(Access::Read, |up| rules.access(up));
            let Some(rule) = rules.get(path) else {
                self.bind_writable(path)?;
                continue;
            };
            match rule.access {
                Access::Write => self.bind_writable(path)?,
                Access::Read if outside == Access::Read => {}
                // Nothing that is missing can be created in a place that is hidden.
                Access::Read if rule.missing.is_some() && outside == Access::Hidden => {}
                Access::Read => {
                    self.add_path("--ro-bind", path);
                    self.words.push(path.into());
                }
                Access::Hidden if !can_open(path) => {}
                Access::Hidden if path.is_dir() => {
                    // What is mounted inside of it must still be reached.
                    let inner = rules.below(path).next().is_some();
                    self.add(&["--perms", if inner { "0111" } else { "0000" }]);
                    self.add_path("--tmpfs", path);
                }
                Access::Hidden => {
                    let nothing = File::open("/dev/null")?.into();
                    self.add(&["--perms", "0000"]);
                    self.add_descriptor("--ro-bind-data", &nothing, &[path])?;
                }
            }
        }
        Ok(())
    }

    /// By descriptor where bwrap can: a command that still runs from before might put a link in
    /// the place of a folder just before it is mounted.
    fn bind_writable(&mut self, path: &Path) -> Result<(), SandboxError> {
        if !takes_descriptors() {
            self.add_path("--bind", path);
            self.words.push(path.into());
            return Ok(());
        }
        self.add_descriptor("--bind-fd", &open_exactly(path)?, &[path])?;
        Ok(())
    }
}

/// What is closed to the person needs no hiding: inside, the same person has fewer rights. Each
/// mount that is spared makes the start faster. What the person owns can be opened up.
fn can_open(path: &Path) -> bool {
    if is_own(path) {
        return true;
    }
    let may = |access| rustix::fs::access(path, access).is_ok();
    may(rustix::fs::Access::READ_OK) || path.is_dir() && may(rustix::fs::Access::EXEC_OK)
}

/// The folders between a writable root and a protected or hidden path inside of it. Mounted on
/// themselves they cannot be renamed, or else another folder could take their place, or the hidden
/// path would have a name that the next command's rules do not know.
fn pins(rules: &Rules) -> BTreeSet<PathBuf> {
    let protected = rules
        .iter()
        .filter(|(_, rule)| rule.access != Access::Write);
    let mut pins = BTreeSet::new();
    for (path, _) in protected {
        let between = path
            .ancestors()
            .skip(1)
            .take_while(|up| rules.get(up).is_none());
        pins.extend(
            between
                .filter(|up| rules.access(up) == Access::Write)
                .map(Path::to_owned),
        );
    }
    pins
}

/// Whether this bwrap can bind what is open. Debian has it in an older version than others do.
fn takes_descriptors() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let help = program().map(|program| std::process::Command::new(program).arg("--help").output());
        matches!(help, Some(Ok(help)) if String::from_utf8_lossy(&help.stdout).contains("--bind-fd"))
    })
}

/// A file that exists only as long as it is open.
fn memory(content: &[u8]) -> io::Result<OwnedFd> {
    let descriptor = rustix::fs::memfd_create("seccomp", MemfdFlags::CLOEXEC)?;
    let mut file = File::from(descriptor);
    file.write_all(content)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_redirects_does_not_change_what_is_mounted() {
        if program().is_none() {
            return;
        }
        let project = tempfile::tempdir().unwrap();
        let confinement = Confinement::new(project.path());
        let rules = Rules::resolve(&confinement).unwrap();
        let call = call(&rules, &confinement).unwrap();
        assert!(!call.inherited.is_empty());
        for descriptor in &call.inherited {
            assert!(descriptor.as_raw_fd() >= 10, "{descriptor:?}");
        }
    }
}
