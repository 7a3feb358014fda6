//! The asynchronous handle of the store.
//!
//! Cheap to clone. Each call runs once on a thread that may block, however many files it touches;
//! [`Storage`] does the work there.

mod in_flight;
mod open;
mod others;
mod records;

use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{IdSource, SessionId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::check::CheckReport;
use crate::error::Result;
use crate::fs::{Disk, Fs};
use crate::health::Health;
use crate::key::Key;
use crate::locks::SessionWriter;
use crate::storage::{Storage, encode};
use in_flight::InFlight;

pub(crate) use open::open_storage;
pub use others::Trace;

#[derive(Clone)]
pub struct Options {
    pub fs: Arc<dyn Fs>,
    /// How long a record may stay in the journal before it is written to its file.
    pub flush_interval: Duration,
    /// How many records the journal may cover before they are moved to their files. A longer one
    /// would take too long to replay.
    pub max_journal_records: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            fs: Arc::new(Disk),
            flush_interval: Duration::from_millis(100),
            max_journal_records: 512,
        }
    }
}

#[derive(Clone)]
pub struct Store {
    storage: Arc<Storage>,
    in_flight: InFlight,
    flush_interval: Duration,
}

impl Store {
    pub async fn read<T>(&self, key: &Key) -> Result<Option<T>>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let key = key.clone();
        self.run(move |storage| storage.read(&key, &mut Vec::new(), Ok))
            .await
    }

    /// The file is replaced when this returns. It survives a kill, and a power cut after the
    /// session's next [`Store::make_durable`].
    pub async fn write<T: Serialize + ?Sized>(&self, key: &Key, value: &T) -> Result<()> {
        self.write_bytes(key, None, encode(value)?, false).await
    }

    /// As [`Store::write`]; survives a power cut when this returns.
    pub async fn write_durable<T: Serialize + ?Sized>(&self, key: &Key, value: &T) -> Result<()> {
        self.write_bytes(key, None, encode(value)?, true).await
    }

    /// Reads, edits and writes a record. Updates of all processes that use this data directory
    /// exclude each other.
    pub async fn update<T, F>(&self, key: &Key, edit: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnOnce(&mut T) + Send + 'static,
    {
        let key = key.clone();
        self.run(move |storage| storage.update(&key, edit)).await
    }

    /// As [`Store::update`] for a record that may not exist yet; survives a power cut when this
    /// returns.
    pub async fn update_or_default<T, F>(&self, key: &Key, edit: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Default + Send + 'static,
        F: FnOnce(&mut T) + Send + 'static,
    {
        let key = key.clone();
        self.run(move |storage| storage.update_or_default(&key, edit))
            .await
    }

    /// False if there was no such record.
    pub async fn remove(&self, key: &Key) -> Result<bool> {
        let key = key.clone();
        self.run(move |storage| storage.remove(&key)).await
    }

    /// Every record below `folder`, for instance `Key::new(["session"])`.
    pub async fn list(&self, folder: &Key) -> Result<Vec<Key>> {
        let folder = folder.clone();
        self.run(move |storage| {
            storage.flush_all().ok();
            storage.list(&folder)
        })
        .await
    }

    /// Everything written for a session survives a power cut when this returns, in its file or in
    /// the journal. To be called at the end of a step and before a tool changes files, by the
    /// caller that holds the session's lock. Fails while the store cannot write.
    pub async fn make_durable(&self, session: &SessionId) -> Result<()> {
        let session = session.clone();
        self.run(move |storage| storage.make_durable(&session))
            .await
    }

    /// As [`Store::make_durable`], and everything is in its file. To be called before the session's
    /// lock is released; otherwise it happens by itself when the session has been idle for a while.
    pub async fn barrier(&self, session: &SessionId) -> Result<()> {
        let session = session.clone();
        self.run(move |storage| storage.barrier(&session)).await
    }

    /// Whether the last write succeeded, to read or to wait for.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.storage.health.subscribe()
    }

    /// Makes ids that sort after every stored one, also after a restart.
    pub fn ids(&self) -> &IdSource {
        &self.storage.ids
    }

    /// The right to write a session. Fails at once if another process or task holds it.
    pub async fn lock_session(&self, session: &SessionId) -> Result<SessionWriter> {
        let key = Key::new(["session", session.as_str()])?;
        let session = session.clone();
        self.run(move |storage| {
            let state = storage.write_state()?;
            let path = storage.session_lock(key.name());
            let what = format!("session {}", key.name());
            let writer = SessionWriter::acquire(&path, what, state.temp_files.tag())?;
            // The process that wrote it last may have been killed.
            let _lock = state.store_lock.acquire()?;
            storage.replay_dead_journals()?;
            storage.refuse_unreplayed(&session)?;
            Ok(writer)
        })
        .await
    }

    pub async fn check(&self) -> Result<CheckReport> {
        self.run(Storage::check).await
    }

    /// Moves damaged records and strays to `quarantine/`.
    pub async fn repair(&self) -> Result<CheckReport> {
        self.run(Storage::repair).await
    }

    async fn write_bytes(
        &self,
        key: &Key,
        owner: Option<SessionId>,
        bytes: Vec<u8>,
        durable: bool,
    ) -> Result<()> {
        let key = key.clone();
        self.run(move |storage| storage.write(&key, owner.as_ref(), &bytes, durable))
            .await
    }

    pub(crate) async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Storage) -> R + Send + 'static,
    ) -> R {
        let storage = self.storage.clone();
        let ticket = self.in_flight.begin();
        run(move || {
            let _ticket = ticket;
            work(&storage)
        })
        .await
    }

    /// Waits for the operations that run now, also for those whose caller has given up.
    pub async fn settled(&self) {
        self.in_flight.settled().await;
    }
}

async fn run<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that shuts down drops blocking work, and then no task is polled.
            Err(_) => std::future::pending().await,
        },
    }
}
