//! Migrates the layouts of earlier versions to the current one.
//!
//! The file `migration` has the version of the tree. A migration copies every file before it
//! changes it (to `migrated/{version}`), rolls everything back when it fails, and can be run again
//! after a kill. The version is raised only after all changes are synced.

mod inline_parts;
pub(crate) mod session_diffs;
mod single_tree;

use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::fs::Fs;
use crate::storage::{DataDirs, Storage};

type Migration = fn(&mut Change) -> Result<()>;

const MIGRATIONS: [Migration; 2] = [single_tree::run, session_diffs::run];

/// The file in the tree that has its version.
pub(crate) const VERSION_FILE: &str = "migration";

/// The version that this program writes.
pub(crate) const VERSION: u32 = MIGRATIONS.len() as u32;

/// Zero, the first version, if the file is missing or does not hold a number.
pub(crate) fn version(fs: &dyn Fs, dirs: &DataDirs) -> Result<u32> {
    let path = dirs.tree.join(VERSION_FILE);
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

/// Runs the migrations that the tree needs. The caller holds the store's lock.
pub(crate) fn run(storage: &Storage) -> Result<()> {
    for from in version(&*storage.fs, &storage.dirs)?..VERSION {
        let mut change = Change {
            storage,
            from,
            steps: Vec::new(),
        };
        let migration = MIGRATIONS[from as usize];
        let done = migration(&mut change).and_then(|()| change.commit());
        if let Err(error) = done {
            change.roll_back();
            return Err(StoreError::Migration {
                from,
                to: from + 1,
                why: error.to_string(),
            });
        }
    }
    Ok(())
}

/// The files that one migration wrote, and what it needs to roll them back.
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

    /// Writes a file of the new layout, unless it exists: then it is newer.
    fn add(&mut self, file: &Path, bytes: &[u8]) -> Result<()> {
        let path = self.storage.dirs.tree.join(file);
        if optional(self.fs().metadata(&path))
            .doing("looking at", &path)?
            .is_some()
        {
            return Ok(());
        }
        self.steps.push(Step::Added(path.clone()));
        self.storage.write_atomically(&path, bytes, false).map(drop)
    }

    /// Changes a file after a copy of it is durable. An existing copy is kept: a second run no
    /// longer finds the original.
    fn replace(&mut self, file: &Path, before: Vec<u8>, bytes: &[u8]) -> Result<()> {
        let dirs = &self.storage.dirs;
        let copy = dirs.migrated.join(self.from.to_string()).join(file);
        if optional(self.fs().metadata(&copy))
            .doing("looking at", &copy)?
            .is_none()
        {
            self.storage.write_atomically(&copy, &before, true)?;
        }
        let path = dirs.tree.join(file);
        self.steps.push(Step::Replaced {
            path: path.clone(),
            before,
        });
        self.storage.write_atomically(&path, bytes, false).map(drop)
    }

    /// Syncs everything and raises the version, as the last step and thus the first to be rolled
    /// back.
    fn commit(&mut self) -> Result<()> {
        for step in &self.steps {
            let (Step::Added(path) | Step::Replaced { path, .. }) = step;
            self.fs().sync_file(path).doing("syncing", path)?;
        }
        let path = self.storage.dirs.tree.join(VERSION_FILE);
        self.steps.push(match self.read(&path)? {
            Some(before) => Step::Replaced {
                path: path.clone(),
                before,
            },
            None => Step::Added(path.clone()),
        });
        self.storage
            .write_atomically(&path, (self.from + 1).to_string().as_bytes(), true)
            .map(drop)
    }

    fn roll_back(self) {
        for step in self.steps.iter().rev() {
            let undone = match step {
                Step::Added(path) => optional(self.fs().remove_file(path))
                    .doing("removing", path)
                    .map(drop),
                Step::Replaced { path, before } => {
                    self.storage.write_atomically(path, before, true).map(drop)
                }
            };
            if let Err(error) = undone {
                tracing::error!(%error, "a step of a failed migration was not rolled back");
            }
        }
    }

    /// The names in a folder, sorted, so that a migration makes the same changes each time.
    fn names(&self, folder: &Path) -> Result<Vec<String>> {
        let entries = optional(self.fs().read_dir(folder)).doing("listing", folder)?;
        let mut names: Vec<_> = entries
            .unwrap_or_default()
            .into_iter()
            .filter_map(|e| e.name.into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }
}
