//! Reads and writes sessions and projects.
//!
//! A project's id can change (a repository gets its first commit). A session is therefore
//! looked for in every project's folder; where it was last found is only a hint.

use std::collections::HashMap;

use lathe_protocol::{Millis, Project, ProjectId, Session, SessionId};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::key::{Key, segment};
use crate::listing::Listing;
use crate::parallel;
use crate::storage::{Storage, encode};
use crate::validate;

impl Storage {
    pub(crate) fn all_sessions(&self) -> Result<Listing<Session>> {
        let mut keys = Vec::new();
        for project in self.session_folders()? {
            keys.extend(self.session_keys(&project)?);
        }
        let mut listing = self.read_sessions(&keys)?;
        drop_stale_copies(&mut listing.items);
        Ok(listing)
    }

    pub(crate) fn sessions(&self, project: &ProjectId) -> Result<Listing<Session>> {
        self.read_sessions(&self.session_keys(project)?)
    }

    pub(crate) fn session(&self, id: &SessionId) -> Result<Option<Session>> {
        match self.session_key(id)? {
            Some(key) => self.read_session(&key, &mut Vec::new()),
            None => Ok(None),
        }
    }

    /// The current key of a session's record.
    pub(crate) fn session_key(&self, id: &SessionId) -> Result<Option<Key>> {
        segment(id.as_str())?;
        let hint = self.session_projects.lock().get(id).cloned();
        if let Some(project) = hint
            && let Some(key) = self.session_key_in(&project, id)?
        {
            return Ok(Some(key));
        }
        for project in self.session_folders()? {
            if let Some(key) = self.session_key_in(&project, id)? {
                self.session_projects.lock().insert(id.clone(), project);
                return Ok(Some(key));
            }
        }
        self.session_projects.lock().remove(id);
        Ok(None)
    }

    fn session_key_in(&self, project: &ProjectId, id: &SessionId) -> Result<Option<Key>> {
        let key = Key::session(project, id)?;
        let path = key.file(&self.dirs.tree);
        let found = optional(self.fs.metadata(&path)).doing("looking at", &path)?;
        Ok(found.map(|_| key))
    }

    /// Writes the new record before it removes one in another project's folder.
    pub(crate) fn write_session(&self, session: &Session) -> Result<()> {
        let key = Key::session(&session.project_id, &session.id)?;
        let before = self.session_key(&session.id)?;
        self.write(&key, Some(&session.id), &encode(session)?, false)?;
        self.session_projects
            .lock()
            .insert(session.id.clone(), session.project_id.clone());
        match before {
            Some(old) if old != key => self.remove(&old).map(drop),
            _ => Ok(()),
        }
    }

    pub(crate) fn update_session(
        &self,
        id: &SessionId,
        edit: impl FnOnce(&mut Session),
    ) -> Result<Session> {
        let _lock = self.write_state()?.store_lock.acquire()?;
        let key = self.session_key(id)?;
        let missing = || -> Result<StoreError> {
            Ok(StoreError::Missing(Key::new(["session", id.as_str()])?))
        };
        let Some(key) = key else {
            return Err(missing()?);
        };
        self.flush(&key)?;
        let Some(mut session) = self.read_session(&key, &mut Vec::new())? else {
            return Err(missing()?);
        };
        edit(&mut session);
        self.write_session(&session)?;
        Ok(session)
    }

    pub(crate) fn projects(&self) -> Result<Listing<Project>> {
        let mut listing = Listing::default();
        let mut buffer = Vec::new();
        for key in self.list(&Key::new(["project"])?)? {
            let read = self.read(&key, &mut buffer, |project| {
                validate::check_project(&key, project)
            });
            listing.add(&key, read)?;
        }
        Ok(listing)
    }

    pub(crate) fn project(&self, id: &ProjectId) -> Result<Option<Project>> {
        let key = Key::project(id)?;
        self.read(&key, &mut Vec::new(), |project| {
            validate::check_project(&key, project)
        })
    }

    pub(crate) fn session_folders(&self) -> Result<Vec<ProjectId>> {
        let path = self.dirs.tree.join("session");
        let entries = optional(self.fs.read_dir(&path)).doing("listing", &path)?;
        let folders = entries
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.is_dir);
        Ok(folders
            .filter_map(|entry| ProjectId::parse(entry.name.to_str()?).ok())
            .collect())
    }

    pub(crate) fn session_keys(&self, project: &ProjectId) -> Result<Vec<Key>> {
        let folder = Key::new(["session", project.as_str()])?;
        let names = self.record_names(&folder.folder(&self.dirs.tree))?;
        names.iter().map(|name| Ok(folder.child(name)?)).collect()
    }

    fn read_sessions(&self, keys: &[Key]) -> Result<Listing<Session>> {
        let mut listing = Listing::default();
        let read = parallel::map(keys, |key, buffer| self.read_session(key, buffer));
        for (key, read) in keys.iter().zip(read) {
            listing.add(key, read)?;
        }
        Ok(listing)
    }

    fn read_session(&self, key: &Key, buffer: &mut Vec<u8>) -> Result<Option<Session>> {
        self.read(key, buffer, |value| validate::to_session(key, value))
    }
}

/// A kill during a move to another project leaves two records; the one that was updated last is
/// the session.
fn drop_stale_copies(sessions: &mut Vec<Session>) {
    let mut newest: HashMap<SessionId, Millis> = HashMap::with_capacity(sessions.len());
    for session in &*sessions {
        let updated = newest
            .entry(session.id.clone())
            .or_insert(session.time.updated);
        *updated = session.time.updated.max(*updated);
    }
    sessions.retain(|session| match newest.get(&session.id) {
        Some(updated) if *updated == session.time.updated => newest.remove(&session.id).is_some(),
        _ => false,
    });
}
