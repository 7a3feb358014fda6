//! What other processes do with the same data directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lathe_protocol::SessionId;

use super::Store;
use crate::error::Result;
use crate::locks::{Holder, SessionWriter};
use crate::storage::Storage;

const LOCK: &str = "session-";
/// A lock that was left behind by a crash is removed after this time.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// A file that says that another process may have done something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Trace {
    /// The session was written or removed.
    Record(SessionId),
    /// A process began to work on the session, or has ended its work.
    Lock(SessionId),
}

impl Storage {
    pub(crate) fn session_lock(&self, name: &str) -> PathBuf {
        self.dirs.locks.join(format!("{LOCK}{name}"))
    }

    fn is_worked_on_elsewhere(&self, session: &SessionId) -> bool {
        let own = self.write_state().ok().map(|state| state.temp_files.tag());
        let holder = Holder::of(&self.session_lock(session.as_str()));
        holder.is_some_and(|holder| own != Some(holder.tag.as_str()))
    }

    fn remove_stale_locks(&self) -> Result<()> {
        for entry in self.fs.read_dir(&self.dirs.locks).unwrap_or_default() {
            let path = self.dirs.locks.join(&entry.name);
            if trace(&path).is_none_or(|trace| matches!(trace, Trace::Record(_))) {
                continue;
            }
            let modified = std::fs::metadata(&path).and_then(|found| found.modified());
            let age = modified
                .ok()
                .and_then(|at| SystemTime::now().duration_since(at).ok());
            if age.is_some_and(|age| age > STALE) {
                // Its file is removed with it, unless another process holds it.
                drop(SessionWriter::acquire(&path, String::new(), ""));
            }
        }
        Ok(())
    }
}

impl Store {
    /// The folders in which traces of other processes appear: all below the first, and directly
    /// in the second.
    pub fn traced_folders(&self) -> (PathBuf, PathBuf) {
        let dirs = &self.storage.dirs;
        (dirs.tree.join("session"), dirs.locks.clone())
    }

    /// What a changed file of those folders stands for.
    pub fn trace(path: &Path) -> Option<Trace> {
        trace(path)
    }

    /// Whether another process, or another store of this one, works on the session now.
    pub async fn is_worked_on_elsewhere(&self, session: &SessionId) -> bool {
        let session = session.clone();
        self.run(move |storage| storage.is_worked_on_elsewhere(&session))
            .await
    }

    /// All sessions that other processes, or other stores of this one, work on now.
    pub async fn worked_on_elsewhere(&self) -> Vec<SessionId> {
        self.run(|storage| {
            let locks = storage.fs.read_dir(&storage.dirs.locks).unwrap_or_default();
            let named = locks
                .iter()
                .filter_map(|entry| trace(Path::new(&entry.name)));
            let locked = named.filter_map(|trace| match trace {
                Trace::Lock(id) => Some(id),
                Trace::Record(_) => None,
            });
            locked
                .filter(|id| storage.is_worked_on_elsewhere(id))
                .collect()
        })
        .await
    }

    /// Removes locks that crashed processes left behind long ago.
    pub async fn remove_stale_locks(&self) -> Result<()> {
        self.run(Storage::remove_stale_locks).await
    }
}

fn trace(path: &Path) -> Option<Trace> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    if let Some(id) = name.strip_prefix(LOCK) {
        return SessionId::parse(id).ok().map(Trace::Lock);
    }
    let id = name.strip_suffix(".json")?;
    SessionId::parse(id).ok().map(Trace::Record)
}
