//! A pseudo-terminal with a program in it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use tokio::process::Command;

use super::CommandSpec;
use super::system::{Leader, TERMINAL_SUPERVISOR, install_walls, supervisor};

/// In characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub rows: u16,
    pub columns: u16,
}

/// Our end of a terminal. The program sees a hang-up when it is dropped.
pub struct Terminal {
    end: AsyncFd<OwnedFd>,
}

impl Terminal {
    /// What the program writes; 0 bytes when no program has the terminal open any more.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.end.readable().await?;
            let read = ready.try_io(|end| Ok(rustix::io::read(end, &mut *buffer)?));
            match read {
                // How Linux says that the other end is closed.
                Ok(Err(error))
                    if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) =>
                {
                    return Ok(0);
                }
                Ok(read) => return read,
                Err(_) => {}
            }
        }
    }

    /// What a person types.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.end.writable().await?;
            if let Ok(written) = ready.try_io(|end| Ok(rustix::io::write(end, bytes)?)) {
                bytes = &bytes[written?..];
            }
        }
        Ok(())
    }

    pub fn resize(&self, size: Size) -> io::Result<()> {
        Ok(tcsetwinsize(&self.end, winsize(size))?)
    }
}

fn winsize(size: Size) -> Winsize {
    Winsize {
        ws_row: size.rows,
        ws_col: size.columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

pub(super) fn start(spec: &CommandSpec, id: u64, size: Size) -> io::Result<(Leader, Terminal)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let own = openpt(flags)?;
    grantpt(&own)?;
    unlockpt(&own)?;
    let name = ptsname(&own, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let other = rustix::fs::open(name, flags, Mode::empty())?;
    tcsetwinsize(&own, winsize(size))?;
    let flags = rustix::fs::fcntl_getfl(&own)?;
    rustix::fs::fcntl_setfl(&own, flags | OFlags::NONBLOCK)?;
    let mut command = supervisor(TERMINAL_SUPERVISOR, spec, id);
    command.stdout(other);
    lead_session(&mut command);
    install_walls(&mut command, spec);
    let leader = Leader::start_with_terminal(command, id)?;
    let end = watch(own)?;
    Ok((leader, Terminal { end }))
}

#[allow(unsafe_code)] // The runtime watches the descriptor until it is closed.
fn watch(end: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` stays open, and the same one, until it is dropped.
    Ok(unsafe { AsyncFd::register(end) }?)
}

#[allow(unsafe_code)] // A session and its terminal belong to the child, so they are set after the fork.
fn lead_session(command: &mut Command) {
    let lead = || {
        rustix::process::setsid()?;
        Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdout())?)
    };
    // SAFETY: two system calls, no allocation and no lock.
    unsafe {
        command.pre_exec(lead);
    }
}
