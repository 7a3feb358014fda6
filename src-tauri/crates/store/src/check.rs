//! Checks and repairs the whole tree.
//!
//! Orphans are normal in trees of other programs and are only reported. A repair moves damaged
//! records and stray files to `quarantine/`; nothing is ever deleted.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::{Damaged, IoContext, Result, optional};
use crate::fs::DirEntry;
use crate::key::Key;
use crate::migrate;
use crate::parallel;
use crate::storage::{Storage, record_name};
use crate::temp_files;
use crate::validate;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckReport {
    /// Number of valid records.
    pub records: usize,
    pub damaged: Vec<Damaged>,
    /// Folders and records whose session or message does not exist.
    pub orphans: Vec<Key>,
    /// Files that are not records, relative to `storage/`.
    pub strays: Vec<PathBuf>,
}

/// The kinds of records, and their depth below `storage/`.
const KINDS: [(&str, usize); 12] = [
    ("project", 1),
    ("session", 2),
    ("message", 2),
    ("part", 2),
    ("session_diff", 1),
    ("session_revert", 1),
    ("session_reverted", 1),
    ("session_review", 1),
    ("todo", 1),
    ("permission", 1),
    ("session_share", 1),
    ("share", 1),
];

impl Storage {
    pub(crate) fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let mut keys = Vec::new();
        for (kind, depth) in KINDS {
            self.walk(Path::new(kind), depth, &mut keys, &mut report.strays)?;
        }
        self.add_top_level_strays(&mut report.strays)?;
        keys.sort();
        report.strays.sort();
        report.orphans = find_orphans(&keys);
        let checked = parallel::map(&keys, |key, buffer| self.check_record(key, buffer));
        for (key, outcome) in keys.iter().zip(checked) {
            match outcome {
                Ok(()) => report.records += 1,
                Err(reason) => report.damaged.push(Damaged {
                    key: key.clone(),
                    reason,
                }),
            }
        }
        Ok(report)
    }

    /// Moves damaged records and strays to quarantine and returns what it found.
    pub(crate) fn repair(&self) -> Result<CheckReport> {
        let _lock = self.write_state()?.store_lock.acquire()?;
        let report = self.check()?;
        for damaged in &report.damaged {
            // Removing a damaged record copies its bytes to quarantine.
            self.remove(&damaged.key)?;
        }
        for stray in &report.strays {
            self.quarantine_stray(stray)?;
        }
        Ok(report)
    }

    fn check_record(&self, key: &Key, buffer: &mut Vec<u8>) -> Result<(), String> {
        let read = self.fs.read(&key.file(&self.dirs.tree), buffer);
        read.map_err(|error| format!("it can’t be read: {error}"))?;
        validate::bytes(key, buffer)
    }

    fn walk(
        &self,
        folder: &Path,
        depth: usize,
        keys: &mut Vec<Key>,
        strays: &mut Vec<PathBuf>,
    ) -> Result<()> {
        let path = self.dirs.tree.join(folder);
        for entry in optional(self.fs.read_dir(&path))
            .doing("listing", &path)?
            .unwrap_or_default()
        {
            let inside = folder.join(&entry.name);
            let key = record_name(&entry).filter(|_| depth == 1).and_then(|name| {
                Key::new(folder.to_str()?.split(['/', '\\']).chain([&*name])).ok()
            });
            match key {
                Some(key) => keys.push(key),
                None if entry.is_dir && depth > 1 => self.walk(&inside, depth - 1, keys, strays)?,
                None if self.is_live_temp_file(&entry) => {}
                None => strays.push(inside),
            }
        }
        Ok(())
    }

    /// Files at the top of the tree. A folder there may hold a kind of record that a newer version
    /// has.
    fn add_top_level_strays(&self, strays: &mut Vec<PathBuf>) -> Result<()> {
        let tree = &self.dirs.tree;
        let entries = self.fs.read_dir(tree).doing("listing", tree)?;
        let strays_here = entries.into_iter().filter(|entry| {
            !entry.is_dir && entry.name != migrate::VERSION_FILE && !self.is_live_temp_file(entry)
        });
        strays.extend(strays_here.map(|entry| entry.name.into()));
        Ok(())
    }

    /// A temp file of a running process will be gone in a moment.
    fn is_live_temp_file(&self, entry: &DirEntry) -> bool {
        let name = entry.name.to_string_lossy();
        let Some((tag, _)) = name.strip_prefix('.').and_then(|rest| rest.split_once('-')) else {
            return false;
        };
        let log = format!("{}{tag}", temp_files::LOG_PREFIX);
        self.fs.metadata(&self.dirs.locks.join(log)).is_ok()
    }

    fn quarantine_stray(&self, stray: &Path) -> Result<()> {
        let from = self.dirs.tree.join(stray);
        let mut to = self.dirs.quarantine.join("strays").join(stray);
        let mut copies = 0;
        while optional(self.fs.metadata(&to))
            .doing("looking at", &to)?
            .is_some()
        {
            copies += 1;
            to.set_extension(format!("{copies}"));
        }
        if let Some(folder) = to.parent() {
            self.fs.create_dir_all(folder).doing("creating", folder)?;
        }
        self.fs.rename(&from, &to).doing("moving", &from)
    }
}

/// One entry per folder, however many records it has.
fn find_orphans(keys: &[Key]) -> Vec<Key> {
    let of_kind = |kind: &'static str| keys.iter().filter(move |key| key.kind() == kind);
    let sessions: HashSet<&str> = of_kind("session").map(Key::name).collect();
    let messages: HashSet<&str> = of_kind("message").map(Key::name).collect();
    let mut found = Vec::new();
    for key in keys {
        let is_orphan = match key.kind() {
            "part" => key
                .segments()
                .nth(1)
                .is_some_and(|message| !messages.contains(message)),
            "message" | "todo" | "session_diff" | "session_revert" | "session_reverted"
            | "session_review" | "session_share" | "share" => key
                .session_name()
                .is_some_and(|session| !sessions.contains(session)),
            _ => false,
        };
        if is_orphan {
            found.extend(Key::new(key.segments().take(2)));
        }
    }
    found.dedup();
    found
}
