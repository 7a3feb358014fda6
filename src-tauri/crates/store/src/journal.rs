//! What is safe from a kill before it is in its file.
//!
//! A record that changes several times within a step is appended here each time and put into
//! its file once; the files of a step are many, and making each of them anew is dear. Every
//! process has a journal of its own, named like its scratch log: that of a dead process is
//! played back by whoever finds it.
//!
//! An entry is a line of JSON and begins with the line break. What a full disk cut off in the
//! middle is therefore a line of its own, and no line that can be read.
//!
//! A journal that is synced is as good as all the files it speaks for: that is what makes a
//! step safe from a power cut with one trip to the disk.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lathe_protocol::SessionId;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::fs::Fs;
use crate::key::Key;

pub(crate) const PREFIX: &str = "journal-";

pub(crate) struct Journal {
    path: PathBuf,
    /// The keys whose newest entry counts, with the session they belong to.
    open: Mutex<Open>,
    /// What is on the disk of it. Held while it is brought there.
    synced: Mutex<Synced>,
    /// It changed since it was last brought to the disk.
    is_ahead: AtomicBool,
}

#[derive(Default)]
struct Synced {
    /// The disk knows the file itself.
    is_placed: bool,
}

type Open = HashMap<Key, SessionId>;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    Kept {
        key: String,
        session: SessionId,
        record: String,
    },
    /// The file is what counts from now on.
    Filed { key: String },
    /// So it is for every record of a session.
    Settled { session: SessionId },
}

impl Journal {
    pub(crate) fn new(locks: &Path, tag: &str) -> Self {
        Journal {
            path: locks.join(format!("{PREFIX}{tag}")),
            open: Mutex::default(),
            synced: Mutex::default(),
            is_ahead: AtomicBool::new(false),
        }
    }

    /// `then` runs before anybody else can write here.
    pub(crate) fn keep<T>(
        &self,
        fs: &dyn Fs,
        key: &Key,
        session: &SessionId,
        bytes: &[u8],
        then: impl FnOnce() -> T,
    ) -> Result<T> {
        let record = std::str::from_utf8(bytes).unwrap_or_default().to_owned();
        let entry = Entry::Kept {
            key: key.to_string(),
            session: session.clone(),
            record,
        };
        let mut open = self.open.lock();
        self.append(fs, &entry)?;
        open.insert(key.clone(), session.clone());
        Ok(then())
    }

    /// The file of this key holds something newer, or is gone.
    pub(crate) fn filed(&self, fs: &dyn Fs, key: &Key) -> Result<()> {
        let mut open = self.open.lock();
        if open.contains_key(key) {
            let key = key.to_string();
            self.append(fs, &Entry::Filed { key })?;
        }
        open.remove(key);
        Ok(())
    }

    /// Every record of the session is in its file, unless `waits` says that one came in
    /// meanwhile. A journal without anything that counts is emptied.
    pub(crate) fn settle(
        &self,
        fs: &dyn Fs,
        session: &SessionId,
        waits: impl FnOnce() -> bool,
    ) -> Result<()> {
        let mut open = self.open.lock();
        if !open.values().any(|owner| owner == session) || waits() {
            return Ok(());
        }
        if open.values().all(|owner| owner == session) {
            let emptied = optional(fs.truncate(&self.path));
            emptied.doing("emptying", &self.path)?;
            // On the disk it is still full, and would undo what the files will say.
            self.is_ahead.store(true, Ordering::Release);
        } else {
            let session = session.clone();
            self.append(fs, &Entry::Settled { session })?;
        }
        open.retain(|_, owner| owner != session);
        Ok(())
    }

    /// Every entry so far survives a power cut when this returns.
    pub(crate) fn sync(&self, fs: &dyn Fs) -> Result<()> {
        let mut synced = self.synced.lock();
        if !self.is_ahead.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let done = self.bring_to_disk(fs, &mut synced);
        if done.is_err() {
            self.is_ahead.store(true, Ordering::Release);
        }
        done
    }

    fn bring_to_disk(&self, fs: &dyn Fs, synced: &mut Synced) -> Result<()> {
        optional(fs.sync_file(&self.path)).doing("syncing", &self.path)?;
        if let (false, Some(folder)) = (synced.is_placed, self.path.parent()) {
            fs.sync_dir(folder).doing("syncing", folder)?;
            synced.is_placed = true;
        }
        Ok(())
    }

    /// The newest entry of this key counts.
    pub(crate) fn covers(&self, key: &Key) -> bool {
        self.open.lock().contains_key(key)
    }

    /// How many records a playback would bring into their files.
    pub(crate) fn len(&self) -> usize {
        self.open.lock().len()
    }

    /// Whose records are in it.
    pub(crate) fn sessions(&self) -> HashSet<SessionId> {
        self.open.lock().values().cloned().collect()
    }

    /// For a process that ends with everything in its files.
    pub(crate) fn discard(&self, fs: &dyn Fs) -> bool {
        optional(fs.remove_file(&self.path)).is_ok()
    }

    fn append(&self, fs: &dyn Fs, entry: &Entry) -> Result<()> {
        let mut line = b"\n".to_vec();
        serde_json::to_writer(&mut line, entry)
            .map_err(|error| StoreError::Encode(error.into()))?;
        let done = fs.append(&self.path, &line).doing("noting in", &self.path);
        self.is_ahead.store(true, Ordering::Release);
        done
    }
}

/// What a dead process kept and did not bring into its files.
pub(crate) fn left(bytes: &[u8]) -> HashMap<Key, (SessionId, Vec<u8>)> {
    let mut left: HashMap<Key, (SessionId, Vec<u8>)> = HashMap::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Entry::Kept {
                key,
                session,
                record,
            }) => {
                if let Ok(key) = Key::new(key.split('/')) {
                    left.insert(key, (session, record.into_bytes()));
                }
            }
            Ok(Entry::Filed { key }) => {
                if let Ok(key) = Key::new(key.split('/')) {
                    left.remove(&key);
                }
            }
            Ok(Entry::Settled { session }) => left.retain(|_, (owner, _)| *owner != session),
            Err(_) => {}
        }
    }
    left
}
