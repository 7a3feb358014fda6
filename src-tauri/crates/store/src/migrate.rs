//! From the layouts of earlier versions to ours.
//!
//! The file `migration` says how far a tree has come. A migration keeps a copy of every file
//! before it changes it (under `migrated/{version}`), takes everything back when it fails,
//! and can be run again over what a kill left. The version moves on only when all of it is on
//! the disk.

pub(crate) mod diffs;
mod hierarchy;
mod inline;

use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::fs::Fs;
use crate::storage::{Places, Storage};

type Migration = fn(&mut Change) -> Result<()>;

const MIGRATIONS: [Migration; 2] = [hierarchy::run, diffs::run];

/// The file that says how far a tree has come.
pub(crate) const MARK: &str = "migration";

/// The version that this program writes.
pub(crate) const VERSION: u32 = MIGRATIONS.len() as u32;

/// A tree without the file, or with something else in it, is of the first version.
pub(crate) fn version(fs: &dyn Fs, places: &Places) -> Result<u32> {
    let path = places.tree.join(MARK);
    let mut bytes = Vec::new();
    let found = optional(fs.read(&path, &mut bytes)).doing("reading", &path)?;
    let text = found
        .and_then(|()| std::str::from_utf8(&bytes).ok())
        .unwrap_or_default();
    let version = text.trim().parse().unwrap_or(0);
    if version > VERSION {
        return Err(StoreError::Newer {
            found: version,
            known: VERSION,
        });
    }
    Ok(version)
}

/// Brings the tree up to date. The caller holds the store's lock.
pub(crate) fn run(storage: &Storage) -> Result<()> {
    for from in version(&*storage.fs, &storage.places)?..VERSION {
        let mut change = Change {
            storage,
            from,
            steps: Vec::new(),
        };
        let migration = MIGRATIONS[from as usize];
        let done = migration(&mut change).and_then(|()| change.settle());
        if let Err(error) = done {
            change.take_back();
            return Err(StoreError::Migration {
                from,
                to: from + 1,
                why: error.to_string(),
            });
        }
    }
    Ok(())
}

/// The files that one migration wrote, and how to take them back.
pub(crate) struct Change<'a> {
    storage: &'a Storage,
    from: u32,
    steps: Vec<Step>,
}

enum Step {
    Added(PathBuf),
    Replaced { path: PathBuf, before: Vec<u8> },
}

impl Change<'_> {
    fn fs(&self) -> &dyn Fs {
        &*self.storage.fs
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let found = optional(self.fs().read(path, &mut bytes)).doing("reading", path)?;
        Ok(found.map(|()| bytes))
    }

    /// Writes a file of the new layout, unless there is one already: it is newer.
    fn add(&mut self, file: &Path, bytes: &[u8]) -> Result<()> {
        let path = self.storage.places.tree.join(file);
        if optional(self.fs().stat(&path))
            .doing("looking at", &path)?
            .is_some()
        {
            return Ok(());
        }
        self.steps.push(Step::Added(path.clone()));
        self.storage.put(&path, bytes, false).map(drop)
    }

    /// Changes a file after a copy of it is safe. The first copy counts: what a second run
    /// finds is no longer the original.
    fn replace(&mut self, file: &Path, before: Vec<u8>, bytes: &[u8]) -> Result<()> {
        let places = &self.storage.places;
        let copy = places.migrated.join(self.from.to_string()).join(file);
        if optional(self.fs().stat(&copy))
            .doing("looking at", &copy)?
            .is_none()
        {
            self.storage.put(&copy, &before, true)?;
        }
        let path = places.tree.join(file);
        self.steps.push(Step::Replaced {
            path: path.clone(),
            before,
        });
        self.storage.put(&path, bytes, false).map(drop)
    }

    /// The version is a step like the others and the last: it is the first to be taken back.
    fn settle(&mut self) -> Result<()> {
        for step in &self.steps {
            let (Step::Added(path) | Step::Replaced { path, .. }) = step;
            self.fs().sync_file(path).doing("syncing", path)?;
        }
        let path = self.storage.places.tree.join(MARK);
        self.steps.push(match self.read(&path)? {
            Some(before) => Step::Replaced {
                path: path.clone(),
                before,
            },
            None => Step::Added(path.clone()),
        });
        self.storage
            .put(&path, (self.from + 1).to_string().as_bytes(), true)
            .map(drop)
    }

    fn take_back(self) {
        for step in self.steps.iter().rev() {
            let undone = match step {
                Step::Added(path) => optional(self.fs().remove_file(path))
                    .doing("removing", path)
                    .map(drop),
                Step::Replaced { path, before } => self.storage.put(path, before, true).map(drop),
            };
            if let Err(error) = undone {
                tracing::error!(%error, "a step of a failed migration stays");
            }
        }
    }

    /// The names in a folder, sorted, so that a migration does the same each time.
    fn names(&self, folder: &Path) -> Result<Vec<String>> {
        let entries = optional(self.fs().entries(folder)).doing("listing", folder)?;
        let mut names: Vec<_> = entries
            .unwrap_or_default()
            .into_iter()
            .filter_map(|e| e.name.into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }
}
