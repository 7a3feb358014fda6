//! Records that are safe in the journal before they are in their files.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use lathe_protocol::SessionId;

use super::pending::Bytes;
use super::{Storage, Writing};
use crate::error::{IoContext, Result, StoreError, optional};
use crate::fs::Fs;
use crate::journal;
use crate::key::Key;
use crate::scratch;

impl Storage {
    /// Survives a kill when this returns, and is in its file within the interval.
    pub(crate) fn keep(
        &self,
        key: Key,
        session: &SessionId,
        bytes: Vec<u8>,
        within: Duration,
    ) -> Result<()> {
        let writing = self.writing()?;
        let bytes: Bytes = bytes.into();
        let kept = self.reserve_ids().and_then(|()| {
            let journal = &writing.journal;
            journal.keep(&*self.fs, &key, session, &bytes, || {
                self.rely_on_journal(session);
                self.add_pending(key.clone(), session.clone(), bytes.clone(), within);
            })
        });
        self.pulse.note(kept)
    }

    /// The key's file is about to hold these bytes, or to go; the journal must not bring back
    /// what was there before. To be called under the key's lock. `waiting` is what waits for
    /// the file until then.
    pub(super) fn supersede(
        &self,
        key: &Key,
        bytes: Option<&[u8]>,
        waiting: Option<&Bytes>,
    ) -> Result<()> {
        let journal = &self.writing()?.journal;
        let is_overtaken = || self.has_newer_pending(key, waiting);
        let noted = journal.supersede(&*self.fs, key, bytes, is_overtaken);
        self.pulse.note_failure(noted)
    }

    /// After everything of the session was brought to the disk. Whatever came in meanwhile
    /// keeps the journal as it is.
    pub(super) fn settle(&self, session: &SessionId) -> Result<()> {
        let is_ahead = || self.has_pending_of(session) || self.owed.is_any(session);
        self.settle_unless(session, is_ahead)
    }

    /// For a session that is going away: nothing of it is to be brought into its files.
    pub(crate) fn give_up(&self, session: &SessionId) -> Result<()> {
        self.forget_pending(session);
        self.settle_unless(session, || false)
    }

    fn settle_unless(&self, session: &SessionId, is_ahead: impl FnOnce() -> bool) -> Result<()> {
        let journal = &self.writing()?.journal;
        journal.settle(&*self.fs, session, is_ahead, || {
            self.relying.lock().remove(session);
        })
    }

    /// Cleans up after killed processes and plays back what they kept. The caller holds the
    /// store's lock. Where that fails the store opens all the same: what could not be played
    /// back is tried again before anybody may write to its session.
    pub(crate) fn bury_the_dead(&self) -> Result<()> {
        let mut restless = Restless::new();
        for log in scratch::of_the_dead(&*self.fs, &self.places.locks)? {
            let name = format!("{}{}", journal::PREFIX, log.tag);
            let left = self.play_back(&self.places.locks.join(name));
            if left.is_empty() {
                log.sweep(&*self.fs, &self.places.root)?;
            }
            restless.extend(left);
        }
        if let Some((owner, error)) = restless.iter().next() {
            tracing::error!(?owner, %error, "what a killed process kept could not be filed yet");
            self.pulse.note_failure(Err::<(), _>(error.clone())).ok();
        }
        *self.restless.lock() = restless;
        Ok(())
    }

    /// Once more, for whoever is about to write and holds the store's lock.
    pub(crate) fn bury_the_restless(&self) -> Result<()> {
        if self.restless.lock().is_empty() {
            return Ok(());
        }
        self.bury_the_dead()
    }

    /// Refuses a session whose newest records still lie in a dead process's journal: playing
    /// them back later would undo what is written now.
    pub(crate) fn refuse_restless(&self, session: &SessionId) -> Result<()> {
        let restless = self.restless.lock();
        let failed = restless.get(&Some(session.clone()));
        match failed.or_else(|| restless.get(&None)) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// What could not be played back, and why; of no session if none can be told.
    fn play_back(&self, journal: &Path) -> Restless {
        let mut bytes = Vec::new();
        match optional(self.fs.read(journal, &mut bytes)).doing("reading", journal) {
            Ok(Some(())) => {}
            Ok(None) => return Restless::new(),
            Err(error) => return Restless::from([(None, error)]),
        }
        let mut sessions: HashMap<SessionId, Vec<_>> = HashMap::new();
        for (key, (session, record)) in journal::left(&bytes) {
            sessions.entry(session).or_default().push((key, record));
        }
        let mut failed = Restless::new();
        let mut filed = Vec::new();
        for (session, records) in &sessions {
            match self.play_back_session(session, records) {
                Ok(()) => filed.push(session),
                Err(error) => drop(failed.insert(Some(session.clone()), error)),
            }
        }
        let closed = if failed.is_empty() {
            self.fs.remove_file(journal).doing("removing", journal)
        } else {
            // Those that are in their files must not be played back a second time.
            filed
                .iter()
                .try_for_each(|session| journal::note_settled(&*self.fs, journal, session))
        };
        // One that came back after a power cut would undo what is written from now on.
        let locks = &self.places.locks;
        let closed = closed.and_then(|()| self.fs.sync_dir(locks).doing("syncing", locks));
        if let Err(error) = closed {
            failed.insert(None, error);
        }
        failed
    }

    fn play_back_session(
        &self,
        session: &SessionId,
        records: &[(Key, Option<Vec<u8>>)],
    ) -> Result<()> {
        for (key, record) in records {
            let _guard = self.locks.write(key);
            match record {
                Some(record) if self.holds(key, record)? => {}
                Some(record) => self.replace(key, Some(session), record, false)?,
                None => drop(self.take_away(key)?),
            }
        }
        self.sync(records.iter().map(|(key, _)| key), 0)
    }
}

/// Whose records wait in journals of dead processes.
pub(crate) type Restless = HashMap<Option<SessionId>, StoreError>;

impl Storage {
    /// Most of a journal has reached the files when its process is killed.
    fn holds(&self, key: &Key, record: &[u8]) -> Result<bool> {
        let path = key.file(&self.places.tree);
        let mut bytes = Vec::new();
        let found = optional(self.fs.read(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.is_some() && bytes == record)
    }
}

impl Writing {
    /// What could not be filed is left to whoever comes next.
    pub(super) fn end(&self, fs: &dyn Fs, is_filed: bool) {
        if !is_filed || !self.journal.discard(fs) {
            self.scratch.leave_behind();
        }
    }
}
