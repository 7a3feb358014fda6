//! Side repositories whose work tree no longer exists. No session opens them again, so they
//! have to be found and cleaned up here.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use lathe_files::TEMPORARY_PREFIX;

use crate::{
    error::{Context, Result},
    refs::Refs,
    temporary_files::file_names,
};

/// The file in a side repository that holds the path of its work tree.
pub(crate) const WORKTREE: &str = "worktree";

pub struct AbandonedRepo {
    dir: PathBuf,
    labels: BTreeSet<String>,
}

impl AbandonedRepo {
    pub fn find(data_dir: &Path) -> Result<Vec<Self>> {
        let all = data_dir.join("snapshot");
        let mut found = Vec::new();
        for name in file_names(&all).context("looking for side repositories")? {
            let dir = all.join(&name);
            if name.starts_with(TEMPORARY_PREFIX) {
                // An earlier removal was interrupted.
                fs::remove_dir_all(&dir).context("removing a side repository")?;
            } else if is_abandoned(&dir) {
                let refs = Refs::open(&dir).context("reading refs")?.all()?;
                let labels = refs.iter().map(|one| one.label().to_owned()).collect();
                found.push(Self { dir, labels });
            }
        }
        Ok(found)
    }

    /// The owners of its snapshots.
    pub fn labels(&self) -> &BTreeSet<String> {
        &self.labels
    }

    /// Renames the repository first, so that it is gone at once even if removing takes long or
    /// is interrupted.
    pub fn remove(self) -> Result<()> {
        let name = self.dir.file_name().unwrap_or_default();
        let name = format!("{TEMPORARY_PREFIX}{}", name.to_string_lossy());
        let renamed = self.dir.with_file_name(name);
        fs::rename(&self.dir, &renamed)
            .and_then(|()| fs::remove_dir_all(&renamed))
            .context("removing a side repository")
    }
}

/// False if the work tree is unknown, or if it may exist but cannot be accessed.
pub(crate) fn is_abandoned(dir: &Path) -> bool {
    let Ok(worktree) = fs::read(dir.join(WORKTREE)) else {
        return false;
    };
    let Some(worktree) = path_from_bytes(worktree) else {
        return false;
    };
    let metadata = fs::symlink_metadata(worktree);
    metadata.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(unix)]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}
