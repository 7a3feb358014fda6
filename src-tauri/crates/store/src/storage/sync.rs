//! From "written" to "survives a power cut".

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lathe_protocol::SessionId;
use tokio::time::Instant;

use super::{REMEMBERED, Storage};
use crate::error::{IoContext, Result, optional};
use crate::key::Key;

/// How long a session may rely on the journal after its last step.
const QUIET: Duration = Duration::from_secs(1);
/// More than this would keep whoever plays it back waiting.
const MOST_IN_JOURNAL: usize = 512;

impl Storage {
    /// Everything of a session that was written so far is in its file and on the disk when
    /// this returns.
    pub(crate) fn barrier(&self, session: &SessionId) -> Result<()> {
        let journal = &self.writing()?.journal;
        // Of many values the last may be written and an earlier one not.
        self.pulse.note_failure(self.flush_session(session))?;
        self.secured.lock().remove(session);
        let synced = self
            .sync_owed(session, |_| true)
            .and_then(|()| self.settle(session))
            .and_then(|()| journal.sync(&*self.fs));
        if synced.is_err() && journal.sessions().contains(session) {
            self.rely_on_journal(session);
        }
        self.prove(synced)
    }

    /// Everything of a session that was written so far survives a power cut when this
    /// returns, in its file or in the journal. For whoever holds the session and goes on.
    pub(crate) fn secure(&self, session: &SessionId) -> Result<()> {
        let journal = &self.writing()?.journal;
        self.pulse.note_failure(self.flush_unkept(session))?;
        self.rely_on_journal(session);
        let synced = self
            .sync_owed(session, |key| !journal.covers(key))
            .and_then(|()| journal.sync(&*self.fs));
        self.prove(synced)
    }

    /// Brings the files of sessions to the disk that nobody has secured for a while, or whose
    /// journal would take long to play back.
    pub(crate) fn relieve_journal(&self, now: Instant) -> Result<()> {
        let Some(writing) = &self.writing else {
            return Ok(());
        };
        let is_long = writing.journal.len() > MOST_IN_JOURNAL;
        let due: Vec<SessionId> = {
            let secured = self.secured.lock();
            let due = secured
                .iter()
                .filter(|(_, since)| is_long || now >= **since + QUIET);
            due.map(|(session, _)| session.clone()).collect()
        };
        due.iter().try_for_each(|session| self.barrier(session))
    }

    pub(crate) fn next_relief(&self) -> Option<Instant> {
        let secured = self.secured.lock();
        secured.values().map(|since| *since + QUIET).min()
    }

    pub(crate) fn relies_on_journal(&self, session: &SessionId) -> bool {
        self.secured.lock().contains_key(session)
    }

    fn rely_on_journal(&self, session: &SessionId) {
        let now = Instant::now();
        if self.secured.lock().insert(session.clone(), now).is_none() {
            self.wake.notify_one();
        }
    }

    /// Syncs the files of a session that are not known to be on the disk, as far as `wanted`.
    fn sync_owed(&self, session: &SessionId, wanted: impl Fn(&Key) -> bool) -> Result<()> {
        let owners = [Some(session.clone()), None];
        let take = |keys: &mut HashSet<Key>| keys.extract_if(|key| wanted(key)).collect();
        let keys: Vec<HashSet<Key>> = {
            let mut unsynced = self.unsynced.lock();
            owners
                .iter()
                .map(|owner| unsynced.get_mut(owner).map(take).unwrap_or_default())
                .collect()
        };
        let synced = keys.iter().try_for_each(|keys| self.sync(keys));
        let mut unsynced = self.unsynced.lock();
        if synced.is_err() {
            // What is not known to be on the disk is owed to the next time.
            for (owner, keys) in owners.into_iter().zip(keys) {
                unsynced.entry(owner).or_default().extend(keys);
            }
        }
        unsynced.retain(|_, keys| !keys.is_empty());
        synced
    }

    /// With nothing to sync, a store that failed before proves that it can write again.
    fn prove(&self, synced: Result<()>) -> Result<()> {
        let is_healthy = self.pulse.is_good();
        let proven = synced.and_then(|()| if is_healthy { Ok(()) } else { self.probe() });
        self.pulse.note(proven)
    }

    /// For whoever made a session's files safe in another way.
    #[cfg(target_os = "linux")]
    pub(crate) fn forget_unsynced(&self, session: &SessionId) {
        self.unsynced.lock().remove(&Some(session.clone()));
    }

    /// A folder that is about to be where none was.
    pub(crate) fn unsettle(&self, folder: &Path) {
        self.settled.lock().remove(folder);
    }

    pub(super) fn sync(&self, keys: &HashSet<Key>) -> Result<()> {
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for key in keys {
            let path = key.file(&self.places.tree);
            optional(self.fs.sync_file(&path)).doing("syncing", &path)?;
            folders.extend(path.parent().map(PathBuf::from));
        }
        // A folder may be as new as the file in it, and the one around it, too.
        let new = self.unsettled(&folders);
        folders.extend(
            new.iter()
                .filter_map(|folder| Some(folder.parent()?.into())),
        );
        for folder in folders {
            optional(self.fs.sync_dir(&folder)).doing("syncing", &folder)?;
        }
        let mut settled = self.settled.lock();
        if settled.len() >= REMEMBERED {
            settled.clear();
        }
        settled.extend(new);
        Ok(())
    }

    /// The folders that may be new, with those around them, up to the tree itself.
    fn unsettled(&self, folders: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let settled = self.settled.lock();
        let tree = &self.places.tree;
        let is_new = |folder: &&Path| folder.starts_with(tree) && !settled.contains(*folder);
        let new = folders
            .iter()
            .flat_map(|folder| folder.ancestors().take_while(&is_new));
        new.map(PathBuf::from).collect()
    }

    fn probe(&self) -> Result<()> {
        let path = self.places.locks.join("probe");
        self.put(&path, b"", true).map(drop)
    }
}
