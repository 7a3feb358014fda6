//! What happens in the child, between fork and exec.
//!
//! Another thread of the parent may have held any lock at the fork, the allocator's included. So
//! nothing here allocates, formats or locks: these are system calls on values made before.

#![allow(unsafe_code)] // System calls that std and rustix do not offer in this form.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use seccompiler::sock_filter;

const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;
const HIGHEST_CAPABILITY: libc::c_int = 63;

/// Prepared in the parent, applied in the child.
#[derive(Debug)]
pub(crate) enum ChildSetup {
    /// A wrapper will confine: it needs these descriptors, from their beginning.
    Inherit(Vec<OwnedFd>),
    /// The child confines itself.
    Restrict {
        ruleset: OwnedFd,
        filters: Vec<Vec<sock_filter>>,
    },
}

impl ChildSetup {
    pub fn apply(&self) -> io::Result<()> {
        // A library of the host may have left a socket or a file open to be inherited.
        check(unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, CLOSE_RANGE_CLOEXEC) })?;
        match self {
            Self::Inherit(descriptors) => {
                for descriptor in descriptors {
                    inherit(descriptor.as_raw_fd())?;
                }
                Ok(())
            }
            Self::Restrict { ruleset, filters } => {
                leave_terminal();
                check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
                drop_capabilities()?;
                let ruleset = ruleset.as_raw_fd();
                check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) })?;
                filters.iter().try_for_each(|filter| install(filter))
            }
        }
    }
}

fn inherit(descriptor: libc::c_int) -> io::Result<()> {
    check(unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) }.into())?;
    // Not everything that is inherited has a position; what matters is at its start then.
    unsafe { libc::lseek(descriptor, 0, libc::SEEK_SET) };
    Ok(())
}

/// Gives up the controlling terminal, so that `/dev/tty` leads nowhere. Without one this fails,
/// which is just as well.
fn leave_terminal() {
    unsafe {
        let terminal = libc::open(c"/dev/tty".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if terminal >= 0 {
            libc::ioctl(terminal, libc::TIOCNOTTY);
            libc::close(terminal);
        }
    }
}

/// An administrator's process has rights that Landlock does not look at.
fn drop_capabilities() -> io::Result<()> {
    // Refused to ordinary users, who have none to lose.
    if unsafe { libc::geteuid() } == 0 {
        for capability in 0..=HIGHEST_CAPABILITY {
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        }
    }
    // The header has a version and a process, 0 being this one; then effective, permitted and
    // inheritable sets, twice 32 bits each.
    let mut header = [CAPABILITY_VERSION_3, 0];
    let sets = [0_u32; 6];
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) })
}

fn install(filter: &[sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: filter.as_ptr().cast_mut().cast(),
    };
    check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0,
            &raw const program,
        )
    })
}

fn check(result: libc::c_long) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
