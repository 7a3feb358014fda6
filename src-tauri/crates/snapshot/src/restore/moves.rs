//! The second half of a restore: prepared files change places with those in the work tree.
//!
//! A file is replaced or removed only after it was found to be what the plan expects: it is
//! swapped or renamed atomically, then compared, and put back if it differs. What is taken away
//! goes to the trash.

use std::{io, path::PathBuf};

use super::{
    Conflict,
    folders::MissingFolders,
    inspect::{FolderError, Found, Parents, inspect_entry},
    prepare::Prepared,
    round::{How, Move, Record},
    trash::{Trash, copy},
};
use crate::{
    os::Folder,
    tree::{Mode, same},
};

/// What became of one path.
pub(super) enum Moved {
    /// With the place of the old file in the trash, if there was one.
    Written(Option<PathBuf>),
    /// A folder has no place in the trash.
    Removed(Option<PathBuf>),
    Unchanged,
}

pub(super) struct Mover<'a> {
    pub record: &'a Record,
    pub prepared: &'a Folder,
    pub trash: Trash,
    pub parents: Parents<'a>,
    pub folders: MissingFolders<'a>,
    /// A file of the user could neither be put back nor moved to the trash.
    pub stuck: bool,
}

impl Mover<'_> {
    pub fn carry_out(&mut self, one: &Prepared) -> Result<Moved, Conflict> {
        match one.one.how {
            How::Delete => self.delete(one).map(|to| Moved::Removed(Some(to))),
            How::RemoveFolder => self.remove_folder(&one.one),
            How::Create => self.create(&one.one).map(|()| Moved::Written(None)),
            How::Replace => self.replace(one).map(|to| Moved::Written(Some(to))),
            How::Overwrite => self.overwrite(&one.one),
            How::SetBits => self.set_bits(one),
            How::MakeFolder => self.make_folder(one),
        }
    }

    fn delete(&mut self, one: &Prepared) -> Result<PathBuf, Conflict> {
        let Self {
            parents,
            trash,
            record,
            ..
        } = self;
        let path = &one.one.path;
        let folder = parents.open(path).map_err(blocked)?;
        let name = path.name();
        let (to, into) = (trash.path_of(path), trash.folder(path).map_err(failed)?);
        match folder.move_new(name, into, name) {
            Ok(()) => {
                let Err(conflict) = check(into, name, one) else {
                    return Ok(to);
                };
                Err(match into.move_new(name, folder, name) {
                    Ok(()) => conflict,
                    Err(_) => Conflict::Failed(kept(&to)),
                })
            }
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let aside = record.aside(&one.one);
                folder.move_new(name, folder, &aside).map_err(failed)?;
                let copied = check(folder, &aside, one)
                    .and_then(|()| copy(folder, &aside, into, name).map_err(failed))
                    .and_then(|()| check_closed(folder, &aside));
                if let Err(conflict) = copied {
                    let _ = folder.move_new(&aside, folder, name);
                    return Err(conflict);
                }
                folder.remove_file(&aside).map_err(failed)?;
                Ok(to)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Conflict::ChangedSince),
            Err(error) => Err(failed(error)),
        }
    }

    fn remove_folder(&mut self, one: &Move) -> Result<Moved, Conflict> {
        let folder = self.parents.open(&one.path).map_err(blocked)?;
        match folder.remove_folder(one.path.name()) {
            Ok(()) => Ok(Moved::Removed(None)),
            Err(error)
                if matches!(
                    error.kind(),
                    // The user put something there: then it is not the agent's alone.
                    io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound
                ) =>
            {
                Ok(Moved::Unchanged)
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn create(&mut self, one: &Move) -> Result<(), Conflict> {
        let folder = self.folders.parent(&one.path).map_err(blocked)?;
        let (name, new) = (one.path.name(), one.prepared());
        if one.expected.is_some_and(|leaf| leaf.mode == Mode::Folder) {
            let removed = folder.remove_folder(name);
            removed.map_err(|_| Conflict::FolderInTheWay)?;
        }
        match self.prepared.move_new(&new, folder, name) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let aside = self.record.aside(one);
                let moved = copy(self.prepared, &new, folder, &aside)
                    .and_then(|()| folder.move_new(&aside, folder, name));
                if moved.is_err() {
                    let _ = folder.remove_file(&aside);
                }
                moved.map_err(|error| not_new(folder, name, error))
            }
            moved => moved.map_err(|error| not_new(folder, name, error)),
        }
    }

    fn replace(&mut self, one: &Prepared) -> Result<PathBuf, Conflict> {
        let Self {
            record,
            prepared,
            trash,
            folders,
            stuck,
            ..
        } = self;
        let path = &one.one.path;
        let folder = folders.parent(path).map_err(blocked)?;
        let (name, new) = (path.name(), one.one.prepared());
        if one.one.copied {
            return replace_by_copy(record, prepared, trash, folder, one);
        }
        match prepared.exchange(&new, folder, name) {
            Ok(true) => {}
            Ok(false) => return self.replace_without_swap(one),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                return replace_by_copy(record, prepared, trash, folder, one);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Conflict::ChangedSince);
            }
            Err(error) => return Err(failed(error)),
        }
        let moved = check(prepared, &new, one)
            .and_then(|()| trash.add(prepared, &new, path).map_err(failed));
        moved.map_err(|conflict| {
            // Another program wrote the file at the last moment: its version is put back.
            match prepared.exchange(&new, folder, name) {
                Ok(true) => conflict,
                _ => put_in_trash(trash, prepared, &new, one, stuck),
            }
        })
    }

    /// For file systems without a swap: for a moment there is no file of that name.
    fn replace_without_swap(&mut self, one: &Prepared) -> Result<PathBuf, Conflict> {
        let Self {
            prepared,
            trash,
            folders,
            stuck,
            ..
        } = self;
        let path = &one.one.path;
        let folder = folders.parent(path).map_err(blocked)?;
        let (name, new, old) = (path.name(), one.one.prepared(), one.one.old());
        folder.move_new(name, prepared, &old).map_err(failed)?;
        let moved = check(prepared, &old, one).and_then(|()| {
            let moved = prepared.move_new(&new, folder, name);
            moved.map_err(|error| not_new(folder, name, error))
        });
        if let Err(conflict) = moved {
            return Err(match prepared.move_new(&old, folder, name) {
                Ok(()) => conflict,
                Err(_) => put_in_trash(trash, prepared, &old, one, stuck),
            });
        }
        trash.add(prepared, &old, path).map_err(|error| {
            *stuck = true;
            failed(error)
        })
    }

    fn overwrite(&mut self, one: &Move) -> Result<Moved, Conflict> {
        let folder = self.parents.open(&one.path).map_err(blocked)?;
        let name = one.path.name();
        match inspect_entry(folder, name) {
            // It was written through another of its names.
            Found::File(seen) if same(Some(seen.leaf), one.wanted) => return Ok(Moved::Unchanged),
            Found::File(seen) if same(Some(seen.leaf), one.expected) => {}
            Found::Failed(why) => return Err(Conflict::Failed(why)),
            _ => return Err(Conflict::ChangedSince),
        }
        let to = self.trash.path_of(&one.path);
        let into = self.trash.folder(&one.path).map_err(failed)?;
        copy(folder, name, into, name).map_err(failed)?;
        let new = self.prepared.read(&one.prepared(), u64::MAX - 1);
        let (bytes, ..) = new.map_err(failed)?;
        match inspect_entry(folder, name) {
            Found::File(seen) if same(Some(seen.leaf), one.expected) => {}
            _ => return Err(Conflict::ChangedSince),
        }
        let written = folder.overwrite(name, one.identity, &bytes);
        written.map_err(failed)?;
        if let Some(bits) = one.wanted.and_then(|leaf| leaf.permissions.bits()) {
            folder.set_bits(name, one.identity, bits).map_err(failed)?;
        }
        Ok(Moved::Written(Some(to)))
    }

    fn set_bits(&mut self, one: &Prepared) -> Result<Moved, Conflict> {
        let path = &one.one.path;
        let folder = self.parents.open(path).map_err(blocked)?;
        let name = path.name();
        let found = inspect_entry(folder, name);
        if same(found.leaf(), one.one.wanted) {
            return Ok(Moved::Unchanged);
        }
        if !same(found.leaf(), one.one.expected) {
            return Err(Conflict::ChangedSince);
        }
        if let Some(bits) = one.one.wanted.and_then(|leaf| leaf.permissions.bits()) {
            let set = folder.set_bits(name, one.one.identity, bits);
            set.map_err(failed)?;
        }
        Ok(Moved::Written(None))
    }

    fn make_folder(&mut self, one: &Prepared) -> Result<Moved, Conflict> {
        let path = &one.one.path;
        let to = match one.seen {
            Some(_) => Some(self.delete(one)?),
            None => None,
        };
        let folder = self.folders.parent(path).map_err(blocked)?;
        let bits = one.one.wanted.and_then(|leaf| leaf.permissions.bits());
        let made = folder.make_folder(path.name(), bits);
        made.map_err(|error| not_new(folder, path.name(), error))?;
        if let Some(bits) = bits
            && let Ok(stat) = folder.stat(path.name())
        {
            // The umask may have taken some away.
            let set = folder.set_bits(path.name(), stat.identity(), bits);
            set.map_err(failed)?;
        }
        Ok(Moved::Written(to))
    }
}

/// Between two file systems: the new file is first copied beside the old one.
fn replace_by_copy(
    record: &Record,
    prepared: &Folder,
    trash: &mut Trash,
    folder: &Folder,
    one: &Prepared,
) -> Result<PathBuf, Conflict> {
    let path = &one.one.path;
    let (name, new, aside) = (path.name(), one.one.prepared(), record.aside(&one.one));
    let to = trash.path_of(path);
    let into = trash.folder(path).map_err(failed)?;
    copy(prepared, &new, folder, &aside).map_err(failed)?;
    if !folder.exchange(&aside, folder, name).unwrap_or(false) {
        let _ = folder.remove_file(&aside);
        return Err(Conflict::Failed(
            "this file system cannot replace a file safely".to_owned(),
        ));
    }
    let copied = check(folder, &aside, one)
        .and_then(|()| copy(folder, &aside, into, name).map_err(failed))
        .and_then(|()| check_closed(folder, &aside));
    if let Err(conflict) = copied {
        if let Ok(true) = folder.exchange(&aside, folder, name) {
            let _ = folder.remove_file(&aside);
        }
        return Err(conflict);
    }
    folder.remove_file(&aside).map_err(failed)?;
    Ok(to)
}

/// Whether a file that was taken away is the one that was read before.
fn check(folder: &Folder, name: &[u8], one: &Prepared) -> Result<(), Conflict> {
    let is_still = || {
        let seen = one.seen?;
        seen.is_still(&folder.stat(name).ok()?).then_some(())
    };
    if is_still().is_some() {
        return Ok(());
    }
    match inspect_entry(folder, name) {
        Found::File(seen) if same(Some(seen.leaf), one.one.expected) => Ok(()),
        Found::Failed(why) => Err(Conflict::Failed(why)),
        _ => Err(Conflict::ChangedSince),
    }
}

/// A copy cannot have what another program writes later through an open handle.
fn check_closed(folder: &Folder, name: &[u8]) -> Result<(), Conflict> {
    match folder.is_open_for_writing(name) {
        true => Err(Conflict::OpenElsewhere),
        false => Ok(()),
    }
}

/// For a file that cannot go back, because there is a new file of its name already.
fn put_in_trash(
    trash: &mut Trash,
    folder: &Folder,
    name: &[u8],
    one: &Prepared,
    stuck: &mut bool,
) -> Conflict {
    match trash.add(folder, name, &one.one.path) {
        Ok(to) => Conflict::Failed(kept(&to)),
        Err(error) => {
            *stuck = true;
            failed(error)
        }
    }
}

fn kept(to: &std::path::Path) -> String {
    format!("it changed meanwhile; a copy is in {}", to.display())
}

fn not_new(folder: &Folder, name: &[u8], error: io::Error) -> Conflict {
    match (error.kind(), inspect_entry(folder, name)) {
        (io::ErrorKind::AlreadyExists, Found::Folder(_)) => Conflict::FolderInTheWay,
        (io::ErrorKind::AlreadyExists, _) => Conflict::ChangedSince,
        _ => failed(error),
    }
}

pub(super) fn blocked(error: FolderError) -> Conflict {
    match error {
        FolderError::Missing => Conflict::ChangedSince,
        FolderError::Blocked(_) => Conflict::ParentInTheWay,
        FolderError::Failed(error) => failed(error),
    }
}

pub(super) fn failed(error: io::Error) -> Conflict {
    Conflict::Failed(error.to_string())
}
