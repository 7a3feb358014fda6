//! Temp files: how they are named, and how those of a killed process are found and removed.
//!
//! A temp file lies in the folder of its target. Its name begins with a dot and the tag of the
//! process that made it. Each process logs the folders in which it creates temp files, and holds a
//! lock on that log. A log that can be locked therefore belongs to a killed process, and cleaning
//! up after it does not need to search the whole tree.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::atomic_file;
use crate::error::{IoContext, Result, optional};
use crate::fs::Fs;
use crate::locks;

pub(crate) const LOG_PREFIX: &str = "scratch-";
/// How many logged folders are remembered. Logging a folder twice does no harm.
const MAX_REMEMBERED: usize = 4096;

pub(crate) struct TempFiles {
    tag: String,
    next_number: AtomicU64,
    needs_cleanup: AtomicBool,
    log: Mutex<Log>,
}

struct Log {
    root: PathBuf,
    path: PathBuf,
    file: File,
    folders: HashSet<PathBuf>,
}

impl TempFiles {
    /// The caller holds the store's lock: between its creation and its locking, the log looks like
    /// that of a killed process.
    pub(crate) fn start(root: &Path, locks: &Path) -> Result<Self> {
        let tag = format!("{:016x}", atomic_file::random());
        let path = locks.join(format!("{LOG_PREFIX}{tag}"));
        let file = locks::open(&path)?;
        file.lock().doing("locking", &path)?;
        Ok(TempFiles {
            tag,
            next_number: AtomicU64::new(0),
            needs_cleanup: AtomicBool::new(false),
            log: Mutex::new(Log {
                root: root.to_owned(),
                path,
                file,
                folders: HashSet::new(),
            }),
        })
    }

    /// Removes a temp file after a failed write. One that cannot be removed is left to the next
    /// start.
    pub(crate) fn discard(&self, fs: &dyn Fs, temp: &Path) {
        if optional(fs.remove_file(temp)).is_err() {
            self.leave_to_next_process();
        }
    }

    /// Keeps the log when this process ends, so that the next one cleans up.
    pub(crate) fn leave_to_next_process(&self) {
        self.needs_cleanup.store(true, Ordering::Relaxed);
    }

    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }

    /// A new name in `folder`. The folder is logged before a file can be created there.
    pub(crate) fn new_name_in(&self, folder: &Path) -> Result<PathBuf> {
        self.log.lock().add(folder)?;
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        Ok(folder.join(format!(".{}-{number}.tmp", self.tag)))
    }
}

impl Log {
    fn add(&mut self, folder: &Path) -> Result<()> {
        if self.folders.contains(folder) {
            return Ok(());
        }
        if self.folders.len() >= MAX_REMEMBERED {
            self.folders.clear();
        }
        // One call per line, so that a kill cannot leave half a line behind.
        let inside = folder.strip_prefix(&self.root).unwrap_or(folder);
        let line = format!("{}\n", inside.to_string_lossy());
        self.file
            .write_all(line.as_bytes())
            .doing("noting in", &self.path)?;
        self.folders.insert(folder.to_owned());
        Ok(())
    }
}

impl Drop for TempFiles {
    fn drop(&mut self) {
        let log = self.log.get_mut();
        if !*self.needs_cleanup.get_mut()
            && let Err(error) = std::fs::remove_file(&log.path)
        {
            tracing::debug!(%error, "a log of temp files was not removed");
        }
        // A child between fork and exec also has the file open. Closing ours would leave the log
        // locked, and the next process would take it for that of a running one.
        if let Err(error) = log.file.unlock() {
            tracing::debug!(%error, "a log of temp files was not unlocked");
        }
    }
}

/// The log of a killed process. It stays locked while this value lives, so that no other process
/// cleans up the same files.
pub(crate) struct DeadLog {
    pub(crate) tag: String,
    path: PathBuf,
    file: File,
}

/// The caller holds the store's lock.
pub(crate) fn find_dead_logs(fs: &dyn Fs, locks: &Path) -> Result<Vec<DeadLog>> {
    let mut dead = Vec::new();
    for entry in fs.read_dir(locks).doing("listing", locks)? {
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
    /// Removes the process's temp files and then the log.
    pub(crate) fn clean_up(mut self, fs: &dyn Fs, root: &Path) -> Result<()> {
        self.file.rewind().doing("reading", &self.path)?;
        let folders: HashSet<String> = BufReader::new(&self.file)
            .lines()
            .map_while(|line| line.ok())
            .collect();
        for folder in folders {
            remove_temp_files(fs, &root.join(folder), &self.tag)?;
        }
        fs.remove_file(&self.path).doing("removing", &self.path)
    }
}

fn remove_temp_files(fs: &dyn Fs, folder: &Path, tag: &str) -> Result<()> {
    let prefix = format!(".{tag}-");
    let entries = optional(fs.read_dir(folder))
        .doing("listing", folder)?
        .unwrap_or_default();
    for entry in entries {
        if entry.name.to_string_lossy().starts_with(&prefix) {
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
    fn a_log_left_to_the_next_process_is_found_although_a_child_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let temp_files = TempFiles::start(folder.path(), folder.path()).unwrap();
        let of_a_child = temp_files.log.lock().file.try_clone().unwrap();
        temp_files.leave_to_next_process();
        assert_eq!(find_dead_logs(&Disk, folder.path()).unwrap().len(), 0);
        drop(temp_files);
        assert_eq!(find_dead_logs(&Disk, folder.path()).unwrap().len(), 1);
        drop(of_a_child);
    }
}
