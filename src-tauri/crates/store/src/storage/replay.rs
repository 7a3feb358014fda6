//! Recovers the records that killed processes left in their journals.

use std::collections::HashMap;
use std::path::Path;

use lathe_protocol::SessionId;

use super::Storage;
use crate::error::{IoContext, Result, StoreError, optional};
use crate::journal;
use crate::key::Key;
use crate::temp_files;

/// Why the records of a session could not be replayed. `None` stands for a journal whose sessions
/// are not known because it could not be read or closed.
pub(crate) type UnreplayedSessions = HashMap<Option<SessionId>, StoreError>;

impl Storage {
    /// Replays the journals of killed processes and removes their temp files. The caller holds the
    /// store's lock. A failed replay does not fail this call: it blocks only its own sessions,
    /// and is tried again before one of them can be written to.
    pub(crate) fn replay_dead_journals(&self) -> Result<()> {
        let mut unreplayed = UnreplayedSessions::new();
        for log in temp_files::find_dead_logs(&*self.fs, &self.dirs.locks)? {
            let name = format!("{}{}", journal::PREFIX, log.tag);
            let failed = self.replay_journal(&self.dirs.locks.join(name));
            if failed.is_empty() {
                log.clean_up(&*self.fs, &self.dirs.root)?;
            }
            unreplayed.extend(failed);
        }
        if let Some((owner, error)) = unreplayed.iter().next() {
            tracing::error!(?owner, %error, "the journal of a killed process could not be replayed");
            self.health.record_failure(Err::<(), _>(error.clone())).ok();
        }
        *self.unreplayed.lock() = unreplayed;
        Ok(())
    }

    /// Tries again what failed before. The caller holds the store's lock and is about to write.
    pub(crate) fn retry_failed_replays(&self) -> Result<()> {
        if self.unreplayed.lock().is_empty() {
            return Ok(());
        }
        self.replay_dead_journals()
    }

    /// Refuses a session whose newest records are still in the journal of a killed process: a
    /// later replay would undo what is written now.
    pub(crate) fn refuse_unreplayed(&self, session: &SessionId) -> Result<()> {
        let unreplayed = self.unreplayed.lock();
        let failed = unreplayed.get(&Some(session.clone()));
        match failed.or_else(|| unreplayed.get(&None)) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Returns the sessions that could not be replayed.
    fn replay_journal(&self, journal: &Path) -> UnreplayedSessions {
        let mut bytes = Vec::new();
        match optional(self.fs.read(journal, &mut bytes)).doing("reading", journal) {
            Ok(Some(())) => {}
            Ok(None) => return UnreplayedSessions::new(),
            Err(error) => return UnreplayedSessions::from([(None, error)]),
        }
        let mut sessions: HashMap<SessionId, Vec<_>> = HashMap::new();
        for (key, (session, record)) in journal::parse(&bytes) {
            sessions.entry(session).or_default().push((key, record));
        }
        let mut failed = UnreplayedSessions::new();
        let mut replayed = Vec::new();
        for (session, records) in &sessions {
            match self.replay_session(session, records) {
                Ok(()) => replayed.push(session),
                Err(error) => drop(failed.insert(Some(session.clone()), error)),
            }
        }
        let closed = if failed.is_empty() {
            self.fs.remove_file(journal).doing("removing", journal)
        } else {
            // A second replay would undo what is written to these sessions from now on.
            replayed
                .iter()
                .try_for_each(|session| journal::mark_released(&*self.fs, journal, session))
        };
        // Unsynced, the removed journal could come back after a power cut.
        let locks = &self.dirs.locks;
        let closed = closed.and_then(|()| self.fs.sync_dir(locks).doing("syncing", locks));
        if let Err(error) = closed {
            failed.insert(None, error);
        }
        failed
    }

    fn replay_session(
        &self,
        session: &SessionId,
        records: &[(Key, Option<Vec<u8>>)],
    ) -> Result<()> {
        for (key, record) in records {
            let _guard = self.key_locks.write(key);
            match record {
                Some(record) if self.file_equals(key, record)? => {}
                Some(record) => self.replace_file(key, Some(session), record, false)?,
                None => drop(self.remove_file(key)?),
            }
        }
        self.sync_files(records.iter().map(|(key, _)| key), 0)
    }

    /// Most records of a journal are in their files already when a process is killed.
    fn file_equals(&self, key: &Key, record: &[u8]) -> Result<bool> {
        let path = key.file(&self.dirs.tree);
        let mut bytes = Vec::new();
        let found = optional(self.fs.read(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.is_some() && bytes == record)
    }
}
