//! Looks at what is at a path of the work tree now, without following links.

use std::{io, path::Path};

use gix_object::Kind as ObjectKind;

use crate::{
    objects::hash,
    os::{Folder, Kind},
    path::{RelPath, join},
    tree::{Leaf, Mode},
};

/// Larger files are never in a snapshot, so they cannot be as the agent left them.
const READ_LIMIT: u64 = 512 << 20;
const MAX_BELOW: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Absent,
    File(Leaf),
    Folder,
    /// FIFO, socket, device, or a file too large to compare.
    Other,
    /// This parent of the path is not a folder.
    Blocked(RelPath),
    Failed(String),
}

pub(super) fn inspect_path(worktree: &Path, path: &RelPath) -> Found {
    match parent_folder(worktree, path, false) {
        Ok(folder) => inspect_entry(&folder, path.name()),
        Err(FolderError::Missing) => Found::Absent,
        Err(FolderError::Blocked(at)) => Found::Blocked(at),
        Err(FolderError::Failed(error)) => Found::Failed(error.to_string()),
    }
}

/// Reads a regular file.
pub(super) fn read(worktree: &Path, path: &RelPath) -> io::Result<Vec<u8>> {
    let folder = parent_folder(worktree, path, false)
        .map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
    Ok(folder.read(path.name(), READ_LIMIT)?.0)
}

/// Looks at one entry of an open folder.
pub(super) fn inspect_entry(folder: &Folder, name: &[u8]) -> Found {
    match try_inspect(folder, name) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Absent,
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Found::Other,
        Err(error) => Found::Failed(error.to_string()),
    }
}

fn try_inspect(folder: &Folder, name: &[u8]) -> io::Result<Found> {
    let stat = folder.stat(name)?;
    let (mode, bytes) = match stat.kind {
        Kind::Folder => return Ok(Found::Folder),
        Kind::Special => return Ok(Found::Other),
        Kind::Link => (Mode::Link, folder.read_link(name)?),
        Kind::File => {
            let (bytes, _, after) = folder.read(name, READ_LIMIT)?;
            match after.executable() {
                true => (Mode::Executable, bytes),
                false => (Mode::File, bytes),
            }
        }
    };
    let id = hash(ObjectKind::Blob, &bytes).map_err(io::Error::other)?;
    Ok(Found::File(Leaf { mode, id }))
}

pub(super) enum FolderError {
    Missing,
    Blocked(RelPath),
    Failed(io::Error),
}

/// Opens the parent of `path`, component by component; `create` creates missing folders.
pub(super) fn parent_folder(
    worktree: &Path,
    path: &RelPath,
    create: bool,
) -> Result<Folder, FolderError> {
    let mut folder = Folder::open(worktree).map_err(FolderError::Failed)?;
    let mut at: Vec<u8> = Vec::new();
    let mut components: Vec<&[u8]> = path.components().collect();
    components.pop();
    for name in components {
        at = join(&at, name);
        let next = match folder.subfolder(name) {
            Err(error) if create && error.kind() == io::ErrorKind::NotFound => folder
                .make_folder(name)
                .and_then(|()| folder.subfolder(name)),
            opened => opened,
        };
        folder = next.map_err(|error| no_folder(&folder, name, &at, error))?;
    }
    Ok(folder)
}

fn no_folder(folder: &Folder, name: &[u8], at: &[u8], error: io::Error) -> FolderError {
    if error.kind() == io::ErrorKind::NotFound {
        return FolderError::Missing;
    }
    // The error for a link differs between systems, so look at the entry instead.
    let is_folder = folder
        .stat(name)
        .is_ok_and(|stat| stat.kind == Kind::Folder);
    match RelPath::new(at) {
        Ok(at) if !is_folder => FolderError::Blocked(at),
        _ => FolderError::Failed(error),
    }
}

/// All files below a folder. `None` if there is an empty folder, something unreadable, or too
/// many files: then the folder may not be the agent's alone.
pub(super) fn files_below(worktree: &Path, path: &RelPath) -> Option<Vec<RelPath>> {
    let parent = parent_folder(worktree, path, false).ok()?;
    let mut files = Vec::new();
    let mut open = vec![(path.clone(), parent.subfolder(path.name()).ok()?)];
    while let Some((at, folder)) = open.pop() {
        let names = folder.names().ok()?;
        if names.is_empty() {
            return None;
        }
        for name in names {
            let inner = RelPath::new(join(at.as_bytes(), &name)).ok()?;
            match folder.stat(&name).ok()?.kind {
                Kind::Folder => open.push((inner, folder.subfolder(&name).ok()?)),
                _ => files.push(inner),
            }
        }
        if files.len() > MAX_BELOW {
            return None;
        }
    }
    Some(files)
}
