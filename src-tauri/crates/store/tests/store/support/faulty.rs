//! A file system whose every change can be made to fail, once or from then on.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use lathe_store::{Disk, Entry, Fs, Stamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// This one change fails, later ones work.
    Once {
        at: usize,
        with: i32,
    },
    /// All changes from this one on fail, until [`Faulty::set`] says otherwise.
    From {
        at: usize,
        with: i32,
    },
    /// The process dies here: the change is half done and nothing happens afterwards.
    Death {
        at: usize,
    },
}

pub const ENOSPC: i32 = 28;
pub const EIO: i32 = 5;
pub const EROFS: i32 = 30;

pub struct Faulty(Mutex<(Fault, usize)>);

enum Verdict {
    Go,
    Fail(io::Error),
    HalfThenFail,
}

impl Faulty {
    pub fn new(fault: Fault) -> Self {
        Faulty(Mutex::new((fault, 0)))
    }

    /// Counts from zero again.
    pub fn set(&self, fault: Fault) {
        *self.0.lock().unwrap() = (fault, 0);
    }

    pub fn changes(&self) -> usize {
        self.0.lock().unwrap().1
    }

    fn judge(&self) -> Verdict {
        let mut state = self.0.lock().unwrap();
        let (fault, now) = *state;
        state.1 += 1;
        match fault {
            Fault::Once { at, with } if at == now => {
                Verdict::Fail(io::Error::from_raw_os_error(with))
            }
            Fault::From { at, with } if now >= at => {
                Verdict::Fail(io::Error::from_raw_os_error(with))
            }
            Fault::Death { at } if at == now => Verdict::HalfThenFail,
            Fault::Death { at } if now > at => Verdict::Fail(io::Error::other("dead")),
            _ => Verdict::Go,
        }
    }

    fn change(&self, change: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        match self.judge() {
            Verdict::Go => change(),
            Verdict::Fail(error) => Err(error),
            Verdict::HalfThenFail => Err(io::Error::other("dying")),
        }
    }
}

impl Fs for Faulty {
    fn read(&self, path: &Path, into: &mut Vec<u8>) -> io::Result<()> {
        Disk.read(path, into)
    }

    fn stat(&self, path: &Path) -> io::Result<Stamp> {
        Disk.stat(path)
    }

    fn entries(&self, path: &Path) -> io::Result<Vec<Entry>> {
        Disk.entries(path)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<Stamp> {
        match self.judge() {
            Verdict::Go => Disk.create(path, bytes),
            // A full disk takes the beginning and refuses the rest.
            Verdict::Fail(error) if error.raw_os_error() == Some(ENOSPC) => {
                Disk.create(path, &bytes[..bytes.len() / 2]).ok();
                Err(error)
            }
            Verdict::Fail(error) => Err(error),
            Verdict::HalfThenFail => {
                Disk.create(path, &bytes[..bytes.len() / 2]).ok();
                Err(io::Error::other("dying"))
            }
        }
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self.judge() {
            Verdict::Go => Disk.append(path, bytes),
            Verdict::Fail(error) if error.raw_os_error() == Some(ENOSPC) => {
                Disk.append(path, &bytes[..bytes.len() / 2]).ok();
                Err(error)
            }
            Verdict::Fail(error) => Err(error),
            Verdict::HalfThenFail => {
                Disk.append(path, &bytes[..bytes.len() / 2]).ok();
                Err(io::Error::other("dying"))
            }
        }
    }

    fn truncate(&self, path: &Path) -> io::Result<()> {
        self.change(|| Disk.truncate(path))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.change(|| Disk.create_dir_all(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|| Disk.rename(from, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.change(|| Disk.remove_file(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.change(|| Disk.remove_dir_all(path))
    }

    // Nobody cuts the power here: that a sync is asked for is what counts.
    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.change(|| Disk.stat(path).map(drop))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.change(|| Disk.stat(path).map(drop))
    }
}
