//! Looks over the whole tree, and moves aside what is not in order.
//!
//! Orphans are normal in trees of other programs and are only named. Damaged records and
//! strays are moved to `quarantine/` by a repair; nothing is ever deleted.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::damage;
use crate::error::{Damaged, IoContext, Result, optional};
use crate::fs::Entry;
use crate::key::Key;
use crate::migrate;
use crate::parallel;
use crate::storage::{Storage, record_name};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// How many records are good.
    pub records: usize,
    pub damaged: Vec<Damaged>,
    /// Folders and records whose session or message does not exist.
    pub orphans: Vec<Key>,
    /// Files that are no records, relative to `storage/`.
    pub strays: Vec<PathBuf>,
}

/// The kinds of records, and how deep below `storage/` they lie.
const KINDS: [(&str, usize); 10] = [
    ("project", 1),
    ("session", 2),
    ("message", 2),
    ("part", 2),
    ("session_diff", 1),
    ("session_revert", 1),
    ("todo", 1),
    ("permission", 1),
    ("session_share", 1),
    ("share", 1),
];

impl Storage {
    pub(crate) fn check(&self) -> Result<Report> {
        let mut report = Report::default();
        let mut keys = Vec::new();
        for (kind, depth) in KINDS {
            self.walk(Path::new(kind), depth, &mut keys, &mut report.strays)?;
        }
        self.strays_above(&mut report.strays)?;
        keys.sort();
        report.strays.sort();
        report.orphans = orphans(&keys);
        let looked = parallel::map(&keys, |key, buffer| self.look(key, buffer));
        for (key, outcome) in keys.iter().zip(looked) {
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

    /// Moves damaged records and strays aside and returns what it found.
    pub(crate) fn repair(&self) -> Result<Report> {
        let _shared = self.writing()?.shared.acquire()?;
        let report = self.check()?;
        for damaged in &report.damaged {
            // Removing keeps the bytes of what is damaged.
            self.remove(&damaged.key)?;
        }
        for stray in &report.strays {
            self.move_aside(stray)?;
        }
        Ok(report)
    }

    fn look(&self, key: &Key, buffer: &mut Vec<u8>) -> Result<(), String> {
        let read = self.fs.read(&key.file(&self.places.tree), buffer);
        read.map_err(|error| format!("it cannot be read: {error}"))?;
        damage::inspect(key, buffer)
    }

    fn walk(
        &self,
        folder: &Path,
        depth: usize,
        keys: &mut Vec<Key>,
        strays: &mut Vec<PathBuf>,
    ) -> Result<()> {
        let path = self.places.tree.join(folder);
        for entry in optional(self.fs.entries(&path))
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
                None if self.is_in_use(&entry) => {}
                None => strays.push(inside),
            }
        }
        Ok(())
    }

    /// Files beside the kinds of records. A folder there may hold a kind that a newer version
    /// knows.
    fn strays_above(&self, strays: &mut Vec<PathBuf>) -> Result<()> {
        let tree = &self.places.tree;
        let entries = self.fs.entries(tree).doing("listing", tree)?;
        let strange = entries
            .into_iter()
            .filter(|entry| !entry.is_dir && entry.name != migrate::MARK && !self.is_in_use(entry));
        strays.extend(strange.map(|entry| entry.name.into()));
        Ok(())
    }

    /// A temp file of a process that is still there will be gone in a moment.
    fn is_in_use(&self, entry: &Entry) -> bool {
        let name = entry.name.to_string_lossy();
        let Some((tag, _)) = name.strip_prefix('.').and_then(|rest| rest.split_once('-')) else {
            return false;
        };
        self.fs
            .stat(&self.places.locks.join(format!("scratch-{tag}")))
            .is_ok()
    }

    fn move_aside(&self, stray: &Path) -> Result<()> {
        let from = self.places.tree.join(stray);
        let mut to = self.places.quarantine.join("strays").join(stray);
        let mut copies = 0;
        while optional(self.fs.stat(&to))
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

/// One entry per folder, however many records lie in it.
fn orphans(keys: &[Key]) -> Vec<Key> {
    let named = |kind: &'static str| keys.iter().filter(move |key| key.kind() == kind);
    let sessions: HashSet<&str> = named("session").map(Key::name).collect();
    let messages: HashSet<&str> = named("message").map(Key::name).collect();
    let mut found = Vec::new();
    for key in keys {
        let orphan = match key.kind() {
            "part" => key
                .segments()
                .nth(1)
                .is_some_and(|message| !messages.contains(message)),
            "message" | "todo" | "session_diff" | "session_revert" | "session_share" | "share" => {
                key.session_name()
                    .is_some_and(|session| !sessions.contains(session))
            }
            _ => false,
        };
        if orphan {
            found.extend(Key::new(key.segments().take(2)));
        }
    }
    found.dedup();
    found
}
