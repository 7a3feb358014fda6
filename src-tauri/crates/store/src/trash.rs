//! Removed sessions, kept until the trash is emptied.
//!
//! A removal moves many files. Its manifest is written first and says which way the move
//! goes, so that a kill in the middle is finished by the next start, in the same direction.
//! The session's own record leaves first and comes back last: a session that is listed is
//! whole.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_protocol::{Millis, ProjectId, SessionId};
use serde::{Deserialize, Serialize};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::key::Key;
use crate::spelling;
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

/// The records of a session that lie flat in a folder of their kind.
const FLAT: [&str; 5] = [
    "todo",
    "session_diff",
    "session_revert",
    "session_share",
    "share",
];

impl Storage {
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
        manifest.state = State::Restoring;
        let done = self
            .sign(&manifest)
            .and_then(|()| self.finish_restoring(&manifest));
        self.pulse.note(done)
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

    /// Finishes what a kill interrupted. The caller holds the store's lock.
    pub(crate) fn resume_trash(&self) -> Result<()> {
        for grave in self.graves()? {
            match self.manifest(&grave)? {
                Some(manifest) if manifest.state == State::Removing => {
                    self.finish_removal(manifest)?
                }
                Some(manifest) if manifest.state == State::Restoring => {
                    self.finish_restoring(&manifest)?
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn finish_removal(&self, mut manifest: Manifest) -> Result<()> {
        let id = manifest.session.clone();
        let tree = &self.places.tree;
        let kept = self.grave(&id).join("storage");
        self.shift(tree, &kept, &session_file(&manifest))?;
        let messages = Path::new("message").join(id.as_str());
        for message in self.names(&tree.join(&messages))? {
            self.shift(tree, &kept, &Path::new("part").join(message))?;
        }
        self.shift(tree, &kept, &messages)?;
        for kind in FLAT {
            self.shift(tree, &kept, &Path::new(kind).join(format!("{id}.json")))?;
        }
        self.forget_order(&id)?;
        self.homes.lock().remove(&id);
        manifest.state = State::Removed;
        self.sign(&manifest)
    }

    fn finish_restoring(&self, manifest: &Manifest) -> Result<()> {
        let id = &manifest.session;
        let tree = &self.places.tree;
        let grave = self.grave(id);
        let kept = grave.join("storage");
        for kind in FLAT {
            self.shift(&kept, tree, &Path::new(kind).join(format!("{id}.json")))?;
        }
        for part in self.entries_of(&kept.join("part"))? {
            self.shift(&kept, tree, &Path::new("part").join(part))?;
        }
        self.shift(&kept, tree, &Path::new("message").join(id.as_str()))?;
        self.shift(&kept, tree, &session_file(manifest))?;
        self.fs.remove_dir_all(&grave).doing("removing", &grave)
    }

    /// Moves a file or folder, unless that was done before.
    fn shift(&self, from: &Path, to: &Path, what: &Path) -> Result<()> {
        let (from, to) = (from.join(what), to.join(what));
        if optional(self.fs.stat(&from))
            .doing("looking at", &from)?
            .is_none()
        {
            return Ok(());
        }
        if let Some(folder) = to.parent() {
            self.fs.create_dir_all(folder).doing("creating", folder)?;
        }
        self.unsettle(&to);
        self.fs.rename(&from, &to).doing("moving", &from)
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
