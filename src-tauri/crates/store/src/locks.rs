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
///
/// Its file is removed with it, so that there are not more files than writers. A process that has
/// locked a file checks that it still has its name: another one may have removed it meanwhile.
#[derive(Debug)]
pub struct SessionWriter {
    file: File,
    path: PathBuf,
}

impl SessionWriter {
    /// `tag` tells the stores of one process apart.
    pub(crate) fn acquire(path: &Path, what: String, tag: &str) -> Result<Self> {
        loop {
            let mut file = open(path)?;
            match file.try_lock() {
                Ok(()) if !has_name(&file, path) => continue,
                Ok(()) => {
                    // For the error message of the next process, and for those that follow the
                    // session: the lock itself needs no content.
                    if let Err(error) = write_holder(&mut file, tag) {
                        tracing::debug!(%error, "a session lock could not name its process");
                    }
                    let path = path.to_owned();
                    return Ok(SessionWriter { file, path });
                }
                Err(TryLockError::WouldBlock) => {
                    let pid = read_holder(&mut file).map(|holder| holder.pid);
                    return Err(StoreError::Busy { what, pid });
                }
                Err(TryLockError::Error(error)) => return Err(error).doing("locking", path),
            }
        }
    }
}

impl Drop for SessionWriter {
    fn drop(&mut self) {
        // While it is locked: afterwards the file may be the next writer's.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the file of a lock was not removed");
        }
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "a session's lock was not released");
        }
    }
}

#[cfg(unix)]
fn has_name(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same =
        |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    let (opened, named) = (file.metadata(), std::fs::metadata(path));
    opened.is_ok_and(|opened| named.is_ok_and(|named| same(opened, named)))
}

/// An open file cannot be removed there.
#[cfg(not(unix))]
fn has_name(_: &File, _: &Path) -> bool {
    true
}

/// Who holds a lock, as its file says. After a crash it may say so for a process that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub pid: u32,
    pub tag: String,
}

impl Holder {
    /// `None` if the lock is not held, or its file cannot be read.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let holder = read_holder(&mut File::open(path).ok()?)?;
        is_running(holder.pid).then_some(holder)
    }
}

#[cfg(unix)]
fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    // Any other error says that there is one, which is not ours.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_running(_: u32) -> bool {
    true
}

fn write_holder(file: &mut File, tag: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{} {tag}", std::process::id())
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.take(100).read_to_string(&mut text).ok()?;
    let mut words = text.split_whitespace();
    let pid = words.next()?.parse().ok()?;
    let tag = words.next().unwrap_or_default().to_owned();
    Some(Holder { pid, tag })
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
        let acquire = || SessionWriter::acquire(&path, "ses_1".to_owned(), "t");
        let held = acquire().unwrap();
        let refused = acquire().unwrap_err();
        let me = std::process::id();
        assert!(matches!(refused, StoreError::Busy { pid: Some(pid), .. } if pid == me));
        let tag = "t".to_owned();
        assert_eq!(Holder::of(&path), Some(Holder { pid: me, tag }));
        drop(held);
        assert_eq!((Holder::of(&path), path.exists()), (None, false));
        acquire().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn many_writers_that_remove_the_file_never_hold_it_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ses_1");
        let (inside, held) = (
            AtomicBool::new(false),
            std::sync::atomic::AtomicUsize::new(0),
        );
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let Ok(writer) = SessionWriter::acquire(&path, String::new(), "t") else {
                            continue;
                        };
                        assert!(!inside.swap(true, Ordering::SeqCst), "two writers");
                        held.fetch_add(1, Ordering::SeqCst);
                        inside.store(false, Ordering::SeqCst);
                        drop(writer);
                    }
                });
            }
        });
        assert!(held.into_inner() > 0);
    }

    #[test]
    fn a_lock_that_a_crash_left_behind_is_not_held_and_can_be_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ses_1");
        std::fs::write(&path, "4194399 gone").unwrap();
        assert_eq!(Holder::of(&path), None);
        SessionWriter::acquire(&path, "ses_1".to_owned(), "t").unwrap();
    }
}
