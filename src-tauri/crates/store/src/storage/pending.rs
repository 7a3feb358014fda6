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

const RETRY: Duration = Duration::from_millis(500);

pub(super) type Bytes = Arc<[u8]>;

pub(crate) struct Pending {
    bytes: Bytes,
    session: SessionId,
    due: Instant,
}

impl Storage {
    pub(super) fn add_pending(&self, key: Key, session: SessionId, bytes: Bytes, within: Duration) {
        let mut pending = self.pending.lock();
        match pending.get_mut(&key) {
            // The time it is due stays, so that a value that never stops changing is written.
            Some(waiting) => waiting.bytes = bytes,
            None => {
                let due = Instant::now() + within;
                pending.insert(
                    key,
                    Pending {
                        bytes,
                        session,
                        due,
                    },
                );
                self.wake.notify_one();
            }
        }
    }

    /// Writes the key's pending value to its file, if there is one.
    pub(crate) fn flush(&self, key: &Key) -> Result<()> {
        if !self.pending.lock().contains_key(key) {
            return Ok(());
        }
        let _guard = self.locks.write(key);
        let Some((bytes, session)) = self
            .pending
            .lock()
            .get(key)
            .map(|waiting| (waiting.bytes.clone(), waiting.session.clone()))
        else {
            return Ok(());
        };
        let written = self.replace(key, Some(&session), &bytes, false);
        match &written {
            Ok(()) => self.remove_pending(key, Some(&bytes)),
            Err(_) => {
                if let Some(waiting) = self.pending.lock().get_mut(key) {
                    waiting.due = Instant::now() + RETRY;
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
        let is_same =
            |waiting: &Pending| bytes.is_some_and(|bytes| Arc::ptr_eq(bytes, &waiting.bytes));
        if pending.get(key).is_some_and(is_same) {
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

    /// Whether a value newer than `bytes` is pending.
    pub(super) fn has_newer_pending(&self, key: &Key, bytes: Option<&Bytes>) -> bool {
        let pending = self.pending.lock();
        pending
            .get(key)
            .is_some_and(|waiting| !bytes.is_some_and(|bytes| Arc::ptr_eq(bytes, &waiting.bytes)))
    }

    pub(crate) fn flush_session(&self, session: &SessionId) -> Result<()> {
        self.flush_where(|waiting| waiting.session == *session)
    }

    pub(crate) fn flush_due(&self, now: Instant) -> Result<()> {
        let flushed = self.flush_where(|waiting| waiting.due <= now);
        self.relieve_journal(now).and(flushed)
    }

    pub(crate) fn flush_all(&self) -> Result<()> {
        self.flush_where(|_| true)
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        let waiting = {
            let pending = self.pending.lock();
            pending.values().map(|waiting| waiting.due).min()
        };
        waiting.into_iter().chain(self.next_relief()).min()
    }

    /// Drops what waits for a session: it is going away.
    pub(crate) fn forget_pending(&self, session: &SessionId) {
        self.pending
            .lock()
            .retain(|_, waiting| waiting.session != *session);
    }

    /// One that fails does not keep the others from being written.
    fn flush_where(&self, wanted: impl Fn(&Pending) -> bool) -> Result<()> {
        let keys: Vec<Key> = {
            let pending = self.pending.lock();
            pending
                .iter()
                .filter(|(_, waiting)| wanted(waiting))
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

impl Drop for Storage {
    fn drop(&mut self) {
        let relied: Vec<_> = self.relying.lock().keys().cloned().collect();
        let written = self
            .flush_all()
            .and_then(|()| relied.iter().try_for_each(|session| self.barrier(session)));
        if let Some(writing) = &self.writing {
            writing.end(&*self.fs, written.is_ok());
        }
        if let Err(error) = written {
            tracing::error!(%error, "the last words of a session could not be written");
        }
        self.wake.notify_one();
    }
}
