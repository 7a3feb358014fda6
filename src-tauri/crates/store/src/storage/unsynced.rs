//! Files that were written and are not known to be on the disk.
//!
//! A file counts as synced once it was synced and not written to since. While one thread syncs it,
//! it still counts as unsynced, so that no other thread takes it for safe.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::SessionId;
use parking_lot::Mutex;

use crate::key::Key;

#[derive(Default)]
pub(super) struct UnsyncedFiles(Mutex<Files>);

#[derive(Default)]
struct Files {
    /// Number of writes so far.
    writes: u64,
    by_folder: HashMap<PathBuf, HashMap<Key, File>>,
}

struct File {
    owner: Option<SessionId>,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    BeingWritten,
    /// Sequence number of the last write.
    Written(u64),
}

/// Files to sync, as they were when they were selected.
pub(super) struct SyncSet {
    /// Number of writes before the selection.
    pub(super) writes: u64,
    files: Vec<(Key, State)>,
}

impl UnsyncedFiles {
    /// To be called before a file changes, by the thread that holds its key's lock.
    pub(super) fn begin_write(&self, key: &Key, owner: Option<&SessionId>) {
        let mut files = self.0.lock();
        let folder = files.by_folder.entry(folder(key).to_owned()).or_default();
        let named_by_key = || SessionId::parse(key.session_name()?).ok();
        let before = folder.remove(key).and_then(|file| file.owner);
        let file = File {
            owner: owner.cloned().or_else(named_by_key).or(before),
            state: State::BeingWritten,
        };
        folder.insert(key.clone(), file);
    }

    /// To be called after a file has changed, or may have.
    pub(super) fn end_write(&self, key: &Key) {
        let mut files = self.0.lock();
        files.writes += 1;
        let state = State::Written(files.writes);
        let folder = files.by_folder.get_mut(folder(key));
        if let Some(file) = folder.and_then(|folder| folder.get_mut(key)) {
            file.state = state;
        }
    }

    /// The unsynced files of a session, with the others in their folders.
    pub(super) fn select_session(&self, session: &SessionId) -> SyncSet {
        self.select(|_, file| file.may_belong_to(session))
    }

    /// One record, if it is unsynced, with the others in its folder.
    pub(super) fn select_record(&self, record: &Key) -> SyncSet {
        self.select(|key, _| key == record)
    }

    /// Selects whole folders: syncing a folder makes every name in it safe, whether or not the
    /// bytes are, so all its files must be synced first.
    fn select(&self, is_wanted: impl Fn(&Key, &File) -> bool) -> SyncSet {
        let files = self.0.lock();
        let has_wanted = |folder: &&HashMap<Key, File>| {
            let mut files = folder.iter();
            files.any(|(key, file)| is_wanted(key, file))
        };
        let folders = files.by_folder.values().filter(has_wanted);
        SyncSet {
            writes: files.writes,
            files: folders
                .flatten()
                .map(|(key, file)| (key.clone(), file.state))
                .collect(),
        }
    }

    /// The files in a folder that were written after the first `writes` writes.
    pub(super) fn written_since(&self, writes: u64, folder: &Path) -> Vec<Key> {
        let files = self.0.lock();
        let is_newer = |file: &File| matches!(file.state, State::Written(write) if write > writes);
        let folder = files.by_folder.get(folder).into_iter().flatten();
        folder
            .filter(|(_, file)| is_newer(file))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Forgets the files of the set, except those that were written to since it was selected.
    pub(super) fn mark_synced(&self, set: &SyncSet) {
        let mut files = self.0.lock();
        for (key, state) in &set.files {
            let Some(in_folder) = files.by_folder.get_mut(folder(key)) else {
                continue;
            };
            let is_unchanged = |file: &File| file.state == *state;
            if *state != State::BeingWritten && in_folder.get(key).is_some_and(is_unchanged) {
                in_folder.remove(key);
            }
            if in_folder.is_empty() {
                files.by_folder.remove(folder(key));
            }
        }
    }

    pub(super) fn has_any_of(&self, session: &SessionId) -> bool {
        let files = self.0.lock();
        let mut all = files.by_folder.values().flat_map(HashMap::values);
        all.any(|file| file.may_belong_to(session))
    }

    pub(super) fn contains(&self, key: &Key) -> bool {
        let files = self.0.lock();
        let folder = files.by_folder.get(folder(key));
        folder.is_some_and(|folder| folder.contains_key(key))
    }

    /// For a session whose files were synced in another way.
    #[cfg(target_os = "linux")]
    pub(super) fn forget(&self, session: &SessionId) {
        let mut files = self.0.lock();
        files.by_folder.retain(|_, folder| {
            folder.retain(|_, file| file.owner.as_ref() != Some(session));
            !folder.is_empty()
        });
    }
}

impl SyncSet {
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.files.iter().map(|(key, _)| key)
    }

    pub(super) fn retain(&mut self, is_wanted: impl Fn(&Key) -> bool) {
        self.files.retain(|(key, _)| is_wanted(key));
    }
}

impl File {
    /// A file whose session is not known may belong to any.
    fn may_belong_to(&self, session: &SessionId) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner == session)
    }
}

fn folder(key: &Key) -> &Path {
    Path::new(key.parent())
}
