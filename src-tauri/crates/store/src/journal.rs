//! Records that survive a kill before they are in their files.
//!
//! A record that changes several times within a step is appended to the journal each time and
//! written to its file once; replacing the file each time would cost much more. Every process has
//! a journal of its own, with the same tag as its log of temp files. The journal of a killed
//! process is replayed by the process that finds it.
//!
//! An entry is a line of JSON and begins with the line break. An entry that a full disk cut off is
//! thus a line of its own, which does not parse and does not spoil the next one.
//!
//! One sync of the journal makes all its records durable: a step needs one trip to the disk,
//! however many files it changes. The journal covers a record from its first entry until the
//! session's files are synced; every other write of the record in between is appended here too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::SessionId;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::atomic_file::{self, Sync};
use crate::error::{IoContext, Result, StoreError, optional};
use crate::fs::Fs;
use crate::key::Key;

pub(crate) const PREFIX: &str = "journal-";

/// Streaming text is in the journal once for every time it was saved.
const MAX_BYTES: usize = 16 << 20;

pub(crate) struct Journal {
    path: PathBuf,
    /// See [`crate::Options::max_journal_records`].
    max_records: usize,
    content: Mutex<Content>,
    /// Locked during a sync, and before `content`.
    sync_state: Mutex<SyncState>,
}

#[derive(Default)]
struct Content {
    /// The records that the journal covers, with the session they belong to.
    keys: HashMap<Key, SessionId>,
    bytes: usize,
    /// The file changed since it was last synced.
    is_unsynced: bool,
}

#[derive(Default)]
struct SyncState {
    /// The name of the file was synced with its folder.
    is_name_synced: bool,
}

/// The names of variants and fields are those of the file format.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Entry {
    #[serde(rename = "kept")]
    Written {
        key: String,
        session: SessionId,
        record: String,
    },
    #[serde(rename = "removed")]
    Removed { key: String, session: SessionId },
    /// All records of the session are in their files; earlier entries of it no longer count.
    #[serde(rename = "settled")]
    Released { session: SessionId },
}

impl Journal {
    pub(crate) fn new(locks: &Path, tag: &str, max_records: usize) -> Self {
        Journal {
            path: locks.join(format!("{PREFIX}{tag}")),
            max_records,
            content: Mutex::default(),
            sync_state: Mutex::default(),
        }
    }

    /// Appends a record. `then` runs before any other thread can append.
    pub(crate) fn write(
        &self,
        fs: &dyn Fs,
        key: &Key,
        session: &SessionId,
        bytes: &[u8],
        then: impl FnOnce(),
    ) -> Result<()> {
        let mut content = self.content.lock();
        self.append(fs, &mut content, &entry(key, session, Some(bytes)))?;
        content.keys.insert(key.clone(), session.clone());
        then();
        Ok(())
    }

    /// Records that the key's file is being given newer bytes, or removed. The bytes are needed:
    /// after a power cut the journal may be on the disk and the file not. Does nothing if the
    /// journal does not cover the key, or if `has_newer` says that it has a newer entry already.
    pub(crate) fn supersede(
        &self,
        fs: &dyn Fs,
        key: &Key,
        bytes: Option<&[u8]>,
        has_newer: impl FnOnce() -> bool,
    ) -> Result<()> {
        let mut content = self.content.lock();
        match content.keys.get(key).cloned() {
            Some(session) if !has_newer() => {
                self.append(fs, &mut content, &entry(key, &session, bytes))
            }
            _ => Ok(()),
        }
    }

    /// Stops covering a session whose files are synced, unless `is_ahead` says that the journal
    /// has something that they do not. Empties the file if it then covers nothing. `then` runs
    /// before any other thread can append.
    pub(crate) fn release(
        &self,
        fs: &dyn Fs,
        session: &SessionId,
        is_ahead: impl FnOnce() -> bool,
        then: impl FnOnce(),
    ) -> Result<()> {
        let mut content = self.content.lock();
        if !content.keys.values().any(|owner| owner == session) || is_ahead() {
            return Ok(());
        }
        if content.keys.values().all(|owner| owner == session) {
            let emptied = optional(fs.truncate(&self.path));
            emptied.doing("emptying", &self.path)?;
            // On the disk it is still full, and a replay would undo later writes.
            content.is_unsynced = true;
            content.bytes = 0;
        } else {
            let session = session.clone();
            self.append(fs, &mut content, &Entry::Released { session })?;
        }
        content.keys.retain(|_, owner| owner != session);
        then();
        Ok(())
    }

    /// Rewrites the file with the newest entry of each key that is still needed; the files of
    /// all other keys are synced. A session that never pauses is never released, and its journal
    /// would grow without limit. `temp` is an unused name in the journal's folder.
    pub(crate) fn compact(
        &self,
        fs: &dyn Fs,
        temp: &Path,
        is_needed: impl Fn(&Key) -> bool,
    ) -> Result<()> {
        let mut sync_state = self.sync_state.lock();
        let mut content = self.content.lock();
        let mut bytes = Vec::new();
        let read = optional(fs.read(&self.path, &mut bytes));
        if read.doing("reading", &self.path)?.is_none() {
            return Ok(());
        }
        let mut lines = Vec::new();
        let mut keys = HashMap::new();
        for (key, (session, record)) in parse(&bytes) {
            if content.keys.contains_key(&key) && is_needed(&key) {
                lines.extend(line(&entry(&key, &session, record.as_deref()))?);
                keys.insert(key, session);
            }
        }
        fs.create(temp, &lines).doing("writing", temp)?;
        atomic_file::replace(fs, temp, &self.path, Sync::Bytes)?;
        // Until the folder is synced, a power cut may bring back the old journal.
        sync_state.is_name_synced = false;
        *content = Content {
            keys,
            bytes: lines.len(),
            is_unsynced: true,
        };
        Ok(())
    }

    /// Every entry so far survives a power cut when this returns.
    pub(crate) fn sync(&self, fs: &dyn Fs) -> Result<()> {
        let mut sync_state = self.sync_state.lock();
        if !std::mem::take(&mut self.content.lock().is_unsynced) {
            return Ok(());
        }
        let synced = self.sync_file_and_name(fs, &mut sync_state);
        if synced.is_err() {
            self.content.lock().is_unsynced = true;
        }
        synced
    }

    fn sync_file_and_name(&self, fs: &dyn Fs, sync_state: &mut SyncState) -> Result<()> {
        let found = optional(fs.sync_file(&self.path)).doing("syncing", &self.path)?;
        // If creating the file failed, syncing the folder does not make its name safe.
        if found.is_none() {
            return Ok(());
        }
        if let (false, Some(folder)) = (sync_state.is_name_synced, self.path.parent()) {
            fs.sync_dir(folder).doing("syncing", folder)?;
            sync_state.is_name_synced = true;
        }
        Ok(())
    }

    /// Whether a replay would restore this key.
    pub(crate) fn covers(&self, key: &Key) -> bool {
        self.content.lock().keys.contains_key(key)
    }

    /// Whether replaying it would take long.
    pub(crate) fn is_long(&self) -> bool {
        let content = self.content.lock();
        content.keys.len() > self.max_records || content.bytes > MAX_BYTES
    }

    /// Removes the file at the end of a process whose records are all in their files. False if
    /// that failed.
    pub(crate) fn discard(&self, fs: &dyn Fs) -> bool {
        optional(fs.remove_file(&self.path)).is_ok()
    }

    fn append(&self, fs: &dyn Fs, content: &mut Content, entry: &Entry) -> Result<()> {
        let line = line(entry)?;
        let appended = fs.append(&self.path, &line).doing("noting in", &self.path);
        content.is_unsynced = true;
        content.bytes += line.len();
        appended
    }
}

/// The line break comes first, so that a torn line before it ends there.
fn line(entry: &Entry) -> Result<Vec<u8>> {
    let mut line = b"\n".to_vec();
    serde_json::to_writer(&mut line, entry).map_err(|error| StoreError::Encode(error.into()))?;
    Ok(line)
}

/// Marks a session in the journal of a killed process as replayed.
pub(crate) fn mark_released(fs: &dyn Fs, journal: &Path, session: &SessionId) -> Result<()> {
    let session = session.clone();
    let line = line(&Entry::Released { session })?;
    fs.append(journal, &line).doing("noting in", journal)?;
    fs.sync_file(journal).doing("syncing", journal)
}

fn entry(key: &Key, session: &SessionId, bytes: Option<&[u8]>) -> Entry {
    let (key, session) = (key.to_string(), session.clone());
    match bytes {
        Some(bytes) => Entry::Written {
            key,
            session,
            record: std::str::from_utf8(bytes).unwrap_or_default().to_owned(),
        },
        None => Entry::Removed { key, session },
    }
}

/// The newest state of each record: its bytes, or nothing if it was removed.
pub(crate) type LastStates = HashMap<Key, (SessionId, Option<Vec<u8>>)>;

/// Reads a journal: the records it covers, as they were last.
pub(crate) fn parse(bytes: &[u8]) -> LastStates {
    let mut states = LastStates::new();
    let insert = |states: &mut LastStates, key: &str, session, record| {
        if let Ok(key) = Key::new(key.split('/')) {
            states.insert(key, (session, record));
        }
    };
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Entry::Written {
                key,
                session,
                record,
            }) => insert(&mut states, &key, session, Some(record.into_bytes())),
            Ok(Entry::Removed { key, session }) => insert(&mut states, &key, session, None),
            Ok(Entry::Released { session }) => states.retain(|_, (owner, _)| *owner != session),
            Err(_) => {}
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_an_entry_is_stable() {
        let key = Key::new(["part", "msg_1", "prt_1"]).unwrap();
        let session = SessionId::parse("ses_1").unwrap();
        let written = line(&entry(&key, &session, Some(b"{}"))).unwrap();
        let removed = line(&entry(&key, &session, None)).unwrap();
        let released = line(&Entry::Released { session }).unwrap();
        let text = String::from_utf8([written, removed, released].concat()).unwrap();
        let expected = "\n{\"kept\":{\"key\":\"part/msg_1/prt_1\",\"session\":\"ses_1\",\"record\":\"{}\"}}\
                        \n{\"removed\":{\"key\":\"part/msg_1/prt_1\",\"session\":\"ses_1\"}}\
                        \n{\"settled\":{\"session\":\"ses_1\"}}";
        assert_eq!(text, expected);
    }
}
