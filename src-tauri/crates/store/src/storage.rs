//! Keys to JSON files, one blocking step at a time.
//!
//! A file is only ever replaced whole: a new file beside it, then a rename. What a file held
//! before is either a good record or is kept in quarantine first. Nothing here knows what the
//! records mean; [`crate::damage`] does.

mod kept;
mod owed;
mod pending;
mod sync;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use lathe_protocol::{IdSource, ProjectId, SessionId};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::damage;
use crate::error::{Damaged, IoContext, Result, StoreError, optional};
use crate::fs::{Fs, Stamp};
use crate::health::Pulse;
use crate::journal::Journal;
use crate::key::{Key, segment};
use crate::locks::{Locks, SharedLock};
use crate::parallel;
use crate::scratch::Scratch;
use crate::spelling;

pub(crate) use pending::Pending;

/// Files whose state after our own last write is remembered; the rest is looked at again.
const REMEMBERED: usize = 4096;

pub(crate) struct Storage {
    pub(crate) places: Places,
    pub(crate) fs: std::sync::Arc<dyn Fs>,
    pub(crate) pulse: Pulse,
    pub(crate) ids: IdSource,
    /// No record is stored with an id beyond this; see [`crate::floor`].
    pub(crate) reserved: AtomicU64,
    /// Where each session's record was last found.
    pub(crate) homes: Mutex<HashMap<SessionId, ProjectId>>,
    /// None where the store is read-only.
    pub(crate) writing: Option<Writing>,
    locks: Locks<Key>,
    /// Many may change a folder at once, and nobody while it is synced. Taken after a key's
    /// lock, if both are.
    folders: Locks<Path>,
    known: Mutex<HashMap<Key, Stamp>>,
    pending: Mutex<HashMap<Key, Pending>>,
    pub(crate) wake: std::sync::Arc<tokio::sync::Notify>,
    owed: owed::Owed,
    /// Sessions that rely on the journal until their files are on the disk, and when they last
    /// put something there.
    relying: Mutex<HashMap<SessionId, Instant>>,
    /// When the journal was last found too long.
    shortened: Mutex<Option<Instant>>,
    restless: Mutex<kept::Restless>,
    /// Folders that are known to be on the disk themselves.
    settled: Mutex<HashSet<PathBuf>>,
}

/// What only a store that writes has.
pub(crate) struct Writing {
    pub(crate) scratch: Scratch,
    pub(crate) journal: Journal,
    pub(crate) shared: SharedLock,
}

/// The folders of a data directory.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) root: PathBuf,
    pub(crate) tree: PathBuf,
    pub(crate) locks: PathBuf,
    pub(crate) quarantine: PathBuf,
    pub(crate) trash: PathBuf,
    pub(crate) index: PathBuf,
    pub(crate) migrated: PathBuf,
}

impl Places {
    pub(crate) fn below(root: &Path) -> Self {
        Places {
            root: root.to_owned(),
            tree: root.join("storage"),
            locks: root.join("locks"),
            quarantine: root.join("quarantine"),
            trash: root.join("trash"),
            index: root.join("index"),
            migrated: root.join("migrated"),
        }
    }
}

impl Storage {
    pub(crate) fn new(
        places: Places,
        fs: std::sync::Arc<dyn Fs>,
        writing: Option<Writing>,
        ids: IdSource,
    ) -> Self {
        Storage {
            places,
            fs,
            pulse: Pulse::new(),
            reserved: AtomicU64::new(ids.floor().0),
            ids,
            homes: Mutex::default(),
            writing,
            locks: Locks::new(),
            folders: Locks::new(),
            known: Mutex::default(),
            pending: Mutex::default(),
            wake: std::sync::Arc::default(),
            owed: owed::Owed::default(),
            relying: Mutex::default(),
            shortened: Mutex::default(),
            restless: Mutex::default(),
            settled: Mutex::default(),
        }
    }

    pub(crate) fn writing(&self) -> Result<&Writing> {
        self.writing.as_ref().ok_or(StoreError::ReadOnly)
    }

    /// Reads a record that must also pass `check`, in its file or while it waits for it. A
    /// record that is there but no record is an error of its own kind, and its bytes are kept.
    pub(crate) fn read<T: DeserializeOwned, R>(
        &self,
        key: &Key,
        buffer: &mut Vec<u8>,
        check: impl FnOnce(T) -> Result<R, String>,
    ) -> Result<Option<R>> {
        if !self.fetch(key, buffer)? {
            return Ok(None);
        }
        let record = spelling::from_bytes(buffer).map_err(|error| error.to_string());
        match record.and_then(check) {
            Ok(record) => Ok(Some(record)),
            Err(reason) => {
                if let Err(error) = self.keep_aside(key, buffer) {
                    tracing::warn!(%key, %error, "damaged bytes could not be copied yet");
                }
                Err(Damaged {
                    key: key.clone(),
                    reason,
                }
                .into())
            }
        }
    }

    /// False if there is nothing.
    fn fetch(&self, key: &Key, into: &mut Vec<u8>) -> Result<bool> {
        if let Some(bytes) = self.pending_bytes(key) {
            into.clear();
            into.extend_from_slice(&bytes);
            return Ok(true);
        }
        let path = key.file(&self.places.tree);
        let _guard = self.locks.read(key);
        let found = optional(self.fs.read(&path, into)).doing("reading", &path)?;
        Ok(found.is_some())
    }

    pub(crate) fn write(
        &self,
        key: &Key,
        owner: Option<&SessionId>,
        bytes: &[u8],
        durable: bool,
    ) -> Result<()> {
        let journal = &self.writing()?.journal;
        let _guard = self.locks.write(key);
        let waiting = self.pending_bytes(key);
        // First the journal: if it could not be told, it would bring back what was there before.
        self.supersede(key, Some(bytes), waiting.as_ref())?;
        self.replace(key, owner, bytes, durable)?;
        self.remove_pending(key, waiting.as_ref());
        if durable {
            let synced = self.pay(&self.owed.for_record(key));
            self.pulse
                .note(synced.and_then(|()| journal.sync(&*self.fs)))?;
        }
        Ok(())
    }

    /// Read, change, write: nobody of any process comes between.
    pub(crate) fn update<T: Serialize + DeserializeOwned>(
        &self,
        key: &Key,
        owner: Option<&SessionId>,
        edit: impl FnOnce(&mut T),
    ) -> Result<T> {
        let _shared = self.writing()?.shared.acquire()?;
        self.bury_the_restless()?;
        self.flush(key)?;
        let mut record: T = self
            .read(key, &mut Vec::new(), Ok)?
            .ok_or_else(|| StoreError::Missing(key.clone()))?;
        edit(&mut record);
        self.write(key, owner, &encode(&record)?, false)?;
        Ok(record)
    }

    /// The same on the disk when it returns, and for a record that need not be there yet.
    pub(crate) fn update_or_new<T: Serialize + DeserializeOwned + Default>(
        &self,
        key: &Key,
        edit: impl FnOnce(&mut T),
    ) -> Result<T> {
        let _shared = self.writing()?.shared.acquire()?;
        self.flush(key)?;
        let known = self.read(key, &mut Vec::new(), Ok)?;
        let mut record: T = known.unwrap_or_default();
        edit(&mut record);
        self.write(key, None, &encode(&record)?, true)?;
        Ok(record)
    }

    pub(crate) fn remove(&self, key: &Key) -> Result<bool> {
        self.writing()?;
        let _guard = self.locks.write(key);
        let waiting = self.pending_bytes(key);
        self.supersede(key, None, waiting.as_ref())?;
        let removed = self.take_away(key)?;
        self.remove_pending(key, waiting.as_ref());
        Ok(removed || waiting.is_some())
    }

    /// The key's lock is held by the caller.
    fn take_away(&self, key: &Key) -> Result<bool> {
        self.known.lock().remove(key);
        let path = key.file(&self.places.tree);
        self.keep_if_damaged(key, &path)?;
        let removed = self.change(key, &path, None, || {
            optional(self.fs.remove_file(&path)).doing("removing", &path)
        });
        Ok(self.pulse.note(removed)?.is_some())
    }

    /// Every record below a folder, in no order that means anything.
    pub(crate) fn list(&self, folder: &Key) -> Result<Vec<Key>> {
        let (mut found, folders) = self.list_one(folder)?;
        for below in parallel::map(&folders, |folder, _| self.list(folder)) {
            found.extend(below?);
        }
        Ok(found)
    }

    fn list_one(&self, folder: &Key) -> Result<(Vec<Key>, Vec<Key>)> {
        let path = folder.folder(&self.places.tree);
        let entries = optional(self.fs.entries(&path)).doing("listing", &path)?;
        let (mut records, mut folders) = (Vec::new(), Vec::new());
        for entry in entries.unwrap_or_default() {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            if entry.is_dir {
                folders.extend(folder.child(name));
            } else if let Some(name) = name.strip_suffix(".json") {
                records.extend(folder.child(name));
            }
        }
        Ok((records, folders))
    }

    /// The names of the records right below a folder.
    pub(crate) fn names(&self, folder: &Path) -> Result<Vec<String>> {
        let entries = optional(self.fs.entries(folder)).doing("listing", folder)?;
        Ok(entries
            .unwrap_or_default()
            .into_iter()
            .filter_map(|entry| record_name(&entry))
            .collect())
    }

    /// Writes beside, then renames over. The key's lock is held by the caller.
    fn replace(
        &self,
        key: &Key,
        owner: Option<&SessionId>,
        bytes: &[u8],
        durable: bool,
    ) -> Result<()> {
        let path = key.file(&self.places.tree);
        let done = self
            .reserve_ids()
            .and_then(|()| self.keep_if_damaged(key, &path))
            .and_then(|()| self.change(key, &path, owner, || self.put(&path, bytes, durable)));
        let stamp = self.pulse.note(done)?;
        let mut known = self.known.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key.clone(), stamp);
        Ok(())
    }

    /// Whoever syncs the folder sees the file changed and owed, or neither.
    fn change<T>(
        &self,
        key: &Key,
        path: &Path,
        owner: Option<&SessionId>,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.owed.begin(key, owner);
        let _folder = self.folders.read(folder_of(path));
        let changed = change();
        self.owed.written(key);
        changed
    }

    /// An atomic replace of any file below the root.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8], durable: bool) -> Result<Stamp> {
        let folder = folder_of(path);
        let scratch = &self.writing()?.scratch;
        let temp = scratch.name_in(folder)?;
        let made = self.make(&temp, folder, bytes).and_then(|stamp| {
            if durable {
                self.fs.sync_file(&temp).doing("syncing", &temp)?;
            }
            self.fs.rename(&temp, path).doing("replacing", path)?;
            if durable {
                self.fs.sync_dir(folder).doing("syncing", folder)?;
            }
            Ok(stamp)
        });
        if made.is_err() {
            // After the rename there is nothing to remove, before it there may be.
            scratch.discard(&*self.fs, &temp);
        }
        made
    }

    fn make(&self, temp: &Path, folder: &Path, bytes: &[u8]) -> Result<Stamp> {
        if let Some(stamp) = optional(self.fs.create(temp, bytes)).doing("writing", temp)? {
            return Ok(stamp);
        }
        self.unsettle(folder);
        self.fs.create_dir_all(folder).doing("creating", folder)?;
        self.fs.create(temp, bytes).doing("writing", temp)
    }

    /// Looks at what is about to be overwritten or removed, unless we wrote it ourselves and
    /// it has not changed since.
    fn keep_if_damaged(&self, key: &Key, path: &Path) -> Result<()> {
        let Some(stamp) = optional(self.fs.stat(path)).doing("looking at", path)? else {
            return Ok(());
        };
        if self.known.lock().get(key) == Some(&stamp) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.fs.read(path, &mut bytes).doing("reading", path)?;
        match damage::inspect(key, &bytes) {
            Ok(()) => Ok(()),
            Err(_) => self.keep_aside(key, &bytes),
        }
    }

    /// The same bytes of the same key are kept once.
    pub(crate) fn keep_aside(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        let name = format!("{}.{:016x}.bad", key, damage::fingerprint(bytes));
        let path = self.places.quarantine.join(name);
        match optional(self.fs.stat(&path)).doing("looking at", &path)? {
            Some(_) => Ok(()),
            None => self.put(&path, bytes, true).map(drop),
        }
    }
}

pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    spelling::to_bytes(value).map_err(|error| StoreError::Encode(error.into()))
}

/// Every file of ours lies in a folder.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// The id in a file name, if the file is one of ours to read.
pub(crate) fn record_name(entry: &crate::fs::Entry) -> Option<String> {
    let name = entry.name.to_str()?.strip_suffix(".json")?;
    (!entry.is_dir && segment(name).is_ok()).then(|| name.to_owned())
}
