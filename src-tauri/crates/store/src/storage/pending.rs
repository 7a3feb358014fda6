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

pub(super) type Encode = Arc<dyn Fn() -> Result<Vec<u8>> + Send + Sync>;

pub(crate) struct Pending {
    encode: Encode,
    owner: Option<SessionId>,
    kept: Kept,
    due: Instant,
    failed: Option<StoreError>,
}

/// What the journal knows of a waiting value.
#[derive(Clone, Copy, PartialEq)]
enum Kept {
    No,
    Yes,
    /// Not of this one, but of one before it that is not in its file either.
    Earlier,
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
        self.wait(key, owner, encode, within, false)
    }

    pub(super) fn wait(
        &self,
        key: Key,
        owner: Option<SessionId>,
        encode: Encode,
        within: Duration,
        is_kept: bool,
    ) -> Result<()> {
        let mut pending = self.pending.lock();
        match pending.get_mut(&key) {
            Some(waiting) => {
                waiting.encode = encode;
                waiting.kept = match waiting.kept {
                    _ if is_kept => Kept::Yes,
                    Kept::No => Kept::No,
                    Kept::Yes | Kept::Earlier => Kept::Earlier,
                };
                waiting.failed.take().map_or(Ok(()), Err)
            }
            None => {
                let due = Instant::now() + within;
                let kept = if is_kept { Kept::Yes } else { Kept::No };
                pending.insert(
                    key,
                    Pending {
                        encode,
                        owner,
                        kept,
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
        let Some((encode, owner, kept)) = self
            .pending
            .lock()
            .get(key)
            .map(|waiting| (waiting.encode.clone(), waiting.owner.clone(), waiting.kept))
        else {
            return Ok(());
        };
        let written = encode().and_then(|bytes| {
            self.replace(key, owner.as_ref(), &bytes, false)?;
            match kept {
                Kept::Yes => Ok(()),
                Kept::No | Kept::Earlier => self.supersede(key, Some(&bytes), Some(&encode)),
            }
        });
        match written {
            // Not before the journal knows: whoever secures the session waits for it till then.
            Ok(()) => {
                self.done(key, Some(&encode));
                Ok(())
            }
            Err(error) => {
                // A newer value may have come in meanwhile; it inherits the bad news.
                if let Some(waiting) = self.pending.lock().get_mut(key) {
                    waiting.due = Instant::now() + RETRY;
                    waiting.failed = Some(error.clone());
                }
                Err(error)
            }
        }
    }

    /// What waits for a key's file now.
    pub(super) fn waiting(&self, key: &Key) -> Option<Encode> {
        let pending = self.pending.lock();
        pending.get(key).map(|waiting| waiting.encode.clone())
    }

    /// The records of a folder that wait for their files.
    pub(crate) fn waiting_in(&self, folder: &Key) -> Vec<Key> {
        let pending = self.pending.lock();
        let keys = pending.keys().filter(|key| key.parent() == folder.as_str());
        keys.cloned().collect()
    }

    /// This value waits no more; a newer one does.
    pub(super) fn done(&self, key: &Key, value: Option<&Encode>) {
        let mut pending = self.pending.lock();
        let is_same =
            |waiting: &Pending| value.is_some_and(|value| Arc::ptr_eq(value, &waiting.encode));
        if pending.get(key).is_some_and(is_same) {
            pending.remove(key);
        }
    }

    /// The journal holds something that is not in its file.
    pub(super) fn any_kept_waits(&self, session: &SessionId) -> bool {
        let pending = self.pending.lock();
        pending
            .values()
            .any(|waiting| waiting.kept != Kept::No && waiting.owner.as_ref() == Some(session))
    }

    /// The journal holds something of this key that is not in its file.
    pub(super) fn is_kept_waiting(&self, key: &Key) -> bool {
        let pending = self.pending.lock();
        pending
            .get(key)
            .is_some_and(|waiting| waiting.kept != Kept::No)
    }

    /// The journal holds something that came in after `value` waited.
    pub(super) fn is_overtaken(&self, key: &Key, value: Option<&Encode>) -> bool {
        let pending = self.pending.lock();
        pending.get(key).is_some_and(|waiting| {
            let is_same = value.is_some_and(|value| Arc::ptr_eq(value, &waiting.encode));
            waiting.kept != Kept::No && !is_same
        })
    }

    /// Writes what waits for a session, and what belongs to no session that we know of.
    pub(crate) fn flush_session(&self, session: &SessionId) -> Result<()> {
        let mine = |waiting: &Pending| waiting.owner.as_ref().is_none_or(|owner| owner == session);
        self.flush_where(mine)
    }

    /// As [`Storage::flush_session`], but for what the journal holds.
    pub(crate) fn flush_unkept(&self, session: &SessionId) -> Result<()> {
        let mine = |waiting: &Pending| waiting.owner.as_ref().is_none_or(|owner| owner == session);
        self.flush_where(|waiting| waiting.kept != Kept::Yes && mine(waiting))
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
