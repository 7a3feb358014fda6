//! Records that are safe in the journal before they are in their files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::SessionId;

use super::pending::Encode;
use super::{Storage, Writing};
use crate::error::{IoContext, Result, optional};
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
        let kept = self.reserve_ids().and_then(|()| {
            let bytes: Arc<[u8]> = bytes.into();
            let record = bytes.clone();
            let encode = Arc::new(move || Ok(record.to_vec()));
            let owner = Some(session.clone());
            writing
                .journal
                .keep(&*self.fs, &key, session, &bytes, || {
                    self.rely_on_journal(session);
                    self.wait(key.clone(), owner, encode, within, true)
                })
                // An earlier value could not be filed; this one is safe all the same.
                .map(|earlier| earlier.ok())
        });
        self.pulse.note(kept).map(drop)
    }

    /// The key's file holds these bytes now, or is gone; the journal must not bring back what
    /// was there before. To be called under the key's lock. `waiting` is what waited for the
    /// file before it changed.
    pub(super) fn supersede(
        &self,
        key: &Key,
        bytes: Option<&[u8]>,
        waiting: Option<&Encode>,
    ) -> Result<()> {
        let journal = &self.writing()?.journal;
        let is_overtaken = || self.is_overtaken(key, waiting);
        let noted = journal.supersede(&*self.fs, key, bytes, is_overtaken);
        self.pulse.note_failure(noted)
    }

    /// After everything of the session was brought to the disk. Whatever came in meanwhile
    /// keeps the journal as it is.
    pub(super) fn settle(&self, session: &SessionId) -> Result<()> {
        let is_ahead = || self.any_kept_waits(session) || self.owed.is_any(session);
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
    /// store's lock.
    pub(crate) fn bury_the_dead(&self) -> Result<()> {
        for log in scratch::of_the_dead(&*self.fs, &self.places.locks)? {
            let journal = self
                .places
                .locks
                .join(format!("{}{}", journal::PREFIX, log.tag));
            self.play_back(&journal)?;
            log.sweep(&*self.fs, &self.places.root)?;
        }
        Ok(())
    }

    fn play_back(&self, journal: &Path) -> Result<()> {
        let mut bytes = Vec::new();
        let found = optional(self.fs.read(journal, &mut bytes)).doing("reading", journal)?;
        if found.is_none() {
            return Ok(());
        }
        let left = journal::left(&bytes);
        for (key, (session, record)) in &left {
            let _guard = self.locks.write(key);
            match record {
                Some(record) if self.holds(key, record)? => {}
                Some(record) => self.replace(key, Some(session), record, false)?,
                None => drop(self.take_away(key)?),
            }
        }
        self.sync(left.keys(), 0)?;
        self.fs.remove_file(journal).doing("removing", journal)?;
        // One that came back after a power cut would undo what is written from now on.
        let locks = &self.places.locks;
        self.fs.sync_dir(locks).doing("syncing", locks)
    }
}

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
