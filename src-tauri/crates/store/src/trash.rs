//! Removed sessions, kept until the trash is emptied.
//!
//! A removal moves many files. Its manifest is written first and says which way the move
//! goes, so that a kill in the middle is finished by the next start, in the same direction.
//! The session's own record leaves first and comes back last: a session that is listed is
//! whole. What has been moved is on the disk before the manifest says that all of it has.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_protocol::{Millis, ProjectId, Session, SessionId};
use serde::{Deserialize, Serialize};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::key::Key;
use crate::spelling;
use crate::storage::{Storage, encode, folder_of};

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

/// A removed session that can be taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Trashed {
    pub session: Session,
    pub removed: Millis,
}

/// The records of a session that lie flat in a folder of their kind.
const FLAT: [&str; 5] = [
    "todo",
    "session_diff",
    "session_revert",
    "session_share",
    "share",
];

/// The folders that something was moved from or to.
type Moved = BTreeSet<PathBuf>;

impl Storage {
    /// To be called by whoever holds the session.
    pub(crate) fn remove_session(&self, id: &SessionId) -> Result<()> {
        let _shared = self.writing()?.shared.acquire()?;
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
        self.give_up(id)?;
        let manifest = Manifest {
            session: id.clone(),
            project,
            removed: now(),
            state: State::Removing,
        };
        let done = self
            .make_room(id)
            .and_then(|()| self.sign(&manifest))
            .and_then(|()| self.sync_folder_of(&self.grave(id)))
            .and_then(|()| self.finish_removal(manifest));
        self.pulse.note(done)
    }

    /// A session that was removed before and came back by an import has a grave already. It
    /// stays in the trash under another name, and goes when its time has come.
    fn make_room(&self, id: &SessionId) -> Result<()> {
        let grave = self.grave(id);
        let mut aside = grave.clone();
        let mut copies = 0;
        while optional(self.fs.stat(&aside))
            .doing("looking at", &aside)?
            .is_some()
        {
            copies += 1;
            aside.set_extension(copies.to_string());
        }
        if copies > 0 {
            self.fs.rename(&grave, &aside).doing("moving", &grave)?;
        }
        Ok(())
    }

    pub(crate) fn restore_session(&self, id: &SessionId) -> Result<()> {
        let _shared = self.writing()?.shared.acquire()?;
        let Some(mut manifest) = self.manifest(&self.grave(id))? else {
            return Err(StoreError::Missing(Key::new(["trash", id.as_str()])?));
        };
        // An import may have brought it back, and that one may have gone on since.
        if self.session_key(id)?.is_some() {
            return Err(StoreError::Exists(Key::new(["session", id.as_str()])?));
        }
        manifest.state = State::Restoring;
        let done = self
            .sign(&manifest)
            .and_then(|()| self.finish_restoring(&manifest));
        self.pulse.note(done)
    }

    /// What can be taken back, removed last first. What cannot be read is left out.
    pub(crate) fn trashed(&self) -> Result<Vec<Trashed>> {
        let mut all = Vec::new();
        for grave in self.graves()? {
            let manifest = self.manifest(&grave)?;
            let whole =
                |one: &Manifest| one.state == State::Removed && self.grave(&one.session) == grave;
            let Some(manifest) = manifest.filter(whole) else {
                continue;
            };
            let path = grave.join("storage").join(session_file(&manifest));
            let mut bytes = Vec::new();
            let found = optional(self.fs.read(&path, &mut bytes)).doing("reading", &path)?;
            let session = found.and_then(|()| spelling::from_bytes(&bytes).ok());
            all.extend(session.map(|session| Trashed {
                session,
                removed: manifest.removed,
            }));
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.removed));
        Ok(all)
    }

    /// Returns how many sessions are gone for good.
    pub(crate) fn empty_trash(&self, older_than: Duration) -> Result<usize> {
        let _shared = self.writing()?.shared.acquire()?;
        let horizon = now().0 - i64::try_from(older_than.as_millis()).unwrap_or(i64::MAX);
        let mut emptied = 0;
        for grave in self.graves()? {
            let manifest = self.manifest(&grave)?;
            if manifest.is_some_and(|m| m.state == State::Removed && m.removed.0 <= horizon) {
                self.fs.remove_dir_all(&grave).doing("removing", &grave)?;
                emptied += 1;
            }
        }
        Ok(emptied)
    }

    /// Finishes what a kill interrupted. What cannot be finished now may be next time: it is
    /// no reason to keep all other sessions from whoever opens the store. The caller holds the
    /// store's lock.
    pub(crate) fn resume_trash(&self) -> Result<()> {
        for grave in self.graves()? {
            let resumed = match self.manifest(&grave) {
                // One that was put aside is not where its manifest thinks it is.
                Ok(Some(manifest)) if self.grave(&manifest.session) == grave => {
                    self.resume(manifest)
                }
                other => other.map(drop),
            };
            if let Err(error) = resumed {
                tracing::error!(%error, grave = %grave.display(), "a move was not finished");
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
        let tree = &self.places.tree;
        let kept = self.grave(&id).join("storage");
        let mut moved = Moved::default();
        self.shift(tree, &kept, &session_file(&manifest), &mut moved)?;
        let messages = Path::new("message").join(id.as_str());
        for message in self.names(&tree.join(&messages))? {
            self.shift(tree, &kept, &Path::new("part").join(message), &mut moved)?;
        }
        self.shift(tree, &kept, &messages, &mut moved)?;
        for kind in FLAT {
            let file = Path::new(kind).join(format!("{id}.json"));
            self.shift(tree, &kept, &file, &mut moved)?;
        }
        self.forget_order(&id)?;
        self.homes.lock().remove(&id);
        self.sync_moved(&moved)?;
        manifest.state = State::Removed;
        self.sign(&manifest)
    }

    fn finish_restoring(&self, manifest: &Manifest) -> Result<()> {
        let id = &manifest.session;
        let tree = &self.places.tree;
        let grave = self.grave(id);
        let kept = grave.join("storage");
        let mut moved = Moved::default();
        for kind in FLAT {
            let file = Path::new(kind).join(format!("{id}.json"));
            self.shift(&kept, tree, &file, &mut moved)?;
        }
        for part in self.entries_of(&kept.join("part"))? {
            self.shift(&kept, tree, &Path::new("part").join(part), &mut moved)?;
        }
        let messages = Path::new("message").join(id.as_str());
        self.shift(&kept, tree, &messages, &mut moved)?;
        self.shift(&kept, tree, &session_file(manifest), &mut moved)?;
        self.sync_moved(&moved)?;
        self.fs.remove_dir_all(&grave).doing("removing", &grave)
    }

    /// Moves a file or folder, unless that was done before. Before a kill, that is: whether the
    /// disk knows is not known, so its folders count as changed in any case.
    fn shift(&self, from: &Path, to: &Path, what: &Path, moved: &mut Moved) -> Result<()> {
        let (from, to) = (from.join(what), to.join(what));
        moved.extend([&from, &to].map(|path| folder_of(path).to_owned()));
        if optional(self.fs.stat(&from))
            .doing("looking at", &from)?
            .is_none()
        {
            return Ok(());
        }
        let folder = folder_of(&to);
        self.fs.create_dir_all(folder).doing("creating", folder)?;
        self.unsettle(&to);
        self.fs.rename(&from, &to).doing("moving", &from)
    }

    /// With the folders around them, which may be as new.
    fn sync_moved(&self, moved: &Moved) -> Result<()> {
        let root = &self.places.root;
        let around = moved.iter().flat_map(|folder| folder.ancestors());
        let folders: BTreeSet<_> = around.filter(|folder| folder.starts_with(root)).collect();
        // A folder sorts before those in it.
        for folder in folders.into_iter().rev() {
            optional(self.fs.sync_dir(folder)).doing("syncing", folder)?;
        }
        Ok(())
    }

    fn sync_folder_of(&self, path: &Path) -> Result<()> {
        let folder = folder_of(path);
        self.fs.sync_dir(folder).doing("syncing", folder)
    }

    fn sign(&self, manifest: &Manifest) -> Result<()> {
        let path = self.grave(&manifest.session).join("manifest.json");
        self.put(&path, &encode(manifest)?, true).map(drop)
    }

    fn manifest(&self, grave: &Path) -> Result<Option<Manifest>> {
        let path = grave.join("manifest.json");
        let mut bytes = Vec::new();
        let found = optional(self.fs.read(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.and_then(|()| spelling::from_bytes(&bytes).ok()))
    }

    fn grave(&self, id: &SessionId) -> PathBuf {
        self.places.trash.join(id.as_str())
    }

    fn graves(&self) -> Result<Vec<PathBuf>> {
        let names = self.entries_of(&self.places.trash)?;
        Ok(names
            .into_iter()
            .map(|name| self.places.trash.join(name))
            .collect())
    }

    fn entries_of(&self, folder: &Path) -> Result<Vec<std::ffi::OsString>> {
        let entries = optional(self.fs.entries(folder)).doing("listing", folder)?;
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
