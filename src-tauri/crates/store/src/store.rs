//! The handle that the rest of the program holds.
//!
//! Cheap to clone. Each call is one trip to a thread that may block, however many files it
//! touches; what happens there is [`Storage`]'s business.

mod open;
mod records;

use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{IdSource, SessionId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::check::Report;
use crate::error::Result;
use crate::fs::{Disk, Fs};
use crate::health::Health;
use crate::key::Key;
use crate::locks::SessionWriter;
use crate::storage::{Storage, encode};

pub(crate) use open::begin;

#[derive(Clone)]
pub struct Options {
    pub fs: Arc<dyn Fs>,
    /// How long a record may stay in the journal before it is written to its file.
    pub soon: Duration,
    /// How many records the journal may hold before they are brought into their files: more
    /// would keep whoever plays it back waiting.
    pub journal: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            fs: Arc::new(Disk),
            soon: Duration::from_millis(100),
            journal: 512,
        }
    }
}

#[derive(Clone)]
pub struct Store {
    storage: Arc<Storage>,
    soon: Duration,
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

    /// The file is replaced when this returns; it survives a kill, and after the session's
    /// next [`Store::barrier`] a power cut.
    pub async fn write<T: Serialize + ?Sized>(&self, key: &Key, value: &T) -> Result<()> {
        self.put(key, None, encode(value)?, false).await
    }

    /// On the disk when this returns.
    pub async fn write_durable<T: Serialize + ?Sized>(&self, key: &Key, value: &T) -> Result<()> {
        self.put(key, None, encode(value)?, true).await
    }

    /// Atomic among all processes that use this data directory.
    pub async fn update<T, F>(&self, key: &Key, edit: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnOnce(&mut T) + Send + 'static,
    {
        let key = key.clone();
        self.run(move |storage| storage.update(&key, None, edit))
            .await
    }

    /// An edit of a record that may be new; on the disk when this returns.
    pub async fn update_or_new<T, F>(&self, key: &Key, edit: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Default + Send + 'static,
        F: FnOnce(&mut T) + Send + 'static,
    {
        let key = key.clone();
        self.run(move |storage| storage.update_or_new(&key, edit))
            .await
    }

    /// False if there was nothing.
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

    /// Everything written for a session survives a power cut when this returns: to be called
    /// where a step ends and before a tool changes files, by whoever holds the session. It
    /// fails while the store cannot write.
    pub async fn secure(&self, session: &SessionId) -> Result<()> {
        let session = session.clone();
        self.run(move |storage| storage.secure(&session)).await
    }

    /// As [`Store::secure`], and all of it is in its files: to be called before a session is
    /// given up. Without it that happens by itself a while after the last step.
    pub async fn barrier(&self, session: &SessionId) -> Result<()> {
        let session = session.clone();
        self.run(move |storage| storage.barrier(&session)).await
    }

    /// Whether the last write succeeded, to look at or to wait on.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.storage.pulse.subscribe()
    }

    /// Makes ids that stay ahead of every stored one, also after a restart.
    pub fn ids(&self) -> &IdSource {
        &self.storage.ids
    }

    /// The right to write a session. Refused at once when another holds it.
    pub async fn lock_session(&self, session: &SessionId) -> Result<SessionWriter> {
        let key = Key::new(["session", session.as_str()])?;
        let session = session.clone();
        self.run(move |storage| {
            storage.writing()?;
            let path = storage.places.locks.join(format!("session-{}", key.name()));
            let writer = SessionWriter::acquire(&path, format!("session {}", key.name()))?;
            // Whoever wrote it last may have been killed.
            let _alone = storage.writing()?.shared.acquire()?;
            storage.bury_the_dead()?;
            storage.refuse_restless(&session)?;
            Ok(writer)
        })
        .await
    }

    pub async fn check(&self) -> Result<Report> {
        self.run(Storage::check).await
    }

    /// Moves damaged records and strays to `quarantine/`.
    pub async fn repair(&self) -> Result<Report> {
        self.run(Storage::repair).await
    }

    async fn put(
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
        run(move || work(&storage)).await
    }
}

async fn run<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that shuts down drops blocking work; nobody awaits us then.
            Err(_) => std::future::pending().await,
        },
    }
}
