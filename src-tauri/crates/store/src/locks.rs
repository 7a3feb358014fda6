//! Locks inside a process and between processes.
//!
//! Inside a process, keys and folders share a fixed number of read/write locks; a waiting writer
//! comes before later readers. Between processes, advisory file locks of the operating system are
//! used: they are released when their process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hash, RandomState};
use std::io::{self, Read, Seek, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::{IoContext, Result, StoreError};
use crate::fs::private;

const STRIPES: usize = 256;
/// A process holds the lock for milliseconds; if it takes longer, it is stopped or hung.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Read/write locks by name. Two names may share a lock, so a thread must not hold two of them.
pub(crate) struct StripedLocks<T: ?Sized> {
    stripes: Vec<RwLock<()>>,
    hasher: RandomState,
    names: PhantomData<fn(&T)>,
}

impl<T: Hash + ?Sized> StripedLocks<T> {
    pub(crate) fn new() -> Self {
        StripedLocks {
            stripes: (0..STRIPES).map(|_| RwLock::new(())).collect(),
            hasher: RandomState::new(),
            names: PhantomData,
        }
    }

    pub(crate) fn read(&self, name: &T) -> RwLockReadGuard<'_, ()> {
        self.stripe(name).read()
    }

    pub(crate) fn write(&self, name: &T) -> RwLockWriteGuard<'_, ()> {
        self.stripe(name).write()
    }

    fn stripe(&self, name: &T) -> &RwLock<()> {
        &self.stripes[self.hasher.hash_one(name) as usize % STRIPES]
    }
}

/// One lock for all processes that use a data directory, held for short operations.
pub(crate) struct StoreLock {
    file: Mutex<File>,
    path: PathBuf,
}

pub(crate) struct StoreLockGuard<'a>(MutexGuard<'a, File>);

impl StoreLock {
    pub(crate) fn new(path: PathBuf) -> Result<Self> {
        let file = Mutex::new(open(&path)?);
        Ok(StoreLock { file, path })
    }

    pub(crate) fn acquire(&self) -> Result<StoreLockGuard<'_>> {
        let file = self.file.lock();
        let started = Instant::now();
        let mut pause = Duration::from_micros(20);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(StoreLockGuard(file)),
                Err(TryLockError::WouldBlock) if started.elapsed() < TIMEOUT => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Busy {
                        what: "the store".to_owned(),
                        pid: None,
                    });
                }
                Err(TryLockError::Error(error)) => return Err(error).doing("locking", &self.path),
            }
        }
    }
}

impl Drop for StoreLockGuard<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the store's lock was not released");
        }
    }
}

/// The right to write one session. It ends with this value, or with the process.
#[derive(Debug)]
pub struct SessionWriter {
    file: File,
}

impl SessionWriter {
    pub(crate) fn acquire(path: &Path, what: String) -> Result<Self> {
        let mut file = open(path)?;
        match file.try_lock() {
            Ok(()) => {
                // Only for the error message of the next process: the lock needs no content.
                if let Err(error) = write_pid(&mut file) {
                    tracing::debug!(%error, "a session lock could not name its process");
                }
                Ok(SessionWriter { file })
            }
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy {
                what,
                pid: read_pid(&mut file),
            }),
            Err(TryLockError::Error(error)) => Err(error).doing("locking", path),
        }
    }
}

impl Drop for SessionWriter {
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "a session's lock was not released");
        }
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

pub(crate) fn open(path: &Path) -> Result<File> {
    private(
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false),
    )
    .open(path)
    .doing("opening", path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_waiting_writer_comes_before_later_readers() {
        let locks = Arc::new(StripedLocks::<str>::new());
        let key = "one";
        let wrote = Arc::new(AtomicBool::new(false));
        let first_reader = locks.read(key);

        let writer = std::thread::spawn({
            let (locks, wrote) = (locks.clone(), wrote.clone());
            move || {
                let _guard = locks.write(key);
                wrote.store(true, Ordering::SeqCst);
            }
        });
        // A second reader is refused from the moment the writer waits.
        while locks.stripe(key).try_read().is_some() {
            std::thread::yield_now();
        }
        let late_reader = std::thread::spawn({
            let (locks, wrote) = (locks.clone(), wrote.clone());
            move || {
                let _guard = locks.read(key);
                wrote.load(Ordering::SeqCst)
            }
        });
        drop(first_reader);

        writer.join().unwrap();
        assert!(
            late_reader.join().unwrap(),
            "the late reader overtook the writer"
        );
    }

    #[test]
    fn a_session_has_one_writer_and_a_refusal_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ses_1");
        let held = SessionWriter::acquire(&path, "ses_1".to_owned()).unwrap();
        let refused = SessionWriter::acquire(&path, "ses_1".to_owned()).unwrap_err();
        let me = std::process::id();
        assert!(matches!(refused, StoreError::Busy { pid: Some(pid), .. } if pid == me));
        drop(held);
        SessionWriter::acquire(&path, "ses_1".to_owned()).unwrap();
    }
}
