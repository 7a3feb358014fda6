//! Values that stream in faster than they need to be on disk.
//!
//! The newest value of a key waits here for at most the interval; whoever writes, reads or
//! removes the key meanwhile settles it. A value is taken out only under its key's lock, so
//! an old one can never overwrite a newer one. One that cannot be written stays and is tried
//! again: it is the only copy.

use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::SessionId;
use tokio::time::Instant;

use super::Storage;
use crate::error::{Result, StoreError};
use crate::key::Key;

const RETRY: Duration = Duration::from_millis(500);

type Encode = Arc<dyn Fn() -> Result<Vec<u8>> + Send + Sync>;

pub(crate) struct Pending {
    encode: Encode,
    owner: Option<SessionId>,
    due: Instant,
    failed: Option<StoreError>,
}

impl Storage {
    /// Takes the value in any case; tells of an earlier one that could not be written.
    pub(crate) fn write_soon(
        &self,
        key: Key,
        owner: Option<SessionId>,
        encode: Encode,
        within: Duration,
    ) -> Result<()> {
        self.writing()?;
        let mut pending = self.pending.lock();
        match pending.get_mut(&key) {
            Some(waiting) => {
                waiting.encode = encode;
                waiting.failed.take().map_or(Ok(()), Err)
            }
            None => {
                let due = Instant::now() + within;
                pending.insert(
                    key,
                    Pending {
                        encode,
                        owner,
                        due,
                        failed: None,
                    },
                );
                self.wake.notify_one();
                Ok(())
            }
        }
    }

    /// Writes the key's waiting value, if there is one.
    pub(crate) fn flush(&self, key: &Key) -> Result<()> {
        if !self.pending.lock().contains_key(key) {
            return Ok(());
        }
        let _guard = self.locks.write(key);
        let Some(mut taken) = self.pending.lock().remove(key) else {
            return Ok(());
        };
        let written = (taken.encode)()
            .and_then(|bytes| self.replace(key, taken.owner.as_ref(), &bytes, false));
        if let Err(error) = &written {
            taken.failed = Some(error.clone());
            taken.due = Instant::now() + RETRY;
            let mut pending = self.pending.lock();
            // A newer value may have come in meanwhile; it inherits the bad news.
            let waiting = pending.entry(key.clone()).or_insert(taken);
            waiting.failed = Some(error.clone());
        }
        written
    }

    /// Writes what waits for a session, and what belongs to no session that we know of.
    pub(crate) fn flush_session(&self, session: &SessionId) -> Result<()> {
        let mine = |waiting: &Pending| waiting.owner.as_ref().is_none_or(|owner| owner == session);
        self.flush_where(mine)
    }

    pub(crate) fn flush_due(&self, now: Instant) -> Result<()> {
        self.flush_where(|waiting| waiting.due <= now)
    }

    pub(crate) fn flush_all(&self) -> Result<()> {
        self.flush_where(|_| true)
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.pending
            .lock()
            .values()
            .map(|waiting| waiting.due)
            .min()
    }

    /// Drops what waits for a session: it is going away.
    pub(crate) fn forget_pending(&self, session: &SessionId) {
        self.pending
            .lock()
            .retain(|_, waiting| waiting.owner.as_ref() != Some(session));
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
        if let Err(error) = self.flush_all() {
            tracing::error!(%error, "the last words of a session could not be written");
        }
        self.wake.notify_one();
    }
}
