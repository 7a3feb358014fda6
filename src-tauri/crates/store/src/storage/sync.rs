//! From "written" to "survives a power cut".

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lathe_protocol::SessionId;
use tokio::time::Instant;

use super::owed::Claims;
use super::{REMEMBERED, Storage, folder_of};
use crate::error::{IoContext, Result, optional};
use crate::key::Key;
use crate::parallel;

/// How long a session may rely on the journal after it last put something there.
const QUIET: Duration = Duration::from_secs(1);

impl Storage {
    /// Everything of a session that was written so far is in its file and on the disk when
    /// this returns.
    pub(crate) fn barrier(&self, session: &SessionId) -> Result<()> {
        let journal = &self.writing()?.journal;
        // Of many values the last may be written and an earlier one not.
        self.pulse.note_failure(self.flush_session(session))?;
        let synced = self
            .pay(&self.owed.to(session))
            .and_then(|()| self.settle(session))
            .and_then(|()| journal.sync(&*self.fs));
        self.prove(synced)
    }

    /// Everything of a session that was written so far survives a power cut when this
    /// returns, in its file or in the journal. For whoever holds the session and goes on.
    pub(crate) fn secure(&self, session: &SessionId) -> Result<()> {
        let journal = &self.writing()?.journal;
        let mut owed = self.owed.to(session);
        owed.retain(|key| !journal.covers(key));
        // The journal goes first: of its records the files may lie beside the ones to sync.
        let synced = journal.sync(&*self.fs).and_then(|()| self.pay(&owed));
        self.prove(synced)
    }

    /// Brings the files of sessions to the disk that have been quiet for a while, or whose
    /// journal would take long to play back.
    pub(crate) fn relieve_journal(&self, now: Instant) -> Result<()> {
        let Some(writing) = &self.writing else {
            return Ok(());
        };
        let is_long = writing.journal.is_long() && self.is_time_to_shorten(now);
        let due: Vec<SessionId> = {
            let mut relying = self.relying.lock();
            let due = relying
                .iter_mut()
                .filter(|(_, since)| is_long || now >= **since + QUIET);
            due.map(|(session, since)| {
                // Whatever keeps it from being settled now, it is not tried again at once.
                *since = now;
                session.clone()
            })
            .collect()
        };
        let mut relieved = Ok(());
        for session in &due {
            // One that fails does not keep the others from their files.
            relieved = relieved.and(self.barrier(session));
        }
        if !is_long || !writing.journal.is_long() {
            return relieved;
        }
        // Somebody writes all the time.
        let temp = writing.scratch.name_in(&self.places.locks)?;
        let is_needed = |key: &Key| self.has_pending(key) || self.owed.is_owed(key);
        let shortened = writing.journal.shorten(&*self.fs, &temp, is_needed);
        if shortened.is_err() {
            writing.scratch.discard(&*self.fs, &temp);
        }
        relieved.and(shortened)
    }

    /// Barriers cost more than the journal's length does, so there is one a while.
    fn is_time_to_shorten(&self, now: Instant) -> bool {
        let mut shortened = self.shortened.lock();
        let is_time = shortened.is_none_or(|before| now >= before + QUIET);
        if is_time {
            *shortened = Some(now);
        }
        is_time
    }

    pub(crate) fn next_relief(&self) -> Option<Instant> {
        let relying = self.relying.lock();
        relying.values().map(|since| *since + QUIET).min()
    }

    pub(super) fn rely_on_journal(&self, session: &SessionId) {
        let now = Instant::now();
        if self.relying.lock().insert(session.clone(), now).is_none() {
            self.wake.notify_one();
        }
    }

    /// What fails stays owed to the next time.
    pub(super) fn pay(&self, claims: &Claims) -> Result<()> {
        self.sync(claims.keys(), claims.at)?;
        self.owed.paid(claims);
        Ok(())
    }

    /// With nothing to sync, a store that failed before proves that it can write again.
    fn prove(&self, synced: Result<()>) -> Result<()> {
        let is_healthy = self.pulse.is_good();
        let proven = synced.and_then(|()| if is_healthy { Ok(()) } else { self.probe() });
        self.pulse.note(proven)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn forget_owed(&self, session: &SessionId) {
        self.owed.forget(session);
    }

    /// A folder that is about to be where none was.
    pub(crate) fn unsettle(&self, folder: &Path) {
        self.settled.lock().remove(folder);
    }

    /// Brings files and the folders they lie in to the disk, with whatever else was written
    /// there after so many writes.
    pub(super) fn sync<'a>(&self, keys: impl Iterator<Item = &'a Key>, at: u64) -> Result<()> {
        let keys: Vec<&Key> = keys.collect();
        let files = parallel::map(&keys, |key, _| self.sync_file(key));
        let files: Vec<PathBuf> = files.into_iter().collect::<Result<_>>()?;
        let mut folders: BTreeSet<&Path> = files.iter().map(|file| folder_of(file)).collect();
        // A folder may be as new as the file in it, and the one around it, too.
        let mut new = self.unsettled(&folders);
        folders.extend(new.clone().into_iter().map(folder_of));
        // From the inside out: one that is there when it is synced is then in the one around it.
        let depth = |folder: &&Path| folder.components().count();
        let mut inside_out: Vec<&Path> = folders.into_iter().collect();
        inside_out.sort_by_key(|folder| Reverse(depth(folder)));
        for level in inside_out.chunk_by(|one, other| depth(one) == depth(other)) {
            let synced = parallel::map(level, |folder, _| self.sync_folder(folder, at));
            for (folder, is_there) in level.iter().zip(synced) {
                if !is_there? {
                    new.remove(folder);
                }
            }
        }
        let mut settled = self.settled.lock();
        if settled.len() >= REMEMBERED {
            settled.clear();
        }
        settled.extend(new.into_iter().map(Path::to_owned));
        Ok(())
    }

    /// One that was removed is synced with its folder.
    fn sync_file(&self, key: &Key) -> Result<PathBuf> {
        let path = key.file(&self.places.tree);
        optional(self.fs.sync_file(&path)).doing("syncing", &path)?;
        Ok(path)
    }

    /// False if there is no such folder.
    fn sync_folder(&self, folder: &Path, at: u64) -> Result<bool> {
        let _alone = self.folders.write(folder);
        let inside = folder.strip_prefix(&self.places.tree).unwrap_or(folder);
        for key in self.owed.since(at, inside) {
            self.sync_file(&key)?;
        }
        let synced = optional(self.fs.sync_dir(folder)).doing("syncing", folder)?;
        Ok(synced.is_some())
    }

    /// The folders that may be new, with those around them, up to the tree itself.
    fn unsettled<'a>(&self, folders: &BTreeSet<&'a Path>) -> BTreeSet<&'a Path> {
        let settled = self.settled.lock();
        let tree = &self.places.tree;
        let is_new = |folder: &&Path| folder.starts_with(tree) && !settled.contains(*folder);
        let new = folders
            .iter()
            .flat_map(|folder| folder.ancestors().take_while(&is_new));
        new.collect()
    }

    fn probe(&self) -> Result<()> {
        let path = self.places.locks.join("probe");
        self.put(&path, b"", true).map(drop)
    }
}
