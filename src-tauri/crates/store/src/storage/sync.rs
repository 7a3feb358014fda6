//! From "written" to "survives a power cut".

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lathe_protocol::SessionId;
use tokio::time::Instant;

use super::unsynced::SyncSet;
use super::{MAX_REMEMBERED, Storage};
use crate::atomic_file::folder_of;
use crate::error::{IoContext, Result, optional};
use crate::key::Key;
use crate::parallel;

/// A session that has not written to the journal for this long is moved out of it.
const IDLE_AFTER: Duration = Duration::from_secs(1);

impl Storage {
    /// Everything of a session that was written so far is in its file and on the disk when this
    /// returns.
    pub(crate) fn barrier(&self, session: &SessionId) -> Result<()> {
        let journal = &self.write_state()?.journal;
        // The last value may have been written after an earlier one failed.
        self.health.record_failure(self.flush_session(session))?;
        let synced = self
            .sync_set(&self.unsynced.select_session(session))
            .and_then(|()| self.release_journal(session))
            .and_then(|()| journal.sync(&*self.fs));
        self.probe_if_failing(synced)
    }

    /// Everything of a session that was written so far survives a power cut when this returns, in
    /// its file or in the journal. The caller holds the session.
    pub(crate) fn make_durable(&self, session: &SessionId) -> Result<()> {
        let journal = &self.write_state()?.journal;
        let mut files = self.unsynced.select_session(session);
        files.retain(|key| !journal.covers(key));
        // The journal first: syncing a folder also makes the names of journaled files in it safe,
        // whose bytes are not.
        let synced = journal.sync(&*self.fs).and_then(|()| self.sync_set(&files));
        self.probe_if_failing(synced)
    }

    /// Moves idle sessions out of the journal into their files, or all of them if the journal has
    /// become long.
    pub(crate) fn shrink_journal(&self, now: Instant) -> Result<()> {
        let Some(state) = &self.write_state else {
            return Ok(());
        };
        let is_long = state.journal.is_long() && self.may_compact(now);
        let due: Vec<SessionId> = {
            let mut sessions = self.journaled_sessions.lock();
            let due = sessions
                .iter_mut()
                .filter(|(_, last_write)| is_long || now >= **last_write + IDLE_AFTER);
            due.map(|(session, last_write)| {
                // If it fails now, it is not tried again at once.
                *last_write = now;
                session.clone()
            })
            .collect()
        };
        let mut outcome = Ok(());
        for session in &due {
            // A failure of one session does not stop the others.
            outcome = outcome.and(self.barrier(session));
        }
        if !is_long || !state.journal.is_long() {
            return outcome;
        }
        // A session that writes all the time was not released.
        let temp = state.temp_files.new_name_in(&self.dirs.locks)?;
        let is_needed = |key: &Key| self.has_pending(key) || self.unsynced.contains(key);
        let compacted = state.journal.compact(&*self.fs, &temp, is_needed);
        if compacted.is_err() {
            state.temp_files.discard(&*self.fs, &temp);
        }
        outcome.and(compacted)
    }

    /// Limits how often a long journal is handled: barriers cost more than its length does.
    fn may_compact(&self, now: Instant) -> bool {
        let mut last = self.last_compaction.lock();
        let may = last.is_none_or(|last| now >= last + IDLE_AFTER);
        if may {
            *last = Some(now);
        }
        may
    }

    pub(super) fn next_idle_session(&self) -> Option<Instant> {
        let sessions = self.journaled_sessions.lock();
        sessions.values().map(|last| *last + IDLE_AFTER).min()
    }

    pub(super) fn note_journaled(&self, session: &SessionId) {
        let mut sessions = self.journaled_sessions.lock();
        if sessions.insert(session.clone(), Instant::now()).is_none() {
            self.flush_wake.notify_one();
        }
    }

    /// To be called after everything of the session was synced. If something was written since,
    /// the journal stays as it is.
    fn release_journal(&self, session: &SessionId) -> Result<()> {
        let is_ahead = || self.has_pending_of(session) || self.unsynced.has_any_of(session);
        self.release_journal_unless(session, is_ahead)
    }

    pub(super) fn release_journal_unless(
        &self,
        session: &SessionId,
        is_ahead: impl FnOnce() -> bool,
    ) -> Result<()> {
        let journal = &self.write_state()?.journal;
        journal.release(&*self.fs, session, is_ahead, || {
            self.journaled_sessions.lock().remove(session);
        })
    }

    /// If it fails, the files stay unsynced.
    pub(super) fn sync_set(&self, set: &SyncSet) -> Result<()> {
        self.sync_files(set.keys(), set.writes)?;
        self.unsynced.mark_synced(set);
        Ok(())
    }

    /// If nothing had to be synced, a store that failed before writes a file to find out whether
    /// it can write again.
    fn probe_if_failing(&self, synced: Result<()>) -> Result<()> {
        let is_good = self.health.is_good();
        let probed = synced.and_then(|()| if is_good { Ok(()) } else { self.probe() });
        self.health.record(probed)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn forget_unsynced(&self, session: &SessionId) {
        self.unsynced.forget(session);
    }

    /// To be called before a folder is created.
    pub(crate) fn forget_synced_folder(&self, folder: &Path) {
        self.synced_folders.lock().remove(folder);
    }

    /// Syncs files and the folders they lie in, with everything else in these folders that was
    /// written after the first `writes` writes.
    pub(super) fn sync_files<'a>(
        &self,
        keys: impl Iterator<Item = &'a Key>,
        writes: u64,
    ) -> Result<()> {
        let keys: Vec<&Key> = keys.collect();
        let files = parallel::map(&keys, |key, _| self.sync_file(key));
        let files: Vec<PathBuf> = files.into_iter().collect::<Result<_>>()?;
        let mut folders: BTreeSet<&Path> = files.iter().map(|file| folder_of(file)).collect();
        // A folder may be as new as the file in it, and so may its parent.
        let mut new = self.unsynced_folders(&folders);
        folders.extend(new.clone().into_iter().map(folder_of));
        // The innermost first: when a parent is synced, the names in it are already safe.
        let depth = |folder: &&Path| folder.components().count();
        let mut innermost_first: Vec<&Path> = folders.into_iter().collect();
        innermost_first.sort_by_key(|folder| Reverse(depth(folder)));
        for level in innermost_first.chunk_by(|one, other| depth(one) == depth(other)) {
            let synced = parallel::map(level, |folder, _| self.sync_folder(folder, writes));
            for (folder, exists) in level.iter().zip(synced) {
                if !exists? {
                    new.remove(folder);
                }
            }
        }
        let mut synced_folders = self.synced_folders.lock();
        if synced_folders.len() >= MAX_REMEMBERED {
            synced_folders.clear();
        }
        synced_folders.extend(new.into_iter().map(Path::to_owned));
        Ok(())
    }

    /// A file that was removed has nothing to sync but its folder.
    fn sync_file(&self, key: &Key) -> Result<PathBuf> {
        let path = key.file(&self.dirs.tree);
        optional(self.fs.sync_file(&path)).doing("syncing", &path)?;
        Ok(path)
    }

    /// False if there is no such folder.
    fn sync_folder(&self, folder: &Path, writes: u64) -> Result<bool> {
        let _exclusive = self.folder_locks.write(folder);
        let inside = folder.strip_prefix(&self.dirs.tree).unwrap_or(folder);
        for key in self.unsynced.written_since(writes, inside) {
            self.sync_file(&key)?;
        }
        let synced = optional(self.fs.sync_dir(folder)).doing("syncing", folder)?;
        Ok(synced.is_some())
    }

    /// The folders, and their ancestors in the tree, whose own names may not be on the disk yet.
    fn unsynced_folders<'a>(&self, folders: &BTreeSet<&'a Path>) -> BTreeSet<&'a Path> {
        let synced = self.synced_folders.lock();
        let tree = &self.dirs.tree;
        let is_new = |folder: &&Path| folder.starts_with(tree) && !synced.contains(*folder);
        let new = folders
            .iter()
            .flat_map(|folder| folder.ancestors().take_while(&is_new));
        new.collect()
    }

    fn probe(&self) -> Result<()> {
        let path = self.dirs.locks.join("probe");
        self.write_atomically(&path, b"", true).map(drop)
    }
}
