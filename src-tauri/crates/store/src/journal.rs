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
//! step safe from a power cut with one trip to the disk. It speaks for a record from when that
//! was first kept until the session's files are on the disk; whatever is written in between,
//! by whatever way, is noted here, too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::SessionId;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::fs::Fs;
use crate::key::Key;

pub(crate) const PREFIX: &str = "journal-";

/// A text that streams in is here as often as it was saved.
const MOST_BYTES: usize = 16 << 20;

pub(crate) struct Journal {
    path: PathBuf,
    /// See [`crate::Options::journal`].
    most_records: usize,
    open: Mutex<Open>,
    /// Held while it is brought to the disk.
    synced: Mutex<Synced>,
}

#[derive(Default)]
struct Open {
    /// The keys whose newest entry counts, with the session they belong to.
    keys: HashMap<Key, SessionId>,
    bytes: usize,
    /// It changed since it was last brought to the disk.
    is_ahead: bool,
}

#[derive(Default)]
struct Synced {
    /// The disk knows the file itself.
    is_placed: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    Kept {
        key: String,
        session: SessionId,
        record: String,
    },
    Removed {
        key: String,
        session: SessionId,
    },
    /// Every file of a session is what counts from now on.
    Settled {
        session: SessionId,
    },
}

impl Journal {
    pub(crate) fn new(locks: &Path, tag: &str, most_records: usize) -> Self {
        Journal {
            path: locks.join(format!("{PREFIX}{tag}")),
            most_records,
            open: Mutex::default(),
            synced: Mutex::default(),
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
        let mut open = self.open.lock();
        self.append(fs, &mut open, &entry(key, session, Some(bytes)))?;
        open.keys.insert(key.clone(), session.clone());
        Ok(then())
    }

    /// The file of this key was given something newer, or was removed. The disk may not know
    /// yet, so that an entry that only said so could outlive the file in a power cut. Nothing
    /// is noted where `is_overtaken` says that something newer still was kept meanwhile.
    pub(crate) fn supersede(
        &self,
        fs: &dyn Fs,
        key: &Key,
        bytes: Option<&[u8]>,
        is_overtaken: impl FnOnce() -> bool,
    ) -> Result<()> {
        let mut open = self.open.lock();
        match open.keys.get(key).cloned() {
            Some(session) if !is_overtaken() => {
                self.append(fs, &mut open, &entry(key, &session, bytes))
            }
            _ => Ok(()),
        }
    }

    /// The files of the session are what counts, unless `is_ahead` says that they hold less.
    /// A journal without anything that counts is emptied. `then` runs before anybody else can
    /// write here.
    pub(crate) fn settle(
        &self,
        fs: &dyn Fs,
        session: &SessionId,
        is_ahead: impl FnOnce() -> bool,
        then: impl FnOnce(),
    ) -> Result<()> {
        let mut open = self.open.lock();
        if !open.keys.values().any(|owner| owner == session) || is_ahead() {
            return Ok(());
        }
        if open.keys.values().all(|owner| owner == session) {
            let emptied = optional(fs.truncate(&self.path));
            emptied.doing("emptying", &self.path)?;
            // On the disk it is still full, and would undo what the files will say.
            open.is_ahead = true;
            open.bytes = 0;
        } else {
            let session = session.clone();
            self.append(fs, &mut open, &Entry::Settled { session })?;
        }
        open.keys.retain(|_, owner| owner != session);
        then();
        Ok(())
    }

    /// Written anew with the newest record of each key that is still needed, where it would
    /// grow without end: a session that is never quiet is never settled. Of the others the
    /// files are on the disk. `temp` is a name beside it that nobody uses.
    pub(crate) fn shorten(
        &self,
        fs: &dyn Fs,
        temp: &Path,
        is_needed: impl Fn(&Key) -> bool,
    ) -> Result<()> {
        let mut synced = self.synced.lock();
        let mut open = self.open.lock();
        let mut bytes = Vec::new();
        let read = optional(fs.read(&self.path, &mut bytes));
        if read.doing("reading", &self.path)?.is_none() {
            return Ok(());
        }
        let mut lines = Vec::new();
        let mut keys = HashMap::new();
        for (key, (session, record)) in left(&bytes) {
            if open.keys.contains_key(&key) && is_needed(&key) {
                lines.extend(line(&entry(&key, &session, record.as_deref()))?);
                keys.insert(key, session);
            }
        }
        fs.create(temp, &lines).doing("writing", temp)?;
        fs.sync_file(temp).doing("syncing", temp)?;
        fs.rename(temp, &self.path).doing("replacing", &self.path)?;
        // Until its folder is synced, the old one may come back and undo what the files say.
        synced.is_placed = false;
        *open = Open {
            keys,
            bytes: lines.len(),
            is_ahead: true,
        };
        Ok(())
    }

    /// Every entry so far survives a power cut when this returns.
    pub(crate) fn sync(&self, fs: &dyn Fs) -> Result<()> {
        let mut synced = self.synced.lock();
        if !std::mem::take(&mut self.open.lock().is_ahead) {
            return Ok(());
        }
        let done = self.bring_to_disk(fs, &mut synced);
        if done.is_err() {
            self.open.lock().is_ahead = true;
        }
        done
    }

    fn bring_to_disk(&self, fs: &dyn Fs, synced: &mut Synced) -> Result<()> {
        let found = optional(fs.sync_file(&self.path)).doing("syncing", &self.path)?;
        // What the disk refused to make is not placed by syncing the folder.
        if found.is_none() {
            return Ok(());
        }
        if let (false, Some(folder)) = (synced.is_placed, self.path.parent()) {
            fs.sync_dir(folder).doing("syncing", folder)?;
            synced.is_placed = true;
        }
        Ok(())
    }

    /// The newest entry of this key counts.
    pub(crate) fn covers(&self, key: &Key) -> bool {
        self.open.lock().keys.contains_key(key)
    }

    pub(crate) fn is_long(&self) -> bool {
        let open = self.open.lock();
        open.keys.len() > self.most_records || open.bytes > MOST_BYTES
    }

    /// For a process that ends with everything in its files.
    pub(crate) fn discard(&self, fs: &dyn Fs) -> bool {
        optional(fs.remove_file(&self.path)).is_ok()
    }

    fn append(&self, fs: &dyn Fs, open: &mut Open, entry: &Entry) -> Result<()> {
        let line = line(entry)?;
        let done = fs.append(&self.path, &line).doing("noting in", &self.path);
        open.is_ahead = true;
        open.bytes += line.len();
        done
    }
}

/// Begins with its line break: whatever was torn before it ends there.
fn line(entry: &Entry) -> Result<Vec<u8>> {
    let mut line = b"\n".to_vec();
    serde_json::to_writer(&mut line, entry).map_err(|error| StoreError::Encode(error.into()))?;
    Ok(line)
}

/// Nothing of the session counts any more in the journal of a dead process.
pub(crate) fn note_settled(fs: &dyn Fs, journal: &Path, session: &SessionId) -> Result<()> {
    let session = session.clone();
    let line = line(&Entry::Settled { session })?;
    fs.append(journal, &line).doing("noting in", journal)?;
    fs.sync_file(journal).doing("syncing", journal)
}

fn entry(key: &Key, session: &SessionId, bytes: Option<&[u8]>) -> Entry {
    let (key, session) = (key.to_string(), session.clone());
    match bytes {
        Some(bytes) => Entry::Kept {
            key,
            session,
            record: std::str::from_utf8(bytes).unwrap_or_default().to_owned(),
        },
        None => Entry::Removed { key, session },
    }
}

/// What a record was in the end: nothing, if it was removed.
pub(crate) type Left = HashMap<Key, (SessionId, Option<Vec<u8>>)>;

/// What a dead process kept and may not have brought into its files.
pub(crate) fn left(bytes: &[u8]) -> Left {
    let mut left = Left::new();
    let note = |left: &mut Left, key: &str, session, record| {
        if let Ok(key) = Key::new(key.split('/')) {
            left.insert(key, (session, record));
        }
    };
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Entry::Kept {
                key,
                session,
                record,
            }) => note(&mut left, &key, session, Some(record.into_bytes())),
            Ok(Entry::Removed { key, session }) => note(&mut left, &key, session, None),
            Ok(Entry::Settled { session }) => left.retain(|_, (owner, _)| *owner != session),
            Err(_) => {}
        }
    }
    left
}
