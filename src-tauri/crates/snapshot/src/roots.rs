//! Of which folders snapshots are taken, and where their side repositories are.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{error::Refused, moved, repo::SideRepo};

/// The folder of the sample project: the only one in our data directory with a work tree.
const SAMPLE: &str = "sample";

impl SideRepo {
    /// Whether snapshots of this work tree were ever taken, also at an earlier place.
    pub fn exists(data_dir: &Path, worktree: &Path) -> bool {
        let Ok(worktree) = fs::canonicalize(worktree) else {
            return false;
        };
        repository_dir(data_dir, &worktree).is_dir()
            || moved::find(data_dir, &worktree).is_ok_and(|found| found.is_some())
    }

    /// The folder to take snapshots of when the person works in `directory`, whose repository has
    /// its root at `worktree`. A repository of the whole home folder does not swallow the folders
    /// below it: there, the directory itself is taken.
    pub fn root_for(data_dir: &Path, worktree: &Path, directory: &Path) -> PathBuf {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (data_dir, root, inner) = (real(data_dir), real(worktree), real(directory));
        let is_refused = check_worktree(&root, &data_dir).is_err();
        if is_refused && inner.starts_with(&root) && inner != root {
            return directory.to_owned();
        }
        worktree.to_owned()
    }
}

/// The folder of a work tree's side repository.
pub(crate) fn repository_dir(data_dir: &Path, worktree: &Path) -> PathBuf {
    let name = Sha256::digest(worktree.as_os_str().as_encoded_bytes());
    let name: String = name[..20]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    data_dir.join("snapshot").join(name)
}

pub(crate) fn check_worktree(worktree: &Path, data_dir: &Path) -> Result<(), Refused> {
    if worktree.parent().is_none() {
        return Err(Refused::RootDirectory);
    }
    let home = std::env::home_dir().and_then(|home| fs::canonicalize(home).ok());
    if home.is_some_and(|home| home == worktree) {
        return Err(Refused::HomeDirectory);
    }
    let inside = worktree.starts_with(data_dir) && !worktree.starts_with(data_dir.join(SAMPLE));
    if data_dir.starts_with(worktree) || inside {
        return Err(Refused::HoldsOurData);
    }
    Ok(())
}
