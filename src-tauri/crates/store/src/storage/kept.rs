//! Records that are safe in the journal before they are in their files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::SessionId;

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
                    self.wait(key.clone(), owner, encode, within, true)
                })
                // An earlier value could not be filed; this one is safe all the same.
                .map(|earlier| earlier.ok())
        });
        self.pulse.note(kept).map(drop)
    }

    /// After everything of the session was brought into its files.
    pub(crate) fn settle(&self, session: &SessionId) -> Result<()> {
        let journal = &self.writing()?.journal;
        journal.settle(&*self.fs, session, || self.any_waits(session))
    }

    /// A journal that says no more than the files do would one day undo what others wrote.
    pub(crate) fn settle_all(&self) -> Result<()> {
        let journal = &self.writing()?.journal;
        let mut sessions = journal.sessions();
        sessions.retain(|session| !self.relies_on_journal(session));
        let settled = sessions.iter().try_for_each(|session| self.settle(session));
        self.pulse.note_failure(settled)
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
            if !self.holds(key, record)? {
                self.replace(key, Some(session), record, false)?;
            }
        }
        self.sync(&left.into_keys().collect())?;
        self.fs.remove_file(journal).doing("removing", journal)
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
