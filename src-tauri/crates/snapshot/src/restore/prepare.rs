//! The first half of a restore: every new file is written to a folder of our own, and each path
//! is compared with what the plan expects. Nothing in the work tree changes yet.

use std::path::Path;

use super::{
    Conflict, Item, RestoreAction, folders,
    inspect::{Found, Parents, Seen},
    round::{How, Move},
};
use crate::{
    extras::Extras,
    objects::Objects,
    os::{Folder, Inherited, NewFile},
    path::RelPath,
    tree::{Leaf, Mode, Permissions, same},
};

/// One path that is ready to be moved.
pub(super) struct Prepared {
    pub one: Move,
    /// The old file, as it was read.
    pub seen: Option<Seen>,
}

pub(super) struct Preparation<'a> {
    pub root: &'a Path,
    pub objects: &'a Objects,
    pub extras: &'a Extras,
    /// For the new files.
    pub folder: &'a Folder,
    /// Sync each file; otherwise the caller syncs all at once.
    pub sync: bool,
    pub device: u64,
}

impl Preparation<'_> {
    /// `None` if the path already is as it should be.
    pub fn path(
        &self,
        parents: &mut Parents<'_>,
        path: &RelPath,
        item: &Item,
        number: u64,
    ) -> Result<Option<Prepared>, Conflict> {
        let found = parents.inspect(path);
        let device = match parents.open(path).map(Folder::stat_self) {
            Ok(Ok(stat)) => Some(stat.stamp.device),
            _ => folders::device_of(self.root, path),
        };
        let copied = device.is_some_and(|device| device != self.device);
        let mut one = Move {
            path: path.clone(),
            how: How::Create,
            expected: item.expected,
            wanted: None,
            identity: (0, 0),
            copied,
            number,
        };
        if item.action == RestoreAction::Delete {
            one.how = match item.expected {
                Some(leaf) if leaf.mode == Mode::Folder => How::RemoveFolder,
                _ => How::Delete,
            };
            return self.deletion(one, found);
        }
        let Some(wanted) = item.wanted else {
            return Err(Conflict::NotInSnapshot(None));
        };
        self.write(one, found, (wanted, item.had_one_name), parents)
    }

    fn deletion(&self, one: Move, found: Found) -> Result<Option<Prepared>, Conflict> {
        match found {
            Found::Folder(_) if one.how == How::RemoveFolder => {
                Ok(Some(Prepared { one, seen: None }))
            }
            Found::File(seen) if same(Some(seen.leaf), one.expected) => Ok(Some(Prepared {
                one,
                seen: Some(seen),
            })),
            Found::Failed(why) => Err(Conflict::Failed(why)),
            _ => Err(Conflict::ChangedSince),
        }
    }

    fn write(
        &self,
        mut one: Move,
        found: Found,
        (leaf, had_one_name): (Leaf, bool),
        parents: &mut Parents<'_>,
    ) -> Result<Option<Prepared>, Conflict> {
        if leaf.mode == Mode::Folder {
            return folder(one, found, leaf);
        }
        let seen = match (&found, one.expected) {
            (Found::File(seen), _) if same(Some(seen.leaf), Some(leaf)) => return Ok(None),
            (Found::File(seen), Some(expected)) if seen.leaf.is_same(&expected) => Some(*seen),
            // What is in the way is deleted by the same plan. If it is not gone by then, the new
            // file is not moved there.
            (Found::Absent | Found::Folder(_) | Found::Blocked(_), None) => None,
            (Found::Folder(_), Some(expected)) if expected.mode == Mode::Folder => None,
            (Found::Failed(why), _) => return Err(Conflict::Failed(why.clone())),
            _ => return Err(Conflict::ChangedSince),
        };
        let leaf = Leaf {
            permissions: resolve(leaf, seen.as_ref()),
            ..leaf
        };
        one.wanted = Some(leaf);
        let is_file = |mode| matches!(mode, Mode::File | Mode::Executable);
        let both_files = seen.filter(|old| is_file(old.leaf.mode) && is_file(leaf.mode));
        match both_files {
            Some(old) if old.leaf.id == leaf.id => {
                one.how = How::SetBits;
                one.identity = old.stat.identity();
                return Ok(Some(Prepared { one, seen }));
            }
            // Its other names have its content, too, unless it had none before.
            Some(old) if cfg!(unix) && old.stat.stamp.links > 1 && !had_one_name => {
                one.how = How::Overwrite;
                self.create(&one, leaf, Inherited::default())?;
                one.identity = old.stat.identity();
                return Ok(Some(Prepared { one, seen }));
            }
            _ => {}
        }
        if seen.is_some() {
            one.how = How::Replace;
        }
        let like = match seen {
            Some(old) if is_file(old.leaf.mode) => parents.open(&one.path).ok(),
            _ => None,
        };
        let like = like.map(|folder| (folder, one.path.name()));
        let inherited = Inherited {
            from: like,
            attributes: self
                .extras
                .attributes
                .get(&one.path)
                .map_or(&[], Vec::as_slice),
        };
        one.identity = self.create(&one, leaf, inherited)?;
        Ok(Some(Prepared { one, seen }))
    }

    fn create(
        &self,
        one: &Move,
        leaf: Leaf,
        inherited: Inherited<'_>,
    ) -> Result<(u64, u64), Conflict> {
        let read = self.objects.blob(leaf.id);
        let bytes = &read.map_err(|error| Conflict::Failed(error.to_string()))?;
        let new = NewFile {
            executable: leaf.mode == Mode::Executable,
            bits: leaf.permissions.bits(),
            sync: self.sync,
        };
        let created = match leaf.mode {
            Mode::Link => self.folder.create_link(&one.prepared(), bytes),
            _ => self.folder.create(&one.prepared(), bytes, new, inherited),
        };
        let stat = created.map_err(|error| Conflict::Failed(error.to_string()))?;
        Ok(stat.identity())
    }
}

/// An empty folder is made; of a folder that exists, the permissions are set.
fn folder(mut one: Move, found: Found, leaf: Leaf) -> Result<Option<Prepared>, Conflict> {
    one.wanted = Some(leaf);
    let current = found.leaf();
    match found {
        _ if same(current, Some(leaf)) => Ok(None),
        Found::Folder(stat) if same(current, one.expected) => {
            one.how = How::SetBits;
            one.identity = stat.identity();
            Ok(Some(Prepared { one, seen: None }))
        }
        Found::File(seen) if same(current, one.expected) => {
            one.how = How::MakeFolder;
            Ok(Some(Prepared {
                one,
                seen: Some(seen),
            }))
        }
        Found::Absent | Found::Blocked(_) if one.expected.is_none() => {
            one.how = How::MakeFolder;
            Ok(Some(Prepared { one, seen: None }))
        }
        Found::Failed(why) => Err(Conflict::Failed(why)),
        _ => Err(Conflict::ChangedSince),
    }
}

/// Trees of earlier versions know only whether a file is executable: then those who may read it
/// may also execute it, as with `chmod +x`.
fn resolve(wanted: Leaf, old: Option<&Seen>) -> Permissions {
    match (wanted.permissions.bits(), wanted.mode, old) {
        (None, Mode::File | Mode::Executable, Some(old)) if old.leaf.mode != Mode::Link => {
            let bits = old.stat.stamp.mode & 0o7777;
            match (cfg!(unix), wanted.mode) {
                (false, _) => Permissions::UNKNOWN,
                (_, Mode::Executable) => Permissions::new(bits | (bits & 0o444) >> 2 | 0o100),
                _ => Permissions::new(bits & !0o111),
            }
        }
        _ => wanted.permissions,
    }
}
