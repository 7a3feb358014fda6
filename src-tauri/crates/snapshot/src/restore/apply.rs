//! Acts on a plan, path by path; one that fails does not stop the others.
//!
//! Nothing is overwritten or removed before it has been seen to be what the plan expects: a
//! file is first taken aside (or swapped) in one step, then looked at, and put back if it is
//! another.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    Conflict, Item, Plan, Step, Wanted,
    place::{Found, NoFolder, look, parent_folder},
};
use crate::{
    error::{Doing, SnapshotError},
    os::Folder,
    path::RelPath,
    repo::SideRepo,
    tree::{Leaf, Mode, TreeId},
    whole::create_private_dirs,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub written: Vec<RelPath>,
    /// Each with where it is now.
    pub trashed: Vec<(RelPath, PathBuf)>,
    pub unchanged: Vec<RelPath>,
    pub conflicts: Vec<(RelPath, Conflict)>,
}

impl SideRepo {
    /// Does what the plan says where it still holds. Deleted files go below `trash`.
    pub fn apply(&self, plan: &Plan, trash: &Path) -> Outcome {
        let mut outcome = Outcome::default();
        let mut trash = Trash::new(trash);
        // What is deeper goes first, and all deletes before all writes: a folder may have to
        // make room for a file, or the reverse.
        for (path, item) in plan.items.iter().rev() {
            if item.step == Step::WillDelete {
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
            match &item.step {
                Step::WillDelete => {}
                Step::Unchanged => outcome.unchanged.push(path.clone()),
                Step::Conflict(conflict) => {
                    outcome.conflicts.push((path.clone(), conflict.clone()))
                }
                Step::WillWrite => match self.write(path, item) {
                    Ok(()) => outcome.written.push(path.clone()),
                    Err(conflict) => outcome.conflicts.push((path.clone(), conflict)),
                },
            }
        }
        outcome.trashed.reverse();
        outcome.conflicts.sort_by(|(a, _), (b, _)| a.cmp(b));
        outcome
    }

    /// Writes all files of a snapshot into a folder that has none of them yet.
    pub fn write_out(&self, tree: TreeId, folder: &Path) -> Result<(), SnapshotError> {
        for (path, mode) in self.files(tree)? {
            let bytes = self.blob(tree, &path)?;
            write_new(folder, &path, mode, &bytes).doing("writing a file")?;
        }
        Ok(())
    }

    fn delete(&self, path: &RelPath, item: &Item, trash: &mut Trash) -> Result<PathBuf, Conflict> {
        let folder = parent_folder(self.worktree(), path, false).map_err(blocked)?;
        let (name, aside) = (path.name(), aside_name());
        expect(look(&folder, name), item.expected)?;
        folder.move_new(name, &folder, &aside).map_err(failed)?;
        if let Err(conflict) = expect(look(&folder, &aside), item.expected) {
            return Err(put_back(&folder, &aside, name, path, trash).unwrap_or(conflict));
        }
        match trash.keep(&folder, &aside, path) {
            Ok(to) => Ok(to),
            Err(error) => {
                let _ = put_back(&folder, &aside, name, path, trash);
                Err(failed(error))
            }
        }
    }

    fn write(&self, path: &RelPath, item: &Item) -> Result<(), Conflict> {
        let kept;
        let (mode, bytes) = match &item.wanted {
            Some(Wanted::Kept(leaf)) => {
                kept = self
                    .objects()
                    .blob(leaf.id)
                    .map_err(|error| Conflict::Failed(error.to_string()))?;
                (leaf.mode, &kept)
            }
            Some(Wanted::Made { mode, bytes }) => (*mode, bytes),
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
        let (name, aside) = (path.name(), aside_name());
        expect(look(&folder, name), expected)?;
        let permissions = match expected {
            Some(leaf) if leaf.mode != Mode::Link => {
                Some(folder.stat(name).map_err(failed)?.stamp.mode)
            }
            _ => None,
        };
        let created = match mode {
            Mode::Link => folder.create_link(&aside, bytes),
            _ => folder.create(&aside, bytes, mode == Mode::Executable, permissions),
        };
        let placed = created
            .map_err(failed)
            .and_then(|()| place(&folder, &aside, name, expected));
        if placed.is_err() {
            let _ = folder.remove_file(&aside);
        }
        placed
    }

    /// Folders that the agent made and that are empty now. A file of the user's keeps its
    /// folder: only an empty one can be removed.
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
    let folder = parent_folder(root, path, true).map_err(|no| match no {
        NoFolder::Missing => io::ErrorKind::NotFound.into(),
        NoFolder::Blocked(_) => io::ErrorKind::NotADirectory.into(),
        NoFolder::Failed(error) => error,
    })?;
    match mode {
        Mode::Link => folder.create_link(path.name(), bytes),
        _ => folder.create(path.name(), bytes, mode == Mode::Executable, None),
    }
}

/// Puts the new file in place of exactly what was expected there.
fn place(
    folder: &Folder,
    aside: &[u8],
    name: &[u8],
    expected: Option<Leaf>,
) -> Result<(), Conflict> {
    if expected.is_none() {
        return match folder.move_new(aside, folder, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Conflict::ChangedSince)
            }
            done => done.map_err(failed),
        };
    }
    if folder.exchange(aside, name).map_err(failed)? {
        let Err(conflict) = expect(look(folder, aside), expected) else {
            return folder.remove_file(aside).map_err(failed);
        };
        // Someone wrote in the last moment: theirs goes back.
        folder.exchange(aside, name).map_err(failed)?;
        return Err(conflict);
    }
    expect(look(folder, name), expected)?;
    folder.replace(aside, name).map_err(failed)
}

/// Returns a conflict of its own only if the file could not go back.
fn put_back(
    folder: &Folder,
    aside: &[u8],
    name: &[u8],
    path: &RelPath,
    trash: &mut Trash,
) -> Option<Conflict> {
    if folder.move_new(aside, folder, name).is_ok() {
        return None;
    }
    // Something new has taken the name: both are kept.
    let kept = trash.keep(folder, aside, path);
    Some(match kept {
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

fn blocked(no: NoFolder) -> Conflict {
    match no {
        NoFolder::Missing => Conflict::ChangedSince,
        NoFolder::Blocked(_) => Conflict::ParentInTheWay,
        NoFolder::Failed(error) => failed(error),
    }
}

fn failed(error: io::Error) -> Conflict {
    Conflict::Failed(error.to_string())
}

/// A name that nobody else uses: ours for one step.
fn aside_name() -> Vec<u8> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".lathe-aside-{}-{count}", std::process::id()).into_bytes()
}

/// A new numbered folder per restore, with the files under their own paths.
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

    fn keep(&mut self, folder: &Folder, name: &[u8], path: &RelPath) -> io::Result<PathBuf> {
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
