//! Rolls a restore back that was killed on its way.
//!
//! Whether a move was made is read from the files: the new file has the identity that the record
//! names, wherever it is now. A path is brought back only if it is exactly as the restore left
//! it; otherwise another program has changed it since, and both versions stay.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
};

use super::{
    Recovered,
    folders::{self, MissingFolders},
    inspect::{Found, inspect_entry, parent_folder},
    round::{How, Move, Record, Round},
    trash::{Trash, copy},
};
use crate::{
    os::Folder,
    path::RelPath,
    tree::{Leaf, Mode, Permissions, same},
};

/// What became of one path.
enum Undone {
    /// The restore had not come to it.
    Untouched,
    RolledBack,
    /// With the place of the old version in the trash.
    Left(Option<PathBuf>),
}

pub(super) fn run(round: &Round) -> io::Result<Recovered> {
    let record = &round.record;
    let mut recovered = Recovered {
        note: record.note.clone(),
        ..Recovered::default()
    };
    // It is missing if it was set aside with a file that could not be put back.
    lathe_files::create_private_folder(&round.prepared())?;
    let prepared = Folder::open(&round.prepared())?;
    let removed: BTreeMap<RelPath, Permissions> = record.removed.iter().cloned().collect();
    let made: BTreeSet<&RelPath> = record.made.iter().collect();
    let mut undo = Undo {
        record,
        prepared: &prepared,
        trash: Trash::open(record.batch.clone()),
        folders: MissingFolders::new(&record.root, &removed),
    };
    for one in record.moves.iter().rev() {
        let undone = undo.one(one).map_err(|error| {
            let text = format!("{}: {error}", one.path);
            io::Error::new(error.kind(), text)
        });
        match undone? {
            Undone::Untouched => {}
            Undone::RolledBack => recovered.rolled_back.push(one.path.clone()),
            Undone::Left(at) => recovered.left.push((one.path.clone(), at)),
        }
        // At once: an old file may have been in the place of such a folder.
        let above: Vec<RelPath> = one
            .path
            .ancestors()
            .filter(|at| made.contains(at))
            .collect();
        folders::remove_empty(&record.root, above.iter().rev());
        if !above.is_empty() {
            undo.folders.forget();
        }
    }
    undo.make_removed_folders(&removed);
    undo.folders.set_permissions();
    remove_empty_below(&record.batch);
    recovered.rolled_back.sort();
    recovered.left.sort();
    Ok(recovered)
}

struct Undo<'a> {
    record: &'a Record,
    prepared: &'a Folder,
    trash: Trash,
    folders: MissingFolders<'a>,
}

impl Undo<'_> {
    fn one(&mut self, one: &Move) -> io::Result<Undone> {
        let folder = parent_folder(&self.record.root, &one.path);
        if let (true, Ok(folder)) = (one.copied, folder) {
            remove_if_there(&folder, &self.record.part(one))?;
        }
        match one.how {
            How::Create => self.create(one),
            How::Replace => self.replace(one),
            How::Overwrite => self.overwrite(one),
            How::SetBits => self.set_bits(one),
            How::MakeFolder => self.make_folder(one),
            How::Delete => self.delete(one),
            How::RemoveFolder => self.remove_folder(one),
        }
    }

    fn create(&mut self, one: &Move) -> io::Result<Undone> {
        let Ok(folder) = parent_folder(&self.record.root, &one.path) else {
            return Ok(Undone::Untouched);
        };
        let (name, aside) = (one.path.name(), self.record.aside(one));
        // Only a new file, complete or not, can have this name.
        remove_if_there(&folder, &aside)?;
        if !is_in_place(self.prepared, &folder, one) {
            return self.empty_folder_again(&folder, one);
        }
        match inspect_entry(&folder, name) {
            Found::File(seen) if same(Some(seen.leaf), one.wanted) => {}
            _ => return Ok(Undone::Left(None)),
        }
        folder.move_new(name, &folder, &aside)?;
        match inspect_entry(&folder, &aside) {
            Found::File(seen) if same(Some(seen.leaf), one.wanted) => {
                folder.remove_file(&aside)?;
                self.empty_folder_again(&folder, one)?;
                Ok(Undone::RolledBack)
            }
            _ => {
                folder.move_new(&aside, &folder, name)?;
                Ok(Undone::Left(None))
            }
        }
    }

    /// For a file that took the place of an empty folder.
    fn empty_folder_again(&self, folder: &Folder, one: &Move) -> io::Result<Undone> {
        let Some(leaf) = one.expected.filter(|leaf| leaf.mode == Mode::Folder) else {
            return Ok(Undone::Untouched);
        };
        match inspect_entry(folder, one.path.name()) {
            Found::Absent => folder.make_folder(one.path.name(), leaf.permissions.bits())?,
            _ => return Ok(Undone::Untouched),
        }
        Ok(Undone::RolledBack)
    }

    fn replace(&mut self, one: &Move) -> io::Result<Undone> {
        let Ok(folder) = parent_folder(&self.record.root, &one.path) else {
            return Ok(Undone::Left(self.in_trash(one)));
        };
        let (name, aside) = (one.path.name(), self.record.aside(one));
        let new_in_place = is_in_place(self.prepared, &folder, one)
            || is_leaf(&folder, name, one.wanted) && self.has_old(&folder, one);
        if !new_in_place {
            return self.replace_not_done(&folder, one);
        }
        if !is_leaf(&folder, name, one.wanted) {
            return Ok(Undone::Left(self.old_to_trash(&folder, one)?));
        }
        // The old file is brought beside the new one, if it is not there already.
        if !exists(&folder, &aside) && !self.bring(&folder, one, &aside)? {
            return Ok(Undone::Left(None));
        }
        if !folder.exchange(&aside, &folder, name)? {
            folder.remove_file(name)?;
            folder.move_new(&aside, &folder, name)?;
            return Ok(Undone::RolledBack);
        }
        if is_leaf(&folder, &aside, one.wanted) {
            folder.remove_file(&aside)?;
            return Ok(Undone::RolledBack);
        }
        // Written at the last moment by another program.
        folder.exchange(&aside, &folder, name)?;
        Ok(Undone::Left(self.old_to_trash(&folder, one)?))
    }

    /// The path has its old file, one of another program, or none for a moment.
    fn replace_not_done(&mut self, folder: &Folder, one: &Move) -> io::Result<Undone> {
        let (name, aside) = (one.path.name(), self.record.aside(one));
        if exists(self.prepared, &one.old()) {
            return match exists(folder, name) {
                false => {
                    self.prepared.move_new(&one.old(), folder, name)?;
                    Ok(Undone::RolledBack)
                }
                true => Ok(Undone::Left(self.old_to_trash(folder, one)?)),
            };
        }
        let is_new = |leaf| is_leaf(folder, &aside, leaf);
        if exists(folder, &aside) {
            if is_new(one.wanted) || is_leaf(folder, name, one.expected) {
                folder.remove_file(&aside)?;
            } else {
                return Ok(Undone::Left(self.old_to_trash(folder, one)?));
            }
        }
        match self.is_old(one) || self.in_trash(one).is_some() {
            true => Ok(Undone::Left(self.old_to_trash(folder, one)?)),
            false => Ok(Undone::Untouched),
        }
    }

    /// Whether the prepared file is the old one: they have changed places.
    fn is_old(&self, one: &Move) -> bool {
        let stat = self.prepared.stat(&one.prepared());
        stat.is_ok_and(|stat| one.identity != (0, 0) && stat.identity() != one.identity)
    }

    fn has_old(&self, folder: &Folder, one: &Move) -> bool {
        self.is_old(one)
            || exists(self.prepared, &one.old())
            || exists(folder, &self.record.aside(one))
            || self.in_trash(one).is_some()
    }

    fn in_trash(&self, one: &Move) -> Option<PathBuf> {
        let at = self.trash.path_of(&one.path);
        at.symlink_metadata().is_ok().then_some(at)
    }

    /// Moves the old file to `name` in its folder.
    fn bring(&mut self, folder: &Folder, one: &Move, name: &[u8]) -> io::Result<bool> {
        for (is_there, old) in [
            (self.is_old(one), one.prepared()),
            (exists(self.prepared, &one.old()), one.old()),
        ] {
            if is_there {
                move_or_copy(self.record, one, (self.prepared, &old), (folder, name))?;
                return Ok(true);
            }
        }
        if self.in_trash(one).is_none() {
            return Ok(false);
        }
        let record = self.record;
        let trash = self.trash.folder(&one.path)?;
        move_or_copy(record, one, (trash, one.path.name()), (folder, name))?;
        Ok(true)
    }

    /// The old file cannot go back, so it goes where a finished restore would have put it.
    fn old_to_trash(&mut self, folder: &Folder, one: &Move) -> io::Result<Option<PathBuf>> {
        let aside = self.record.aside(one);
        let places = [
            (self.is_old(one), self.prepared, one.prepared()),
            (exists(self.prepared, &one.old()), self.prepared, one.old()),
            (exists(folder, &aside), folder, aside),
        ];
        for (is_there, place, name) in places {
            if is_there && self.in_trash(one).is_none() {
                return self.trash.add(place, &name, &one.path).map(Some);
            }
        }
        Ok(self.in_trash(one))
    }

    fn overwrite(&mut self, one: &Move) -> io::Result<Undone> {
        let (Some(_), Ok(folder)) = (
            self.in_trash(one),
            parent_folder(&self.record.root, &one.path),
        ) else {
            return Ok(Undone::Untouched);
        };
        let name = one.path.name();
        if is_leaf(&folder, name, one.expected) {
            remove_if_there(self.trash.folder(&one.path)?, name)?;
            return Ok(Undone::Untouched);
        }
        let trash = self.trash.folder(&one.path)?;
        if !is_leaf(trash, name, one.expected) {
            // Killed while the copy was made: the file itself was not touched by then.
            return Ok(Undone::Untouched);
        }
        let read = |folder: &Folder, name: &[u8]| Ok::<_, io::Error>(folder.read(name, LIMIT)?.0);
        let now = read(&folder, name)?;
        let (old, new) = (read(trash, name)?, read(self.prepared, &one.prepared())?);
        if !is_between(&now, &old, &new) {
            return Ok(Undone::Left(self.in_trash(one)));
        }
        folder.overwrite(name, one.identity, &old)?;
        if let Some(bits) = one.expected.and_then(|leaf| leaf.permissions.bits()) {
            folder.set_bits(name, one.identity, bits)?;
        }
        remove_if_there(self.trash.folder(&one.path)?, name)?;
        Ok(Undone::RolledBack)
    }

    fn set_bits(&mut self, one: &Move) -> io::Result<Undone> {
        let Ok(folder) = parent_folder(&self.record.root, &one.path) else {
            return Ok(Undone::Untouched);
        };
        let name = one.path.name();
        let bits = one.expected.and_then(|leaf| leaf.permissions.bits());
        match bits {
            Some(bits) if is_leaf(&folder, name, one.wanted) => {
                folder.set_bits(name, one.identity, bits)?;
                Ok(Undone::RolledBack)
            }
            _ => Ok(Undone::Untouched),
        }
    }

    fn make_folder(&mut self, one: &Move) -> io::Result<Undone> {
        let was_file = one.expected.is_some();
        let removed = folders::remove_one(&self.record.root, &one.path);
        self.folders.forget();
        match removed {
            Ok(()) if was_file => self.delete(one),
            Ok(()) => Ok(Undone::RolledBack),
            Err(_) if was_file => self.delete(one),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                Ok(Undone::Left(None))
            }
            Err(_) => Ok(Undone::Untouched),
        }
    }

    fn delete(&mut self, one: &Move) -> io::Result<Undone> {
        let (name, aside) = (one.path.name(), self.record.aside(one));
        let found = parent_folder(&self.record.root, &one.path).ok();
        if let Some(folder) = found.filter(|folder| exists(folder, &aside)) {
            if exists(&folder, name) {
                let trash = self.trash.folder(&one.path)?;
                copy(&folder, &aside, trash, name)?;
                folder.remove_file(&aside)?;
                return Ok(Undone::Left(self.in_trash(one)));
            }
            folder.move_new(&aside, &folder, name)?;
            remove_if_there(self.trash.folder(&one.path)?, name)?;
            return Ok(Undone::RolledBack);
        }
        if self.in_trash(one).is_none() {
            return Ok(Undone::Untouched);
        }
        let Ok(folder) = self.folders.parent(&one.path) else {
            return Ok(Undone::Left(self.in_trash(one)));
        };
        let trash = self.trash.folder(&one.path)?;
        if exists(folder, name) {
            // An earlier roll-back was killed when it had copied the file.
            let is_copy = |place| is_leaf(place, name, one.expected);
            if one.copied && is_copy(folder) && is_copy(trash) {
                trash.remove_file(name)?;
                return Ok(Undone::RolledBack);
            }
            return Ok(Undone::Left(self.in_trash(one)));
        }
        move_or_copy(self.record, one, (trash, name), (folder, name))?;
        Ok(Undone::RolledBack)
    }

    fn remove_folder(&mut self, one: &Move) -> io::Result<Undone> {
        let bits = one.expected.and_then(|leaf| leaf.permissions.bits());
        let Ok(folder) = self.folders.parent(&one.path) else {
            return Ok(Undone::Left(None));
        };
        match folder.make_folder(one.path.name(), bits) {
            Ok(()) => Ok(Undone::RolledBack),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Undone::Untouched),
            Err(error) => Err(error),
        }
    }

    /// Also those without a file that would bring them back, and those that an earlier roll-back
    /// made before it was killed.
    fn make_removed_folders(&mut self, removed: &BTreeMap<RelPath, Permissions>) {
        for folder in removed.keys() {
            // The parent of a path below it is the folder itself.
            let inside = RelPath::unchecked(&crate::path::join(folder.as_bytes(), b"x"));
            let made = self.folders.parent(&inside).and_then(|found| {
                let stat = found.stat_self();
                stat.map_err(super::inspect::FolderError::Failed)
            });
            let is_private = made.is_ok_and(|stat| stat.stamp.mode & 0o7777 == 0o700);
            if is_private {
                self.folders.note_made(folder);
            }
        }
    }
}

const LIMIT: u64 = u64::MAX - 1;

/// Whether the new file has left its place among the prepared ones for the path.
fn is_in_place(prepared: &Folder, folder: &Folder, one: &Move) -> bool {
    if one.identity == (0, 0) || one.copied {
        return !exists(prepared, &one.prepared()) && exists(folder, one.path.name())
            || one.copied && is_leaf(folder, one.path.name(), one.wanted);
    }
    let stat = folder.stat(one.path.name());
    stat.is_ok_and(|stat| stat.identity() == one.identity)
}

fn is_leaf(folder: &Folder, name: &[u8], leaf: Option<Leaf>) -> bool {
    let found = inspect_entry(folder, name).leaf();
    found.is_some() && same(found, leaf)
}

/// Whether overwriting `old` with `new` can have been interrupted at `now`.
fn is_between(now: &[u8], old: &[u8], new: &[u8]) -> bool {
    let common = now.iter().zip(new).take_while(|(one, other)| one == other);
    let written = common.count();
    now == new
        || now.len() == old.len().max(written) && now[written..] == old[written.min(old.len())..]
}

fn exists(folder: &Folder, name: &[u8]) -> bool {
    folder.stat(name).is_ok()
}

fn remove_if_there(folder: &Folder, name: &[u8]) -> io::Result<()> {
    match folder.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn move_or_copy(
    record: &Record,
    one: &Move,
    (from, name): (&Folder, &[u8]),
    (to, new_name): (&Folder, &[u8]),
) -> io::Result<()> {
    match from.move_new(name, to, new_name) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let part = record.part(one);
            copy(from, name, to, &part)?;
            to.move_new(&part, to, new_name)?;
            from.remove_file(name)
        }
        moved => moved,
    }
}

/// Removes the folders of the trash in which nothing is.
fn remove_empty_below(dir: &std::path::Path) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty_below(&entry.path());
        }
    }
    let _ = std::fs::remove_dir(dir);
}
