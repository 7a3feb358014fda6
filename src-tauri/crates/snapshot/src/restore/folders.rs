//! Folders on the way to restored files: made when missing, removed when the agent made them and
//! nothing is left in them.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use super::inspect::{FolderError, parent_folder, walk};
use crate::{
    os::{Folder, Kind},
    path::RelPath,
    tree::Permissions,
};

/// Makes missing folders. They get their permissions only at the end, because nothing can be
/// written to a folder that is read-only.
pub(super) struct MissingFolders<'a> {
    root: &'a Path,
    permissions: &'a BTreeMap<RelPath, Permissions>,
    made: Vec<RelPath>,
    open: Option<(RelPath, Folder)>,
}

impl<'a> MissingFolders<'a> {
    pub fn new(root: &'a Path, permissions: &'a BTreeMap<RelPath, Permissions>) -> Self {
        Self {
            root,
            permissions,
            made: Vec::new(),
            open: None,
        }
    }

    fn bits(&self, folder: &RelPath) -> Option<u32> {
        self.permissions.get(folder).and_then(|known| known.bits())
    }

    /// Opens the parent of `path`.
    pub fn parent(&mut self, path: &RelPath) -> Result<&Folder, FolderError> {
        let parent = path.parent().unwrap_or_else(|| RelPath::unchecked(b""));
        let is_open = self
            .open
            .as_ref()
            .is_some_and(|(known, _)| *known == parent);
        if !is_open {
            let mut made = Vec::new();
            let opened = walk(self.root, path, |at, folder, name| {
                // Not yet for others: it may have to be private.
                let bits = self.bits(at).map(|_| 0o700);
                folder.make_folder(name, bits)?;
                made.push(at.clone());
                Ok(())
            });
            self.made.extend(made);
            self.open = Some((parent, opened?));
        }
        match &self.open {
            Some((_, folder)) => Ok(folder),
            None => Err(FolderError::Missing),
        }
    }

    /// For a folder that was made earlier, and whose permissions are not set yet.
    pub fn note_made(&mut self, folder: &RelPath) {
        self.made.push(folder.clone());
    }

    /// The folder may be gone from its place now.
    pub fn forget(&mut self) {
        self.open = None;
    }

    pub fn set_permissions(&mut self) {
        self.made.sort();
        self.made.dedup();
        for path in self.made.iter().rev() {
            let Some(bits) = self.bits(path) else {
                continue;
            };
            let set = || -> Option<()> {
                let parent = parent_folder(self.root, path).ok()?;
                let stat = parent.stat(path.name()).ok()?;
                parent.set_bits(path.name(), stat.identity(), bits).ok()
            };
            if set().is_none() {
                tracing::warn!(folder = %path, "its permissions could not be restored");
            }
        }
    }
}

/// The folders above `paths` that the plan does not keep, each with its permissions now.
pub(super) fn may_be_removed<'a>(
    root: &Path,
    paths: impl Iterator<Item = &'a RelPath>,
    kept: &BTreeMap<RelPath, Permissions>,
) -> Vec<(RelPath, Permissions)> {
    let parents: BTreeSet<RelPath> = paths.filter_map(RelPath::parent).collect();
    let mut above = BTreeSet::new();
    for parent in parents {
        above.extend(parent.ancestors());
        above.insert(parent);
    }
    let mut found = Vec::new();
    for folder in above {
        if kept.contains_key(&folder) {
            continue;
        }
        let stat = parent_folder(root, &folder)
            .ok()
            .and_then(|parent| parent.stat(folder.name()).ok());
        if let Some(stat) = stat.filter(|stat| stat.kind == Kind::Folder) {
            found.push((folder, stat.permissions()));
        }
    }
    found
}

/// The folders above `paths` that do not exist.
pub(super) fn missing<'a>(
    root: &Path,
    paths: impl Iterator<Item = &'a RelPath>,
) -> BTreeSet<RelPath> {
    let parents: BTreeSet<RelPath> = paths.filter_map(RelPath::parent).collect();
    let mut missing = BTreeSet::new();
    for parent in parents {
        for folder in std::iter::once(parent.clone()).chain(parent.ancestors()) {
            let exists = || {
                let stat = parent_folder(root, &folder)
                    .ok()?
                    .stat(folder.name())
                    .ok()?;
                (stat.kind == Kind::Folder).then_some(())
            };
            if missing.contains(&folder) || exists().is_some() {
                break;
            }
            missing.insert(folder);
        }
    }
    missing
}

/// The device on which a path will be whose parent does not exist yet.
pub(super) fn device_of(root: &Path, path: &RelPath) -> Option<u64> {
    let device = |folder: RelPath| {
        let parent = parent_folder(root, &folder).ok()?;
        Some(parent.stat(folder.name()).ok()?.stamp.device)
    };
    let above = path.ancestors().find_map(device);
    above.or_else(|| Some(Folder::open(root).ok()?.stat_self().ok()?.stamp.device))
}

/// Removes those folders that are empty, the inner ones first. A folder with something of the
/// user stays, because only an empty folder can be removed.
pub(super) fn remove_empty<'a>(root: &Path, sorted: impl DoubleEndedIterator<Item = &'a RelPath>) {
    for folder in sorted.rev() {
        let _ = remove_one(root, folder);
    }
}

pub(super) fn remove_one(root: &Path, folder: &RelPath) -> io::Result<()> {
    match parent_folder(root, folder) {
        Ok(parent) => parent.remove_folder(folder.name()),
        Err(FolderError::Missing) => Err(io::ErrorKind::NotFound.into()),
        Err(FolderError::Blocked(_)) => Err(io::ErrorKind::NotADirectory.into()),
        Err(FolderError::Failed(error)) => Err(error),
    }
}
