//! Where replaced and deleted files go: by renaming, so that a program that still writes to such
//! a file through an open handle writes to what is in the trash.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use lathe_files::create_private_folder;

use super::inspect::{Found, inspect_entry};
use crate::{
    os::{Folder, Inherited, Kind, NewFile, fault::step},
    path::RelPath,
    tree::same,
};

/// The name of a copy that is not finished.
const PART: &[u8] = b".lathe-part";

/// One numbered folder per restore, with the files under their paths.
pub(super) struct Trash {
    batch: PathBuf,
    open: Option<(RelPath, Folder)>,
}

impl Trash {
    pub fn create(dir: &Path) -> io::Result<Self> {
        step()?;
        create_private_folder(dir)?;
        // Not from 1 on: then each of many restores would try all numbers before it.
        let used = fs::read_dir(dir)?.filter_map(|entry| {
            let name = entry.ok()?.file_name();
            name.to_str()?.parse::<u64>().ok()
        });
        let first = used.max().unwrap_or(0) + 1;
        for n in first.. {
            let batch = dir.join(n.to_string());
            match fs::create_dir(&batch) {
                Ok(()) => return Ok(Self::open(batch)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    pub fn open(batch: PathBuf) -> Self {
        Self { batch, open: None }
    }

    pub fn batch(&self) -> &Path {
        &self.batch
    }

    pub fn path_of(&self, path: &RelPath) -> PathBuf {
        self.batch.join(crate::os::path_of(path.as_bytes()))
    }

    /// Removes the folder of this restore if nothing was moved to it.
    pub fn remove_if_empty(&self) {
        if step().is_ok() {
            let _ = fs::remove_dir(&self.batch);
        }
    }

    /// The folder for files with this parent.
    pub fn folder(&mut self, path: &RelPath) -> io::Result<&Folder> {
        let at = path.parent().unwrap_or_else(|| RelPath::unchecked(b""));
        let is_open = self.open.as_ref().is_some_and(|(known, _)| *known == at);
        if !is_open {
            let dir = self.batch.join(crate::os::path_of(at.as_bytes()));
            step()?;
            create_private_folder(&dir)?;
            self.open = Some((at, Folder::open(&dir)?));
        }
        match &self.open {
            Some((_, folder)) => Ok(folder),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Moves a file to the trash, where it has its name from `path`.
    pub fn add(&mut self, folder: &Folder, name: &[u8], path: &RelPath) -> io::Result<PathBuf> {
        let to = self.path_of(path);
        let into = self.folder(path)?;
        match folder.move_new(name, into, path.name()) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                copy(folder, name, into, PART)?;
                into.move_new(PART, into, path.name())?;
                folder.remove_file(name)?;
            }
            moved => moved?,
        }
        Ok(to)
    }
}

/// Copies a file with its permissions, and makes sure that the copy is what the file is after
/// that: another program may write to it meanwhile.
pub(super) fn copy(from: &Folder, name: &[u8], into: &Folder, new_name: &[u8]) -> io::Result<()> {
    const TRIES: usize = 3;
    for _ in 0..TRIES {
        // What an earlier try, or an earlier start of the program, left there.
        match into.remove_file(new_name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        copy_once(from, name, into, new_name)?;
        match (inspect_entry(from, name), inspect_entry(into, new_name)) {
            (Found::File(one), Found::File(other)) if same(Some(one.leaf), Some(other.leaf)) => {
                return Ok(());
            }
            _ => {}
        }
    }
    Err(io::Error::other("it kept changing while it was copied"))
}

fn copy_once(from: &Folder, name: &[u8], into: &Folder, new_name: &[u8]) -> io::Result<()> {
    if from.stat(name)?.kind == Kind::Link {
        into.create_link(new_name, &from.read_link(name)?)?;
        return Ok(());
    }
    let (bytes, _, stat) = from.read(name, u64::MAX - 1)?;
    let new = NewFile {
        executable: stat.executable(),
        bits: Some(stat.stamp.mode),
        sync: true,
    };
    let inherited = Inherited {
        from: Some((from, name)),
        ..Inherited::default()
    };
    into.create(new_name, &bytes, new, inherited)?;
    Ok(())
}
