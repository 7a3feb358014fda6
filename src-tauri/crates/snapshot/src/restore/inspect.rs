//! Looks at what is at a path of the work tree now, without following links.

use std::{io, path::Path};

use gix_object::Kind as ObjectKind;

use crate::{
    objects::hash,
    os::{Folder, Kind, Stat, Timestamp},
    path::{RelPath, join},
    scan::stat_cache::{is_racy, now},
    tree::{Leaf, Mode},
};

/// Larger files are never in a snapshot, so they cannot be as the agent left them.
const READ_LIMIT: u64 = 512 << 20;
const MAX_BELOW: usize = 100_000;

#[derive(Debug, Clone)]
pub(super) enum Found {
    Absent,
    File(Seen),
    Folder(Stat),
    /// FIFO, socket, device, or a file too large to compare.
    Other,
    /// This parent of the path is not a folder.
    Blocked(RelPath),
    Failed(String),
}

/// A file or a link that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub leaf: Leaf,
    pub stat: Stat,
    read_at: Timestamp,
}

impl Seen {
    /// Whether the file is certainly what was read, by its metadata. It may have been renamed.
    pub fn is_still(&self, now: &Stat) -> bool {
        let key = |stat: &Stat| {
            let stamp = stat.stamp;
            (stat.identity(), stamp.size, stamp.mode, stamp.modified)
        };
        self.stat.identity() != (0, 0)
            && key(&self.stat) == key(now)
            && !is_racy(&self.stat.stamp, self.read_at)
    }
}

impl Found {
    /// Of a folder, nothing but its permissions.
    pub fn leaf(&self) -> Option<Leaf> {
        match self {
            Found::File(seen) => Some(seen.leaf),
            Found::Folder(stat) => Some(Leaf::folder(stat.permissions())),
            _ => None,
        }
    }
}

/// Opens the parents of paths. Neighbours have the same one, so it is kept open.
pub(super) struct Parents<'a> {
    root: &'a Path,
    last: Option<(RelPath, Folder)>,
    top: Option<Folder>,
}

impl<'a> Parents<'a> {
    pub fn new(root: &'a Path) -> Self {
        Self {
            root,
            last: None,
            top: None,
        }
    }

    pub fn open(&mut self, path: &RelPath) -> Result<&Folder, FolderError> {
        let Some(parent) = path.parent() else {
            return match &mut self.top {
                Some(top) => Ok(top),
                top => Ok(top.insert(Folder::open(self.root).map_err(FolderError::Failed)?)),
            };
        };
        let is_open = self
            .last
            .as_ref()
            .is_some_and(|(known, _)| *known == parent);
        if !is_open {
            self.last = Some((parent, parent_folder(self.root, path)?));
        }
        match &self.last {
            Some((_, folder)) => Ok(folder),
            None => Err(FolderError::Missing),
        }
    }

    pub fn inspect(&mut self, path: &RelPath) -> Found {
        match self.open(path) {
            Ok(folder) => inspect_entry(folder, path.name()),
            Err(FolderError::Missing) => Found::Absent,
            Err(FolderError::Blocked(at)) => Found::Blocked(at),
            Err(FolderError::Failed(error)) => Found::Failed(error.to_string()),
        }
    }
}

pub(super) fn inspect_path(root: &Path, path: &RelPath) -> Found {
    Parents::new(root).inspect(path)
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
    let read_at = now();
    let (mode, bytes, stat) = match stat.kind {
        Kind::Folder => return Ok(Found::Folder(stat)),
        Kind::Special => return Ok(Found::Other),
        Kind::Link => (Mode::Link, folder.read_link(name)?, stat),
        Kind::File => {
            let (bytes, _, after) = folder.read(name, READ_LIMIT)?;
            match after.executable() {
                true => (Mode::Executable, bytes, after),
                false => (Mode::File, bytes, after),
            }
        }
    };
    let id = hash(ObjectKind::Blob, &bytes).map_err(io::Error::other)?;
    let permissions = stat.permissions();
    let leaf = Leaf {
        mode,
        id,
        permissions,
    };
    Ok(Found::File(Seen {
        leaf,
        stat,
        read_at,
    }))
}

pub(super) enum FolderError {
    Missing,
    Blocked(RelPath),
    Failed(io::Error),
}

/// Opens the parent of `path`, component by component.
pub(super) fn parent_folder(root: &Path, path: &RelPath) -> Result<Folder, FolderError> {
    walk(root, path, |_, _, _| Err(io::ErrorKind::NotFound.into()))
}

/// The same, and `create` is called with each missing folder: its path, its parent and its name.
pub(super) fn walk(
    root: &Path,
    path: &RelPath,
    mut create: impl FnMut(&RelPath, &Folder, &[u8]) -> io::Result<()>,
) -> Result<Folder, FolderError> {
    let mut folder = Folder::open(root).map_err(FolderError::Failed)?;
    let mut at: Vec<u8> = Vec::new();
    let mut components: Vec<&[u8]> = path.components().collect();
    components.pop();
    for name in components {
        at = join(&at, name);
        let next = match folder.passage(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(&RelPath::unchecked(&at), &folder, name).and_then(|()| folder.passage(name))
            }
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
    match is_folder {
        false => FolderError::Blocked(RelPath::unchecked(at)),
        true => FolderError::Failed(error),
    }
}

/// All files and empty folders below a folder; if it is empty itself, only the folder. `None` if
/// something is unreadable or there are too many files: then the folder may not be the agent's
/// alone.
pub(super) fn all_below(root: &Path, path: &RelPath) -> Option<Vec<RelPath>> {
    let parent = parent_folder(root, path).ok()?;
    let mut found = Vec::new();
    let mut open = vec![(path.clone(), parent.subfolder(path.name()).ok()?)];
    while let Some((at, folder)) = open.pop() {
        let names = folder.names().ok()?;
        if names.is_empty() {
            found.push(at);
            continue;
        }
        for name in names {
            let inner = RelPath::new(join(at.as_bytes(), &name)).ok()?;
            match folder.stat(&name).ok()?.kind {
                Kind::Folder => open.push((inner, folder.subfolder(&name).ok()?)),
                _ => found.push(inner),
            }
        }
        if found.len() > MAX_BELOW {
            return None;
        }
    }
    Some(found)
}
