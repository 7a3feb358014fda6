//! Removed sessions, which can be restored until the trash is emptied.
//!
//! A removal moves many files. Its manifest is written first and has the direction of the move,
//! so that the next start finishes a move that a kill interrupted. The session's own record is
//! moved away first and moved back last, so that a session that is listed is complete. The moves
//! are synced before the manifest says that they are complete.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_protocol::{Millis, ProjectId, Session, SessionId};
use serde::{Deserialize, Serialize};

use crate::atomic_file::folder_of;
use crate::error::{IoContext, Result, StoreError, optional};
use crate::json_format;
use crate::key::Key;
use crate::storage::{Storage, encode};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Manifest {
    session: SessionId,
    project: ProjectId,
    removed: Millis,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Removing,
    Removed,
    Restoring,
}

/// A removed session that can be restored.
#[derive(Debug, Clone, PartialEq)]
pub struct Trashed {
    pub session: Session,
    pub removed: Millis,
}

/// The kinds of records of which a session has one file.
const SINGLE_FILE_KINDS: [&str; 7] = [
    "todo",
    "session_diff",
    "session_revert",
    "session_reverted",
    "session_review",
    "session_share",
    "share",
];

/// The folders that something was moved from or to.
type ChangedFolders = BTreeSet<PathBuf>;

impl Storage {
    /// The caller holds the session's lock.
    pub(crate) fn remove_session(&self, id: &SessionId) -> Result<()> {
        let _lock = self.write_state()?.store_lock.acquire()?;
        let key = self.session_key(id)?;
        let key = match key {
            Some(key) => key,
            None => return Err(StoreError::Missing(Key::new(["session", id.as_str()])?)),
        };
        let project = ProjectId::parse(key.segments().nth(1).unwrap_or_default());
        let Ok(project) = project else {
            return Err(StoreError::Missing(key));
        };
        self.barrier(id).ok();
        self.discard_session(id)?;
        let manifest = Manifest {
            session: id.clone(),
            project,
            removed: now(),
            state: State::Removing,
        };
        let done = self
            .rename_older_copy(id)
            .and_then(|()| self.write_manifest(&manifest))
            .and_then(|()| self.sync_folder_of(&self.trash_folder(id)))
            .and_then(|()| self.finish_removal(manifest));
        self.health.record(done)
    }

    /// A session that was removed, imported again and is removed again already has a folder in the
    /// trash. That one gets another name and stays until the trash is emptied.
    fn rename_older_copy(&self, id: &SessionId) -> Result<()> {
        let folder = self.trash_folder(id);
        let mut free_name = folder.clone();
        let mut copies = 0;
        while optional(self.fs.metadata(&free_name))
            .doing("looking at", &free_name)?
            .is_some()
        {
            copies += 1;
            free_name.set_extension(copies.to_string());
        }
        if copies > 0 {
            self.fs
                .rename(&folder, &free_name)
                .doing("moving", &folder)?;
        }
        Ok(())
    }

    pub(crate) fn restore_session(&self, id: &SessionId) -> Result<()> {
        let _lock = self.write_state()?.store_lock.acquire()?;
        let Some(mut manifest) = self.read_manifest(&self.trash_folder(id))? else {
            return Err(StoreError::Missing(Key::new(["trash", id.as_str()])?));
        };
        // An import may have added the session again, and it may have been used since.
        if self.session_key(id)?.is_some() {
            return Err(StoreError::Exists(Key::new(["session", id.as_str()])?));
        }
        manifest.state = State::Restoring;
        let done = self
            .write_manifest(&manifest)
            .and_then(|()| self.finish_restoring(&manifest));
        self.health.record(done)
    }

    /// The sessions that can be restored, last removed first. Unreadable ones are left out.
    pub(crate) fn trashed(&self) -> Result<Vec<Trashed>> {
        let mut all = Vec::new();
        for folder in self.trash_folders()? {
            let manifest = self.read_manifest(&folder)?;
            let is_complete = |one: &Manifest| {
                one.state == State::Removed && self.trash_folder(&one.session) == folder
            };
            let Some(manifest) = manifest.filter(is_complete) else {
                continue;
            };
            let path = folder.join("storage").join(session_file(&manifest));
            let mut bytes = Vec::new();
            let found = optional(self.fs.read(&path, &mut bytes)).doing("reading", &path)?;
            let session = found.and_then(|()| json_format::from_bytes(&bytes).ok());
            all.extend(session.map(|session| Trashed {
                session,
                removed: manifest.removed,
            }));
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.removed));
        Ok(all)
    }

    /// Returns how many sessions were deleted.
    pub(crate) fn empty_trash(&self, older_than: Duration) -> Result<usize> {
        let _lock = self.write_state()?.store_lock.acquire()?;
        let latest = now().0 - i64::try_from(older_than.as_millis()).unwrap_or(i64::MAX);
        let mut emptied = 0;
        for folder in self.trash_folders()? {
            let manifest = self.read_manifest(&folder)?;
            if manifest.is_some_and(|m| m.state == State::Removed && m.removed.0 <= latest) {
                self.fs.remove_dir_all(&folder).doing("removing", &folder)?;
                emptied += 1;
            }
        }
        Ok(emptied)
    }

    /// Finishes moves that a kill interrupted. A move that fails again is left to the next start
    /// and does not keep the store from opening. The caller holds the store's lock.
    pub(crate) fn resume_interrupted_moves(&self) -> Result<()> {
        for folder in self.trash_folders()? {
            let resumed = match self.read_manifest(&folder) {
                // An older copy was renamed and is not where its manifest says.
                Ok(Some(manifest)) if self.trash_folder(&manifest.session) == folder => {
                    self.resume(manifest)
                }
                other => other.map(drop),
            };
            if let Err(error) = resumed {
                tracing::error!(%error, folder = %folder.display(), "a move was not finished");
            }
        }
        Ok(())
    }

    fn resume(&self, manifest: Manifest) -> Result<()> {
        match manifest.state {
            State::Removing => self.finish_removal(manifest),
            State::Restoring => self.finish_restoring(&manifest),
            State::Removed => Ok(()),
        }
    }

    fn finish_removal(&self, mut manifest: Manifest) -> Result<()> {
        let id = manifest.session.clone();
        let tree = &self.dirs.tree;
        let trash = self.trash_folder(&id).join("storage");
        let mut changed = ChangedFolders::default();
        self.move_path(tree, &trash, &session_file(&manifest), &mut changed)?;
        let messages = Path::new("message").join(id.as_str());
        for message in self.record_names(&tree.join(&messages))? {
            self.move_path(tree, &trash, &Path::new("part").join(message), &mut changed)?;
        }
        self.move_path(tree, &trash, &messages, &mut changed)?;
        for kind in SINGLE_FILE_KINDS {
            let file = Path::new(kind).join(format!("{id}.json"));
            self.move_path(tree, &trash, &file, &mut changed)?;
        }
        self.remove_order(&id)?;
        self.session_projects.lock().remove(&id);
        self.sync_with_ancestors(&changed)?;
        manifest.state = State::Removed;
        self.write_manifest(&manifest)
    }

    fn finish_restoring(&self, manifest: &Manifest) -> Result<()> {
        let id = &manifest.session;
        let tree = &self.dirs.tree;
        let folder = self.trash_folder(id);
        let trash = folder.join("storage");
        let mut changed = ChangedFolders::default();
        for kind in SINGLE_FILE_KINDS {
            let file = Path::new(kind).join(format!("{id}.json"));
            self.move_path(&trash, tree, &file, &mut changed)?;
        }
        for part in self.file_names_in(&trash.join("part"))? {
            self.move_path(&trash, tree, &Path::new("part").join(part), &mut changed)?;
        }
        let messages = Path::new("message").join(id.as_str());
        self.move_path(&trash, tree, &messages, &mut changed)?;
        self.move_path(&trash, tree, &session_file(manifest), &mut changed)?;
        self.sync_with_ancestors(&changed)?;
        self.fs.remove_dir_all(&folder).doing("removing", &folder)
    }

    /// Moves a file or folder, unless that was done before a kill. Even then its folders count as
    /// changed, because that move may not have been synced.
    fn move_path(
        &self,
        from: &Path,
        to: &Path,
        what: &Path,
        changed: &mut ChangedFolders,
    ) -> Result<()> {
        let (from, to) = (from.join(what), to.join(what));
        changed.extend([&from, &to].map(|path| folder_of(path).to_owned()));
        if optional(self.fs.metadata(&from))
            .doing("looking at", &from)?
            .is_none()
        {
            return Ok(());
        }
        let folder = folder_of(&to);
        self.fs.create_dir_all(folder).doing("creating", folder)?;
        self.forget_synced_folder(&to);
        self.fs.rename(&from, &to).doing("moving", &from)
    }

    /// The ancestors may be as new as the folders.
    fn sync_with_ancestors(&self, changed: &ChangedFolders) -> Result<()> {
        let root = &self.dirs.root;
        let all = changed.iter().flat_map(|folder| folder.ancestors());
        let folders: BTreeSet<_> = all.filter(|folder| folder.starts_with(root)).collect();
        // A folder sorts before its subfolders, which are synced first.
        for folder in folders.into_iter().rev() {
            optional(self.fs.sync_dir(folder)).doing("syncing", folder)?;
        }
        Ok(())
    }

    fn sync_folder_of(&self, path: &Path) -> Result<()> {
        let folder = folder_of(path);
        self.fs.sync_dir(folder).doing("syncing", folder)
    }

    fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        let path = self.trash_folder(&manifest.session).join("manifest.json");
        self.write_atomically(&path, &encode(manifest)?, true)
            .map(drop)
    }

    fn read_manifest(&self, folder: &Path) -> Result<Option<Manifest>> {
        let path = folder.join("manifest.json");
        let mut bytes = Vec::new();
        let found = optional(self.fs.read(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.and_then(|()| json_format::from_bytes(&bytes).ok()))
    }

    fn trash_folder(&self, id: &SessionId) -> PathBuf {
        self.dirs.trash.join(id.as_str())
    }

    fn trash_folders(&self) -> Result<Vec<PathBuf>> {
        let names = self.file_names_in(&self.dirs.trash)?;
        Ok(names
            .into_iter()
            .map(|name| self.dirs.trash.join(name))
            .collect())
    }

    fn file_names_in(&self, folder: &Path) -> Result<Vec<std::ffi::OsString>> {
        let entries = optional(self.fs.read_dir(folder)).doing("listing", folder)?;
        Ok(entries
            .unwrap_or_default()
            .into_iter()
            .map(|entry| entry.name)
            .collect())
    }
}

fn session_file(manifest: &Manifest) -> PathBuf {
    Path::new("session")
        .join(manifest.project.as_str())
        .join(format!("{}.json", manifest.session))
}

fn now() -> Millis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
