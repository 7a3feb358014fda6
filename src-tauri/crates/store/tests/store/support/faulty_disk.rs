//! A disk whose every change can be made to fail, once or from then on.

use std::io;
use std::sync::Mutex;

use super::test_fs::{Change, ChangeHook};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Change number `at` fails, later ones work.
    Once {
        at: usize,
        with: i32,
    },
    /// Change number `at` and all later ones fail, until [`FaultyDisk::set`] says otherwise.
    From {
        at: usize,
        with: i32,
    },
    /// The process is killed here: the change is half done and no other follows.
    Kill {
        at: usize,
    },
}

pub const ENOSPC: i32 = 28;
pub const EIO: i32 = 5;
pub const EROFS: i32 = 30;

pub struct FaultyDisk(Mutex<State>);

struct State {
    fault: Fault,
    /// Changes so far.
    changes: usize,
}

impl FaultyDisk {
    pub fn new(fault: Fault) -> Self {
        FaultyDisk(Mutex::new(State { fault, changes: 0 }))
    }

    /// Counts from zero again.
    pub fn set(&self, fault: Fault) {
        *self.0.lock().unwrap() = State { fault, changes: 0 };
    }

    pub fn changes(&self) -> usize {
        self.0.lock().unwrap().changes
    }

    /// Counts the change and returns how it fails, if it does.
    fn next_failure(&self) -> Option<Failure> {
        let mut state = self.0.lock().unwrap();
        let now = state.changes;
        state.changes += 1;
        match state.fault {
            Fault::Once { at, with } if at == now => Some(Failure::of_the_system(with)),
            Fault::From { at, with } if now >= at => Some(Failure::of_the_system(with)),
            Fault::Kill { at } if now >= at => Some(Failure {
                error: io::Error::other("killed"),
                is_half_done: at == now,
            }),
            _ => None,
        }
    }
}

struct Failure {
    error: io::Error,
    is_half_done: bool,
}

impl Failure {
    /// A full disk takes the beginning of the bytes and refuses the rest.
    fn of_the_system(code: i32) -> Self {
        Failure {
            error: io::Error::from_raw_os_error(code),
            is_half_done: code == ENOSPC,
        }
    }
}

impl ChangeHook for FaultyDisk {
    fn change(&self, change: Change<'_>) -> io::Result<()> {
        let Some(failure) = self.next_failure() else {
            return change.apply();
        };
        if failure.is_half_done {
            apply_half(change);
        }
        Err(failure.error)
    }
}

/// Writes the first half of the bytes. A change without bytes is not made at all.
fn apply_half(change: Change<'_>) {
    let applied = match change {
        Change::Create { path, bytes } => {
            let bytes = &bytes[..bytes.len() / 2];
            Change::Create { path, bytes }.apply()
        }
        Change::Append { path, bytes } => {
            let bytes = &bytes[..bytes.len() / 2];
            Change::Append { path, bytes }.apply()
        }
        _ => Ok(()),
    };
    applied.ok();
}
