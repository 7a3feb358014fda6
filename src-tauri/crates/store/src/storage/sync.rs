//! From "written" to "survives a power cut".

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use lathe_protocol::SessionId;

use super::{REMEMBERED, Storage};
use crate::error::{IoContext, Result, optional};
use crate::key::Key;

impl Storage {
    /// Everything of a session that was written so far is on the disk when this returns. With
    /// nothing to sync, a store that failed before proves that it can write again.
    pub(crate) fn barrier(&self, session: &SessionId) -> Result<()> {
        self.writing()?;
        // Of many values the last may be written and an earlier one not.
        self.pulse.note_failure(self.flush_session(session))?;
        let owners = [Some(session.clone()), None];
        let keys: Vec<_> = {
            let mut unsynced = self.unsynced.lock();
            owners
                .iter()
                .map(|owner| unsynced.remove(owner).unwrap_or_default())
                .collect()
        };
        let synced = keys.iter().try_for_each(|keys| self.sync(keys));
        if synced.is_err() {
            // What is not known to be on the disk is owed to the next barrier.
            let mut unsynced = self.unsynced.lock();
            for (owner, keys) in owners.into_iter().zip(keys) {
                unsynced.entry(owner).or_default().extend(keys);
            }
        }
        let healthy = self.pulse.is_good();
        let outcome = synced
            .and_then(|()| self.settle(session))
            .and_then(|()| if healthy { Ok(()) } else { self.probe() });
        self.pulse.note(outcome)
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

    fn sync(&self, keys: &HashSet<Key>) -> Result<()> {
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for key in keys {
            let path = key.file(&self.places.tree);
            optional(self.fs.sync_file(&path)).doing("syncing", &path)?;
            folders.extend(path.parent().map(PathBuf::from));
        }
        let new: Vec<PathBuf> = {
            let settled = self.settled.lock();
            let unknown = folders.iter().filter(|folder| !settled.contains(*folder));
            unknown.cloned().collect()
        };
        // A folder may be as new as the file in it.
        folders.extend(
            new.iter()
                .filter_map(|folder| folder.parent())
                .map(PathBuf::from),
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

    fn probe(&self) -> Result<()> {
        let path = self.places.locks.join("probe");
        self.put(&path, b"", true).map(drop)
    }
}
