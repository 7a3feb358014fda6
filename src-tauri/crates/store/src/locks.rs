//! Who may touch what, and when.
//!
//! Inside the process, keys and folders share a fixed set of read/write locks; a waiting writer goes
//! before readers that come later. Between processes the operating system's advisory locks
//! do the work: they vanish with their holder, so nobody waits for the dead.

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
/// A holder does milliseconds of work; one that keeps the lock longer is stopped or hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// Read/write locks by name. Two names may share one, so nobody holds two at a time.
pub(crate) struct Locks<T: ?Sized> {
    stripes: Vec<RwLock<()>>,
    hasher: RandomState,
    names: PhantomData<fn(&T)>,
}

impl<T: Hash + ?Sized> Locks<T> {
    pub(crate) fn new() -> Self {
        Locks {
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

/// The short lock that all processes of one data directory share.
pub(crate) struct SharedLock {
    file: Mutex<File>,
    path: PathBuf,
}

pub(crate) struct SharedGuard<'a>(MutexGuard<'a, File>);

impl SharedLock {
    pub(crate) fn new(path: PathBuf) -> Result<Self> {
        let file = Mutex::new(open(&path)?);
        Ok(SharedLock { file, path })
    }

    pub(crate) fn acquire(&self) -> Result<SharedGuard<'_>> {
        let file = self.file.lock();
        let began = Instant::now();
        let mut pause = Duration::from_micros(20);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(SharedGuard(file)),
                Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {
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

impl Drop for SharedGuard<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the store's lock was not given back");
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
                // Only a courtesy to whoever comes second: the lock itself needs no content.
                if let Err(error) = sign(&mut file) {
                    tracing::debug!(%error, "a session lock could not be signed");
                }
                Ok(SessionWriter { file })
            }
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy {
                what,
                pid: signed_by(&mut file),
            }),
            Err(TryLockError::Error(error)) => Err(error).doing("locking", path),
        }
    }
}

impl Drop for SessionWriter {
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "a session's lock was not given back");
        }
    }
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

fn signed_by(file: &mut File) -> Option<u32> {
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
    fn a_waiting_writer_goes_before_readers_that_come_later() {
        let locks = Arc::new(Locks::<str>::new());
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
    fn a_session_has_one_writer_and_names_it() {
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
