//! From "written" to "survives a power cut".

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use lathe_protocol::SessionId;

use super::Storage;
use crate::error::{IoContext, Result, optional};
use crate::key::Key;

impl Storage {
    /// Everything of a session that was written so far is on the disk when this returns. With
    /// nothing to sync, a store that failed before proves that it can write again.
    pub(crate) fn barrier(&self, session: &SessionId) -> Result<()> {
        self.writing()?;
        self.flush_session(session)?;
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
        let outcome = synced.and_then(|()| if healthy { Ok(()) } else { self.probe() });
        self.pulse.note(outcome)
    }

    /// For whoever made a session's files safe in another way.
    #[cfg(target_os = "linux")]
    pub(crate) fn forget_unsynced(&self, session: &SessionId) {
        self.unsynced.lock().remove(&Some(session.clone()));
    }

    fn sync(&self, keys: &HashSet<Key>) -> Result<()> {
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for key in keys {
            let path = key.file(&self.places.tree);
            optional(self.fs.sync_file(&path)).doing("syncing", &path)?;
            // The folder may be as new as the file in it.
            folders.extend(path.ancestors().skip(1).take(2).map(PathBuf::from));
        }
        for folder in folders {
            optional(self.fs.sync_dir(&folder)).doing("syncing", &folder)?;
        }
        Ok(())
    }

    fn probe(&self) -> Result<()> {
        let path = self.places.locks.join("probe");
        self.put(&path, b"", true).map(drop)
    }
}
