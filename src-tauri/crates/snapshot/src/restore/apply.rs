//! Applies a plan path by path; a failure at one path does not stop the others.
//!
//! A file is overwritten or removed only after it was found to be what the plan expects. Each
//! file is first renamed (or swapped) atomically, then compared, and put back if it differs.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    Conflict, Item, Plan, RestoreAction, Wanted,
    inspect::{FolderError, Found, inspect_entry, parent_folder},
};
use crate::{
    atomic_file::create_private_dirs,
    error::{Context, SnapshotError},
    os::Folder,
    path::RelPath,
    repo::SideRepo,
    tree::{Leaf, Mode, TreeId},
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub written: Vec<RelPath>,
    /// Each with its path in the trash.
    pub trashed: Vec<(RelPath, PathBuf)>,
    pub unchanged: Vec<RelPath>,
    pub conflicts: Vec<(RelPath, Conflict)>,
}

impl SideRepo {
    /// Applies the plan where it still holds. Deleted files are moved below `trash`.
    pub fn apply(&self, plan: &Plan, trash: &Path) -> Outcome {
        let mut outcome = Outcome::default();
        let mut trash = Trash::new(trash);
        // Deeper paths first, and all deletes before all writes, because a folder may have to be
        // replaced by a file, or a file by a folder.
        for (path, item) in plan.items.iter().rev() {
            if item.action == RestoreAction::Delete {
                match self.delete(path, item, &mut trash) {
                    Ok(to) => {
                        outcome.trashed.push((path.clone(), to));
                        self.remove_empty_folders(path, plan);
                    }
                    Err(conflict) => outcome.conflicts.push((path.clone(), conflict)),
                }
            }
        }
        for (path, item) in &plan.items {
            match &item.action {
                RestoreAction::Delete => {}
                RestoreAction::Unchanged => outcome.unchanged.push(path.clone()),
                RestoreAction::Conflict(conflict) => {
                    outcome.conflicts.push((path.clone(), conflict.clone()))
                }
                RestoreAction::Write => match self.write(path, item) {
                    Ok(()) => outcome.written.push(path.clone()),
                    Err(conflict) => outcome.conflicts.push((path.clone(), conflict)),
                },
            }
        }
        outcome.trashed.reverse();
        outcome.conflicts.sort_by(|(a, _), (b, _)| a.cmp(b));
        outcome
    }

    /// Writes all files of a snapshot into a folder that must not have any of them yet.
    pub fn write_out(&self, tree: TreeId, folder: &Path) -> Result<(), SnapshotError> {
        for (path, mode) in self.files(tree)? {
            let bytes = self.blob(tree, &path)?;
            write_new(folder, &path, mode, &bytes).context("writing a file")?;
        }
        Ok(())
    }

    fn delete(&self, path: &RelPath, item: &Item, trash: &mut Trash) -> Result<PathBuf, Conflict> {
        let folder = parent_folder(self.worktree(), path, false).map_err(blocked)?;
        let (name, temporary) = (path.name(), temporary_name());
        expect(inspect_entry(&folder, name), item.expected)?;
        folder.move_new(name, &folder, &temporary).map_err(failed)?;
        if let Err(conflict) = expect(inspect_entry(&folder, &temporary), item.expected) {
            return Err(put_back(&folder, &temporary, name, path, trash).unwrap_or(conflict));
        }
        match trash.add(&folder, &temporary, path) {
            Ok(to) => Ok(to),
            Err(error) => {
                let _ = put_back(&folder, &temporary, name, path, trash);
                Err(failed(error))
            }
        }
    }

    fn write(&self, path: &RelPath, item: &Item) -> Result<(), Conflict> {
        let stored;
        let (mode, bytes) = match &item.wanted {
            Some(Wanted::Stored(leaf)) => {
                stored = self
                    .objects()
                    .blob(leaf.id)
                    .map_err(|error| Conflict::Failed(error.to_string()))?;
                (leaf.mode, &stored)
            }
            Some(Wanted::Generated { mode, bytes }) => (*mode, bytes),
            None => return Err(Conflict::NotInSnapshot(None)),
        };
        self.write_bytes(path, item.expected, mode, bytes)
    }

    fn write_bytes(
        &self,
        path: &RelPath,
        expected: Option<Leaf>,
        mode: Mode,
        bytes: &[u8],
    ) -> Result<(), Conflict> {
        let folder = parent_folder(self.worktree(), path, true).map_err(blocked)?;
        let (name, temporary) = (path.name(), temporary_name());
        expect(inspect_entry(&folder, name), expected)?;
        let permissions = match expected {
            Some(leaf) if leaf.mode != Mode::Link => {
                Some(folder.stat(name).map_err(failed)?.stamp.mode)
            }
            _ => None,
        };
        let created = match mode {
            Mode::Link => folder.create_link(&temporary, bytes),
            _ => folder.create(&temporary, bytes, mode == Mode::Executable, permissions),
        };
        let placed = created
            .map_err(failed)
            .and_then(|()| move_into_place(&folder, &temporary, name, expected));
        if placed.is_err() {
            let _ = folder.remove_file(&temporary);
        }
        placed
    }

    /// Removes folders that the agent created and that are empty now. A folder with a file of
    /// the user stays, because only an empty folder can be removed.
    fn remove_empty_folders(&self, path: &RelPath, plan: &Plan) {
        for folder in path.ancestors() {
            let removed = !plan.folders.contains(&folder)
                && parent_folder(self.worktree(), &folder, false)
                    .is_ok_and(|parent| parent.remove_folder(folder.name()).is_ok());
            if !removed {
                return;
            }
        }
    }
}

fn write_new(root: &Path, path: &RelPath, mode: Mode, bytes: &[u8]) -> io::Result<()> {
    let folder = parent_folder(root, path, true).map_err(|error| match error {
        FolderError::Missing => io::ErrorKind::NotFound.into(),
        FolderError::Blocked(_) => io::ErrorKind::NotADirectory.into(),
        FolderError::Failed(error) => error,
    })?;
    match mode {
        Mode::Link => folder.create_link(path.name(), bytes),
        _ => folder.create(path.name(), bytes, mode == Mode::Executable, None),
    }
}

/// Replaces the old file with the new one, if the old one is as expected.
fn move_into_place(
    folder: &Folder,
    temporary: &[u8],
    name: &[u8],
    expected: Option<Leaf>,
) -> Result<(), Conflict> {
    if expected.is_none() {
        return match folder.move_new(temporary, folder, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Conflict::ChangedSince)
            }
            done => done.map_err(failed),
        };
    }
    if folder.exchange(temporary, name).map_err(failed)? {
        let Err(conflict) = expect(inspect_entry(folder, temporary), expected) else {
            return folder.remove_file(temporary).map_err(failed);
        };
        // Another program wrote the file at the last moment: its version is put back.
        folder.exchange(temporary, name).map_err(failed)?;
        return Err(conflict);
    }
    expect(inspect_entry(folder, name), expected)?;
    folder.replace(temporary, name).map_err(failed)
}

/// Returns a conflict only if the file could not be put back.
fn put_back(
    folder: &Folder,
    temporary: &[u8],
    name: &[u8],
    path: &RelPath,
    trash: &mut Trash,
) -> Option<Conflict> {
    if folder.move_new(temporary, folder, name).is_ok() {
        return None;
    }
    // There is a new file of that name already: it stays, and the old one goes to the trash.
    Some(match trash.add(folder, temporary, path) {
        Ok(to) => Conflict::Failed(format!(
            "it changed meanwhile; a copy is in {}",
            to.display()
        )),
        Err(error) => failed(error),
    })
}

fn expect(found: Found, expected: Option<Leaf>) -> Result<(), Conflict> {
    match (found, expected) {
        (Found::Absent, None) => Ok(()),
        (Found::File(leaf), Some(expected)) if leaf == expected => Ok(()),
        (Found::Folder, None) => Err(Conflict::FolderInTheWay),
        (Found::Failed(why), _) => Err(Conflict::Failed(why)),
        _ => Err(Conflict::ChangedSince),
    }
}

fn blocked(error: FolderError) -> Conflict {
    match error {
        FolderError::Missing => Conflict::ChangedSince,
        FolderError::Blocked(_) => Conflict::ParentInTheWay,
        FolderError::Failed(error) => failed(error),
    }
}

fn failed(error: io::Error) -> Conflict {
    Conflict::Failed(error.to_string())
}

/// A unique name for a file that is about to be moved.
fn temporary_name() -> Vec<u8> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".lathe-aside-{}-{count}", std::process::id()).into_bytes()
}

/// Has one numbered folder per restore, with the files under their paths.
struct Trash {
    dir: PathBuf,
    batch: Option<PathBuf>,
}

impl Trash {
    fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            batch: None,
        }
    }

    fn batch(&mut self) -> io::Result<PathBuf> {
        if let Some(batch) = &self.batch {
            return Ok(batch.clone());
        }
        create_private_dirs(&self.dir)?;
        for n in 1u64.. {
            let batch = self.dir.join(n.to_string());
            match fs::create_dir(&batch) {
                Ok(()) => {
                    self.batch = Some(batch.clone());
                    return Ok(batch);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    fn add(&mut self, folder: &Folder, name: &[u8], path: &RelPath) -> io::Result<PathBuf> {
        let batch = self.batch()?;
        let to = batch.join(crate::os::path_of(path.as_bytes()));
        if let Some(parent) = to.parent() {
            create_private_dirs(parent)?;
        }
        let into = Folder::open(to.parent().unwrap_or(&batch))?;
        match folder.move_new(name, &into, path.name()) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                copy(folder, name, &into, path.name())?;
                folder.remove_file(name)?;
            }
            done => done?,
        }
        Ok(to)
    }
}

fn copy(from: &Folder, name: &[u8], into: &Folder, new_name: &[u8]) -> io::Result<()> {
    if from.stat(name)?.kind == crate::os::Kind::Link {
        return into.create_link(new_name, &from.read_link(name)?);
    }
    let (bytes, _, stat) = from.read(name, u64::MAX - 1)?;
    into.create(new_name, &bytes, stat.executable(), Some(stat.stamp.mode))
}
