//! Sees what the processes of a command write, so that only that is the command's.
//!
//! On Linux a seccomp filter reports each call that opens a file for writing, renames, links or
//! removes one, to a thread of ours, which lets every call continue. Nothing is refused: this is
//! a witness, not a wall. Elsewhere, and where the kernel refuses the filter, nothing is known.

mod counts;
mod filter;
mod handles;
mod listener;
mod outcome;
mod paths;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use tokio::process::Command;

use super::CommandSpec;
use crate::written::{CommandWrites, WriteEvidence};
use listener::Seen;
use outcome::Reach;

/// Programs that gain rights they were not started with. The filter would take that from them, so
/// a command that names one is not watched.
const GAIN_RIGHTS: [&str; 12] = [
    "sudo",
    "su",
    "doas",
    "pkexec",
    "run0",
    "newgrp",
    "sg",
    "fusermount",
    "fusermount3",
    "podman",
    "buildah",
    "crontab",
];

/// A witness that waits for its command to start.
pub struct Waiting {
    child_end: UnixStream,
    thread: JoinHandle<Option<Seen>>,
    stop: Arc<AtomicBool>,
}

/// Prepares the process to be watched, if that is wanted.
pub fn prepare(command: &mut Command, spec: &CommandSpec) -> Option<Waiting> {
    let since = spec.watched_since?;
    let (ours, child_end) = UnixStream::pair().ok()?;
    let stop = Arc::new(AtomicBool::new(false));
    let program = filter::program();
    let may_lose_rights = !names_one_that_gains_rights(&spec.arguments);
    install(command, child_end.as_raw_fd(), program, may_lose_rights);
    let thread = std::thread::Builder::new()
        .name("witness".to_owned())
        .spawn({
            let (stop, reach) = (stop.clone(), Reach::new(spec.walls.as_ref()));
            move || {
                let listener = receive(&ours)?;
                Some(listener::watch(&listener, since, reach, &stop))
            }
        });
    Some(Waiting {
        child_end,
        thread: thread.ok()?,
        stop,
    })
}

/// Where a word of the command could be such a program. A script that runs one is not noticed:
/// then the program itself says that it cannot gain rights.
fn names_one_that_gains_rights(line: &[&str]) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut words = line.iter().flat_map(|text| text.split(|c| !is_part(c)));
    words.any(|word| GAIN_RIGHTS.contains(&word))
}

impl Waiting {
    /// To be called once the process has been started, or not.
    pub fn started(self) -> Box<dyn WriteEvidence> {
        // The thread gets the end of the file if the child could not install the filter.
        drop(self.child_end);
        Box::new(Watched {
            thread: Some(self.thread),
            stop: self.stop,
        })
    }
}

struct Watched {
    thread: Option<JoinHandle<Option<Seen>>>,
    stop: Arc<AtomicBool>,
}

impl WriteEvidence for Watched {
    fn finish(mut self: Box<Self>) -> Option<CommandWrites> {
        self.stop.store(true, Ordering::Release);
        let seen = self.thread.take()?.join().ok()??;
        Some(seen.writes())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

#[allow(unsafe_code)] // The filter belongs to the child, so it is installed after the fork.
fn install(
    command: &mut Command,
    channel: i32,
    program: Vec<libc::sock_filter>,
    may_lose_rights: bool,
) {
    let install = move || {
        // Without the filter the command runs all the same, unwatched.
        if let Some(listener) = filter::install(&program, may_lose_rights) {
            send(channel, listener);
        }
        Ok(())
    };
    // SAFETY: system calls only, no allocation and no lock: the program was built before.
    unsafe {
        command.pre_exec(install);
    }
}

/// Room for one file descriptor in a control message, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 24]);

#[allow(unsafe_code)]
fn send(channel: i32, listener: i32) {
    let mut byte = 0u8;
    let mut control = Control([0; 24]);
    // SAFETY: all pointers are to locals that live until the calls return; `Control` has room
    // for one header and one descriptor.
    unsafe {
        let mut part = libc::iovec {
            iov_base: (&raw mut byte).cast(),
            iov_len: 1,
        };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        std::ptr::write_unaligned(libc::CMSG_DATA(header).cast::<i32>(), listener);
        libc::sendmsg(channel, &raw const message, libc::MSG_NOSIGNAL);
        libc::close(listener);
    }
}

/// Waits for the descriptor; `None` if the child closes the channel without one.
#[allow(unsafe_code)]
fn receive(channel: &UnixStream) -> Option<OwnedFd> {
    let mut byte = 0u8;
    let mut control = Control([0; 24]);
    // SAFETY: as above. The descriptor that was received belongs to us alone.
    unsafe {
        let mut part = libc::iovec {
            iov_base: (&raw mut byte).cast(),
            iov_len: 1,
        };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        let got = loop {
            let got = libc::recvmsg(
                channel.as_raw_fd(),
                &raw mut message,
                libc::MSG_CMSG_CLOEXEC,
            );
            let interrupted = io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
            if got >= 0 || !interrupted {
                break got;
            }
        };
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if got <= 0 || header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return None;
        }
        let fd = std::ptr::read_unaligned(libc::CMSG_DATA(header).cast::<i32>());
        Some(OwnedFd::from_raw_fd(fd))
    }
}
