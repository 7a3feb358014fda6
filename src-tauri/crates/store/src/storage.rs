//! Keys to JSON files, one blocking call at a time.
//!
//! A file is only ever replaced as a whole: a temp file beside it, then a rename. If what it held
//! before is no valid record, those bytes are copied to quarantine first. Nothing here knows what
//! the records mean; [`crate::validate`] does.

mod pending;
mod replay;
mod sync;
mod unsynced;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use lathe_protocol::{IdSource, ProjectId, SessionId};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::atomic_file::{self, Sync, folder_of};
use crate::error::{Damaged, IoContext, Result, StoreError, optional};
use crate::fs::{DirEntry, Fs, Metadata};
use crate::health::HealthTracker;
use crate::journal::Journal;
use crate::json_format;
use crate::key::{Key, segment};
use crate::locks::{StoreLock, StripedLocks};
use crate::parallel;
use crate::temp_files::TempFiles;
use crate::validate;

pub(crate) use pending::Pending;

/// How many entries the caches of this module may have.
const MAX_REMEMBERED: usize = 4096;

pub(crate) struct Storage {
    pub(crate) dirs: DataDirs,
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) health: HealthTracker,
    pub(crate) ids: IdSource,
    /// No record is stored with an id beyond this; see [`crate::id_floor`].
    pub(crate) reserved_ids: AtomicU64,
    /// The project under which each session was last found.
    pub(crate) session_projects: Mutex<HashMap<SessionId, ProjectId>>,
    /// None if the store is read-only.
    pub(crate) write_state: Option<WriteState>,
    key_locks: StripedLocks<Key>,
    /// Held for reading while a file in the folder changes, for writing while the folder is
    /// synced. Taken after the key's lock.
    folder_locks: StripedLocks<Path>,
    /// The files as this process last wrote them.
    last_written: Mutex<HashMap<Key, Metadata>>,
    pending: Mutex<HashMap<Key, Pending>>,
    /// Wakes the flush task when something becomes due earlier than it knows.
    pub(crate) flush_wake: Arc<Notify>,
    unsynced: unsynced::UnsyncedFiles,
    /// The sessions that the journal covers, and when each last wrote to it.
    journaled_sessions: Mutex<HashMap<SessionId, Instant>>,
    /// When the journal was last found too long.
    last_compaction: Mutex<Option<Instant>>,
    unreplayed: Mutex<replay::UnreplayedSessions>,
    /// Folders whose own names are known to be on the disk.
    synced_folders: Mutex<HashSet<PathBuf>>,
}

/// What only a store that writes has.
pub(crate) struct WriteState {
    pub(crate) temp_files: TempFiles,
    pub(crate) journal: Journal,
    pub(crate) store_lock: StoreLock,
}

impl WriteState {
    /// If records could not be written to their files, the journal is left to the next process.
    fn close(&self, fs: &dyn Fs, is_flushed: bool) {
        if !is_flushed || !self.journal.discard(fs) {
            self.temp_files.leave_to_next_process();
        }
    }
}

/// The folders of a data directory.
#[derive(Debug, Clone)]
pub(crate) struct DataDirs {
    pub(crate) root: PathBuf,
    /// The records.
    pub(crate) tree: PathBuf,
    pub(crate) locks: PathBuf,
    pub(crate) quarantine: PathBuf,
    pub(crate) trash: PathBuf,
    pub(crate) index: PathBuf,
    pub(crate) migrated: PathBuf,
}

impl DataDirs {
    pub(crate) fn below(root: &Path) -> Self {
        DataDirs {
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
        dirs: DataDirs,
        fs: Arc<dyn Fs>,
        write_state: Option<WriteState>,
        ids: IdSource,
    ) -> Self {
        Storage {
            dirs,
            fs,
            health: HealthTracker::new(),
            reserved_ids: AtomicU64::new(ids.floor().0),
            ids,
            session_projects: Mutex::default(),
            write_state,
            key_locks: StripedLocks::new(),
            folder_locks: StripedLocks::new(),
            last_written: Mutex::default(),
            pending: Mutex::default(),
            flush_wake: Arc::default(),
            unsynced: unsynced::UnsyncedFiles::default(),
            journaled_sessions: Mutex::default(),
            last_compaction: Mutex::default(),
            unreplayed: Mutex::default(),
            synced_folders: Mutex::default(),
        }
    }

    pub(crate) fn write_state(&self) -> Result<&WriteState> {
        self.write_state.as_ref().ok_or(StoreError::ReadOnly)
    }

    /// Reads a record, pending or from its file, and passes it to `check`. Bytes that are no valid
    /// record are quarantined and reported as [`Damaged`].
    pub(crate) fn read<T: DeserializeOwned, R>(
        &self,
        key: &Key,
        buffer: &mut Vec<u8>,
        check: impl FnOnce(T) -> Result<R, String>,
    ) -> Result<Option<R>> {
        if !self.read_bytes(key, buffer)? {
            return Ok(None);
        }
        let record = json_format::from_bytes(buffer).map_err(|error| error.to_string());
        match record.and_then(check) {
            Ok(record) => Ok(Some(record)),
            Err(reason) => {
                if let Err(error) = self.quarantine(key, buffer) {
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

    /// False if there is no such record.
    fn read_bytes(&self, key: &Key, into: &mut Vec<u8>) -> Result<bool> {
        if let Some(bytes) = self.pending_bytes(key) {
            into.clear();
            into.extend_from_slice(&bytes);
            return Ok(true);
        }
        let path = key.file(&self.dirs.tree);
        let _guard = self.key_locks.read(key);
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
        let journal = &self.write_state()?.journal;
        let _guard = self.key_locks.write(key);
        let pending = self.pending_bytes(key);
        // The journal first: a replay without this entry would restore the old record.
        self.supersede_journal(key, Some(bytes), pending.as_ref())?;
        self.replace_file(key, owner, bytes, durable)?;
        self.remove_pending(key, pending.as_ref());
        if durable {
            let synced = self.sync_set(&self.unsynced.select_record(key));
            self.health
                .record(synced.and_then(|()| journal.sync(&*self.fs)))?;
        }
        Ok(())
    }

    /// Reads, edits and writes a record while no other process can update it.
    pub(crate) fn update<T: Serialize + DeserializeOwned>(
        &self,
        key: &Key,
        edit: impl FnOnce(&mut T),
    ) -> Result<T> {
        let _lock = self.write_state()?.store_lock.acquire()?;
        self.retry_failed_replays()?;
        self.flush(key)?;
        let mut record: T = self
            .read(key, &mut Vec::new(), Ok)?
            .ok_or_else(|| StoreError::Missing(key.clone()))?;
        edit(&mut record);
        self.write(key, None, &encode(&record)?, false)?;
        Ok(record)
    }

    /// As [`Storage::update`] for a record that may not exist yet; durable when this returns.
    pub(crate) fn update_or_default<T: Serialize + DeserializeOwned + Default>(
        &self,
        key: &Key,
        edit: impl FnOnce(&mut T),
    ) -> Result<T> {
        let _lock = self.write_state()?.store_lock.acquire()?;
        self.flush(key)?;
        let found = self.read(key, &mut Vec::new(), Ok)?;
        let mut record: T = found.unwrap_or_default();
        edit(&mut record);
        self.write(key, None, &encode(&record)?, true)?;
        Ok(record)
    }

    pub(crate) fn remove(&self, key: &Key) -> Result<bool> {
        self.write_state()?;
        let _guard = self.key_locks.write(key);
        let pending = self.pending_bytes(key);
        self.supersede_journal(key, None, pending.as_ref())?;
        let removed = self.remove_file(key)?;
        self.remove_pending(key, pending.as_ref());
        Ok(removed || pending.is_some())
    }

    /// False if there was no file. The caller holds the key's lock.
    fn remove_file(&self, key: &Key) -> Result<bool> {
        self.last_written.lock().remove(key);
        let path = key.file(&self.dirs.tree);
        self.quarantine_if_damaged(key, &path)?;
        let removed = self.change_file(key, &path, None, || {
            optional(self.fs.remove_file(&path)).doing("removing", &path)
        });
        Ok(self.health.record(removed)?.is_some())
    }

    /// Every record below a folder, in no particular order.
    pub(crate) fn list(&self, folder: &Key) -> Result<Vec<Key>> {
        let (mut found, folders) = self.list_folder(folder)?;
        for below in parallel::map(&folders, |folder, _| self.list(folder)) {
            found.extend(below?);
        }
        Ok(found)
    }

    fn list_folder(&self, folder: &Key) -> Result<(Vec<Key>, Vec<Key>)> {
        let path = folder.folder(&self.dirs.tree);
        let entries = optional(self.fs.read_dir(&path)).doing("listing", &path)?;
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
    pub(crate) fn record_names(&self, folder: &Path) -> Result<Vec<String>> {
        let entries = optional(self.fs.read_dir(folder)).doing("listing", folder)?;
        Ok(entries
            .unwrap_or_default()
            .into_iter()
            .filter_map(|entry| record_name(&entry))
            .collect())
    }

    /// The caller holds the key's lock.
    fn replace_file(
        &self,
        key: &Key,
        owner: Option<&SessionId>,
        bytes: &[u8],
        durable: bool,
    ) -> Result<()> {
        let path = key.file(&self.dirs.tree);
        let write = || self.write_atomically(&path, bytes, durable);
        let written = self
            .reserve_ids()
            .and_then(|()| self.quarantine_if_damaged(key, &path))
            .and_then(|()| self.change_file(key, &path, owner, write));
        let metadata = self.health.record(written)?;
        let mut last_written = self.last_written.lock();
        if last_written.len() >= MAX_REMEMBERED {
            last_written.clear();
        }
        last_written.insert(key.clone(), metadata);
        Ok(())
    }

    /// Changes a file and counts it as unsynced. The folder's lock keeps a sync of the folder from
    /// coming between the two.
    fn change_file<T>(
        &self,
        key: &Key,
        path: &Path,
        owner: Option<&SessionId>,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.unsynced.begin_write(key, owner);
        let _folder = self.folder_locks.read(folder_of(path));
        let changed = change();
        self.unsynced.end_write(key);
        changed
    }

    /// Atomically replaces any file below the root.
    pub(crate) fn write_atomically(
        &self,
        path: &Path,
        bytes: &[u8],
        durable: bool,
    ) -> Result<Metadata> {
        let temp_files = &self.write_state()?.temp_files;
        let folder = folder_of(path);
        let temp = temp_files.new_name_in(folder)?;
        let sync = match durable {
            true => Sync::BytesAndName,
            false => Sync::Nothing,
        };
        let written = self.create_temp(&temp, folder, bytes).and_then(|metadata| {
            atomic_file::replace(&*self.fs, &temp, path, sync)?;
            Ok(metadata)
        });
        if written.is_err() {
            temp_files.discard(&*self.fs, &temp);
        }
        written
    }

    /// Creates the folder only if it turns out to be missing.
    fn create_temp(&self, temp: &Path, folder: &Path, bytes: &[u8]) -> Result<Metadata> {
        if let Some(metadata) = optional(self.fs.create(temp, bytes)).doing("writing", temp)? {
            return Ok(metadata);
        }
        self.forget_synced_folder(folder);
        self.fs.create_dir_all(folder).doing("creating", folder)?;
        self.fs.create(temp, bytes).doing("writing", temp)
    }

    /// Checks a file that is about to be replaced or removed, unless this process wrote it and it
    /// has not changed since.
    fn quarantine_if_damaged(&self, key: &Key, path: &Path) -> Result<()> {
        let Some(metadata) = optional(self.fs.metadata(path)).doing("looking at", path)? else {
            return Ok(());
        };
        if self.last_written.lock().get(key) == Some(&metadata) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.fs.read(path, &mut bytes).doing("reading", path)?;
        match validate::bytes(key, &bytes) {
            Ok(()) => Ok(()),
            Err(_) => self.quarantine(key, &bytes),
        }
    }

    /// Copies damaged bytes. The same bytes of the same key are copied once.
    pub(crate) fn quarantine(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        let name = format!("{}.{:016x}.bad", key, validate::fingerprint(bytes));
        let path = self.dirs.quarantine.join(name);
        match optional(self.fs.metadata(&path)).doing("looking at", &path)? {
            Some(_) => Ok(()),
            None => self.write_atomically(&path, bytes, true).map(drop),
        }
    }
}

pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    json_format::to_bytes(value).map_err(|error| StoreError::Encode(error.into()))
}

/// The id in a file name, if the file can be a record.
pub(crate) fn record_name(entry: &DirEntry) -> Option<String> {
    let name = entry.name.to_str()?.strip_suffix(".json")?;
    (!entry.is_dir && segment(name).is_ok()).then(|| name.to_owned())
}
