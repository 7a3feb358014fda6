//! Temp files: how they are named, and how those of a killed process are found again.
//!
//! A temp file lies beside its target, hidden by a leading dot and marked with the tag of the
//! process that made it. To find what a kill left behind without searching the whole tree,
//! each process notes the folders it writes to in a log of its own and holds a lock on it: a
//! log that can be locked belongs to the dead.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::error::{IoContext, Result, optional};
use crate::fs::Fs;
use crate::locks;

const LOG_PREFIX: &str = "scratch-";
/// Beyond this a folder may be noted twice, which costs a line and no more.
const REMEMBERED: usize = 4096;

pub(crate) struct Scratch {
    tag: String,
    next: AtomicU64,
    left_behind: AtomicBool,
    log: Mutex<Log>,
}

struct Log {
    root: PathBuf,
    path: PathBuf,
    file: File,
    noted: HashSet<PathBuf>,
}

impl Scratch {
    /// The caller holds the store's lock: between making the log and locking it, the log
    /// looks like one of the dead.
    pub(crate) fn begin(root: &Path, locks: &Path) -> Result<Self> {
        let mut random = [0; 8];
        if getrandom::fill(&mut random).is_err() {
            random = u64::from(std::process::id()).to_le_bytes();
        }
        let tag = format!("{:016x}", u64::from_le_bytes(random));
        let path = locks.join(format!("{LOG_PREFIX}{tag}"));
        let file = locks::open(&path)?;
        file.lock().doing("locking", &path)?;
        Ok(Scratch {
            tag,
            next: AtomicU64::new(0),
            left_behind: AtomicBool::new(false),
            log: Mutex::new(Log {
                root: root.to_owned(),
                path,
                file,
                noted: HashSet::new(),
            }),
        })
    }

    /// Takes away a temp file whose write failed. One that cannot be removed is left to the
    /// next start.
    pub(crate) fn discard(&self, fs: &dyn Fs, temp: &Path) {
        if optional(fs.remove_file(temp)).is_err() {
            self.leave_behind();
        }
    }

    /// The log stays, so that somebody looks after what this process could not.
    pub(crate) fn leave_behind(&self) {
        self.left_behind.store(true, Ordering::Relaxed);
    }

    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }

    /// A fresh name in `folder`, which is noted before anything is put there.
    pub(crate) fn name_in(&self, folder: &Path) -> Result<PathBuf> {
        self.log.lock().note(folder)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(folder.join(format!(".{}-{number}.tmp", self.tag)))
    }
}

impl Log {
    fn note(&mut self, folder: &Path) -> Result<()> {
        if self.noted.contains(folder) {
            return Ok(());
        }
        if self.noted.len() >= REMEMBERED {
            self.noted.clear();
        }
        // One call per line, so that a kill cannot leave half a line behind.
        let inside = folder.strip_prefix(&self.root).unwrap_or(folder);
        let line = format!("{}\n", inside.to_string_lossy());
        self.file
            .write_all(line.as_bytes())
            .doing("noting in", &self.path)?;
        self.noted.insert(folder.to_owned());
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let log = self.log.get_mut();
        if !*self.left_behind.get_mut()
            && let Err(error) = std::fs::remove_file(&log.path)
        {
            tracing::debug!(%error, "a scratch log stays behind");
        }
        // A child that was just forked has the file open, too, until it becomes what it runs:
        // closing ours would leave the log locked, and whoever comes next would take it for
        // that of one who lives.
        if let Err(error) = log.file.unlock() {
            tracing::debug!(%error, "a scratch log was not unlocked");
        }
    }
}

/// The log of a process that was killed. Nobody else takes it while it is held.
pub(crate) struct DeadLog {
    pub(crate) tag: String,
    path: PathBuf,
    file: File,
}

/// The caller holds the store's lock.
pub(crate) fn of_the_dead(fs: &dyn Fs, locks: &Path) -> Result<Vec<DeadLog>> {
    let mut dead = Vec::new();
    for entry in fs.entries(locks).doing("listing", locks)? {
        let Some(name) = entry.name.to_str() else {
            continue;
        };
        let Some(tag) = name.strip_prefix(LOG_PREFIX) else {
            continue;
        };
        let path = locks.join(name);
        let file = locks::open(&path)?;
        if file.try_lock().is_ok() {
            let tag = tag.to_owned();
            dead.push(DeadLog { tag, path, file });
        }
    }
    Ok(dead)
}

impl DeadLog {
    /// Removes the temp files it tells of, and then itself.
    pub(crate) fn sweep(mut self, fs: &dyn Fs, root: &Path) -> Result<()> {
        self.file.rewind().doing("reading", &self.path)?;
        let folders: HashSet<String> = BufReader::new(&self.file)
            .lines()
            .map_while(|line| line.ok())
            .collect();
        for folder in folders {
            sweep_folder(fs, &root.join(folder), &self.tag)?;
        }
        fs.remove_file(&self.path).doing("removing", &self.path)
    }
}

fn sweep_folder(fs: &dyn Fs, folder: &Path, tag: &str) -> Result<()> {
    let mark = format!(".{tag}-");
    let entries = optional(fs.entries(folder))
        .doing("listing", folder)?
        .unwrap_or_default();
    for entry in entries {
        if entry.name.to_string_lossy().starts_with(&mark) {
            let path = folder.join(&entry.name);
            fs.remove_file(&path).doing("removing", &path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::Disk;

    #[test]
    fn a_log_that_is_left_behind_is_one_of_the_dead_though_a_child_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::begin(folder.path(), folder.path()).unwrap();
        let of_a_child = scratch.log.lock().file.try_clone().unwrap();
        scratch.leave_behind();
        assert_eq!(of_the_dead(&Disk, folder.path()).unwrap().len(), 0);
        drop(scratch);
        assert_eq!(of_the_dead(&Disk, folder.path()).unwrap().len(), 1);
        drop(of_a_child);
    }
}
