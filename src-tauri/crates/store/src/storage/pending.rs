//! Records that are in the journal and wait to be written to their files.
//!
//! The newest value of a key waits here for at most the flush interval, so that a record that
//! changes many times a second costs one file write per interval. A read is answered from here;
//! a write or a removal of the key takes the place of the pending value. A value is taken out
//! only under its key's lock, so that an old one never overwrites a newer one. One that cannot
//! be written stays and is tried again.

use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::SessionId;
use tokio::time::Instant;

use super::Storage;
use crate::error::Result;
use crate::key::Key;

const RETRY_AFTER: Duration = Duration::from_millis(500);

pub(super) type Bytes = Arc<[u8]>;

pub(crate) struct Pending {
    bytes: Bytes,
    session: SessionId,
    due: Instant,
}

impl Storage {
    /// The record survives a kill when this returns, and is written to its file within the
    /// interval.
    pub(crate) fn journal_write(
        &self,
        key: Key,
        session: &SessionId,
        bytes: Vec<u8>,
        within: Duration,
    ) -> Result<()> {
        let journal = &self.write_state()?.journal;
        let bytes: Bytes = bytes.into();
        let written = self.reserve_ids().and_then(|()| {
            journal.write(&*self.fs, &key, session, &bytes, || {
                self.note_journaled(session);
                self.add_pending(key.clone(), session, bytes.clone(), within);
            })
        });
        self.health.record(written)
    }

    fn add_pending(&self, key: Key, session: &SessionId, bytes: Bytes, within: Duration) {
        let mut pending = self.pending.lock();
        match pending.get_mut(&key) {
            // The due time stays, so that a value that never stops changing is written too.
            Some(waiting) => waiting.bytes = bytes,
            None => {
                let value = Pending {
                    bytes,
                    session: session.clone(),
                    due: Instant::now() + within,
                };
                pending.insert(key, value);
                self.flush_wake.notify_one();
            }
        }
    }

    /// To be called under the key's lock, before its file is given these bytes or removed: the
    /// journal must not restore what was there before. `pending` is the value that was pending
    /// when the lock was taken.
    pub(super) fn supersede_journal(
        &self,
        key: &Key,
        bytes: Option<&[u8]>,
        pending: Option<&Bytes>,
    ) -> Result<()> {
        let journal = &self.write_state()?.journal;
        let has_newer = || self.has_newer_pending(key, pending);
        let superseded = journal.supersede(&*self.fs, key, bytes, has_newer);
        self.health.record_failure(superseded)
    }

    /// Writes the key's pending value to its file, if there is one.
    pub(crate) fn flush(&self, key: &Key) -> Result<()> {
        if !self.has_pending(key) {
            return Ok(());
        }
        let _guard = self.key_locks.write(key);
        let Some((bytes, session)) = self
            .pending
            .lock()
            .get(key)
            .map(|waiting| (waiting.bytes.clone(), waiting.session.clone()))
        else {
            return Ok(());
        };
        let written = self.replace_file(key, Some(&session), &bytes, false);
        match &written {
            Ok(()) => self.remove_pending(key, Some(&bytes)),
            Err(_) => {
                if let Some(waiting) = self.pending.lock().get_mut(key) {
                    waiting.due = Instant::now() + RETRY_AFTER;
                }
            }
        }
        written
    }

    pub(super) fn pending_bytes(&self, key: &Key) -> Option<Bytes> {
        let pending = self.pending.lock();
        pending.get(key).map(|waiting| waiting.bytes.clone())
    }

    /// The keys right below a folder that have a pending value.
    pub(crate) fn pending_in(&self, folder: &Key) -> Vec<Key> {
        let pending = self.pending.lock();
        let keys = pending.keys().filter(|key| key.parent() == folder.as_str());
        keys.cloned().collect()
    }

    /// Removes the pending value if it is still `bytes`; a newer one stays.
    pub(super) fn remove_pending(&self, key: &Key, bytes: Option<&Bytes>) {
        let mut pending = self.pending.lock();
        if pending.get(key).is_some_and(|waiting| waiting.is(bytes)) {
            pending.remove(key);
        }
    }

    pub(super) fn has_pending(&self, key: &Key) -> bool {
        self.pending.lock().contains_key(key)
    }

    pub(super) fn has_pending_of(&self, session: &SessionId) -> bool {
        let pending = self.pending.lock();
        pending.values().any(|waiting| waiting.session == *session)
    }

    /// Whether another value than `bytes` is pending.
    fn has_newer_pending(&self, key: &Key, bytes: Option<&Bytes>) -> bool {
        let pending = self.pending.lock();
        pending.get(key).is_some_and(|waiting| !waiting.is(bytes))
    }

    pub(crate) fn flush_session(&self, session: &SessionId) -> Result<()> {
        self.flush_where(|waiting| waiting.session == *session)
    }

    pub(crate) fn flush_due(&self, now: Instant) -> Result<()> {
        let flushed = self.flush_where(|waiting| waiting.due <= now);
        self.shrink_journal(now).and(flushed)
    }

    pub(crate) fn flush_all(&self) -> Result<()> {
        self.flush_where(|_| true)
    }

    /// When [`Storage::flush_due`] has something to do next.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let flush = {
            let pending = self.pending.lock();
            pending.values().map(|waiting| waiting.due).min()
        };
        flush.into_iter().chain(self.next_idle_session()).min()
    }

    /// Drops what is pending and journaled of a session that is being removed.
    pub(crate) fn discard_session(&self, session: &SessionId) -> Result<()> {
        self.pending
            .lock()
            .retain(|_, waiting| waiting.session != *session);
        self.release_journal_unless(session, || false)
    }

    /// A failure of one value does not stop the others from being written.
    fn flush_where(&self, is_wanted: impl Fn(&Pending) -> bool) -> Result<()> {
        let keys: Vec<Key> = {
            let pending = self.pending.lock();
            pending
                .iter()
                .filter(|(_, waiting)| is_wanted(waiting))
                .map(|(key, _)| key.clone())
                .collect()
        };
        let mut outcome = Ok(());
        for key in keys {
            if let Err(error) = self.flush(&key) {
                outcome = Err(error);
            }
        }
        outcome
    }
}

impl Pending {
    /// Compares the allocation: equal bytes may have been written again since.
    fn is(&self, bytes: Option<&Bytes>) -> bool {
        bytes.is_some_and(|bytes| Arc::ptr_eq(bytes, &self.bytes))
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let journaled: Vec<_> = self.journaled_sessions.lock().keys().cloned().collect();
        let written = self.flush_all().and_then(|()| {
            let mut sessions = journaled.iter();
            sessions.try_for_each(|session| self.barrier(session))
        });
        if let Some(state) = &self.write_state {
            state.close(&*self.fs, written.is_ok());
        }
        if let Err(error) = written {
            tracing::error!(%error, "the last records of a session could not be written");
        }
        self.flush_wake.notify_one();
    }
}
