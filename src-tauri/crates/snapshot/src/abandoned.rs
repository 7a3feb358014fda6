//! Side repositories whose work tree is not there any more: nobody opens them again, so nobody
//! would ever clean them up.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    error::{Doing, Result},
    refs::Refs,
    whole::{TEMPORARY, entries},
};

/// The file that says which work tree a side repository belongs to.
pub(crate) const WORKTREE: &str = "worktree";

pub struct Abandoned {
    dir: PathBuf,
    labels: BTreeSet<String>,
}

impl Abandoned {
    pub fn find(data_dir: &Path) -> Result<Vec<Self>> {
        let all = data_dir.join("snapshot");
        let mut found = Vec::new();
        for name in entries(&all).doing("looking for side repositories")? {
            let dir = all.join(&name);
            if name.starts_with(TEMPORARY) {
                // One that was being removed.
                fs::remove_dir_all(&dir).doing("removing a side repository")?;
            } else if is_abandoned(&dir) {
                let refs = Refs::open(&dir).doing("reading refs")?.all()?;
                let labels = refs.iter().map(|one| one.label().to_owned()).collect();
                found.push(Self { dir, labels });
            }
        }
        Ok(found)
    }

    /// On whose behalf snapshots are held.
    pub fn labels(&self) -> &BTreeSet<String> {
        &self.labels
    }

    /// At once, however long the removing takes.
    pub fn remove(self) -> Result<()> {
        let name = self.dir.file_name().unwrap_or_default();
        let name = format!("{TEMPORARY}{}", name.to_string_lossy());
        let aside = self.dir.with_file_name(name);
        fs::rename(&self.dir, &aside)
            .and_then(|()| fs::remove_dir_all(&aside))
            .doing("removing a side repository")
    }
}

/// Not one that we merely may not look at, and none of which it is not known.
fn is_abandoned(dir: &Path) -> bool {
    let Ok(worktree) = fs::read(dir.join(WORKTREE)) else {
        return false;
    };
    let Some(worktree) = path(worktree) else {
        return false;
    };
    let looked = fs::symlink_metadata(worktree);
    looked.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}
