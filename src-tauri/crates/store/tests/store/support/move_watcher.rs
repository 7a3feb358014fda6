//! A disk that notices when the trash calls a move complete before its folders are synced.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::test_fs::{Change, ChangeHook};

#[derive(Default)]
pub struct MoveWatcher(Mutex<State>);

#[derive(Default)]
struct State {
    /// Folders whose entries changed since they were last synced.
    unsynced: BTreeSet<PathBuf>,
    violations: Vec<Violation>,
}

/// A manifest that was rewritten, or a trash folder that was removed, while folders were unsynced.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    path: PathBuf,
    unsynced: BTreeSet<PathBuf>,
}

impl MoveWatcher {
    /// Forgets everything seen so far.
    pub fn reset(&self) {
        *self.0.lock().unwrap() = State::default();
    }

    pub fn violations(&self) -> Vec<Violation> {
        self.0.lock().unwrap().violations.clone()
    }
}

impl State {
    fn entry_changed(&mut self, path: &Path) {
        self.unsynced.insert(path.parent().unwrap().to_owned());
    }

    fn expect_all_synced(&mut self, path: &Path) {
        if !self.unsynced.is_empty() {
            self.violations.push(Violation {
                path: path.to_owned(),
                unsynced: self.unsynced.clone(),
            });
        }
    }
}

impl ChangeHook for MoveWatcher {
    fn change(&self, change: Change<'_>) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        match change {
            Change::CreateDirAll(path) => {
                for folder in path.ancestors().take_while(|folder| !folder.exists()) {
                    state.entry_changed(folder);
                }
                change.apply()
            }
            Change::Rename { from, to } => {
                let is_manifest = to.ends_with("manifest.json");
                // The first manifest of a trash folder is written before anything is moved.
                if is_manifest && to.exists() {
                    state.expect_all_synced(to);
                }
                change.apply()?;
                if !is_manifest {
                    state.entry_changed(from);
                }
                state.entry_changed(to);
                Ok(())
            }
            Change::RemoveDirAll(path) => {
                state.expect_all_synced(path);
                change.apply()
            }
            Change::SyncDir(path) => {
                change.apply()?;
                state.unsynced.remove(path);
                Ok(())
            }
            _ => change.apply(),
        }
    }
}
