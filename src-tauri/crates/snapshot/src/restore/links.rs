//! Names that were one file become one file again. The new file of such a name is not moved to its
//! place: another name of the file that is there already, or of the first new one, takes its part.

use std::{collections::HashMap, path::Path};

use super::{
    inspect::{Found, inspect_entry, parent_folder},
    prepare::Prepared,
    round::How,
};
use crate::{
    extras::Extras,
    os::Folder,
    path::RelPath,
    tree::{Leaf, Mode, same},
};

/// Where the system does not let us, each name gets a file of its own.
pub(super) fn join(root: &Path, extras: &Extras, prepared: &Folder, found: &mut [Prepared]) {
    if extras.links.is_empty() {
        return;
    }
    let new: HashMap<RelPath, usize> = found
        .iter()
        .enumerate()
        .filter(|(_, one)| is_new_file(one))
        .map(|(at, one)| (one.one.path.clone(), at))
        .collect();
    for names in &extras.links {
        let mut made = names.iter().filter_map(|path| new.get(path).copied());
        let Some(first) = made.next() else {
            continue;
        };
        let wanted = found[first].one.wanted;
        let others = names.iter().filter(|path| !new.contains_key(*path));
        let is_there = others.into_iter().find_map(|path| find(root, path, wanted));
        let (folder, name) = match &is_there {
            Some((folder, name)) => {
                take_part(folder, name, prepared, &mut found[first]);
                (folder, name.clone())
            }
            None => (prepared, found[first].one.prepared()),
        };
        for at in made {
            if same(found[at].one.wanted, wanted) {
                take_part(folder, &name, prepared, &mut found[at]);
            }
        }
    }
}

fn is_new_file(one: &Prepared) -> bool {
    let is_file = |leaf: Leaf| matches!(leaf.mode, Mode::File | Mode::Executable);
    let is_moved = matches!(one.one.how, How::Create | How::Replace);
    is_moved && !one.one.copied && one.one.wanted.is_some_and(is_file)
}

/// A file that is as the new one has to be.
fn find(root: &Path, path: &RelPath, wanted: Option<Leaf>) -> Option<(Folder, Vec<u8>)> {
    let folder = parent_folder(root, path).ok()?;
    match inspect_entry(&folder, path.name()) {
        Found::File(seen) if same(Some(seen.leaf), wanted) => Some((folder, path.name().to_vec())),
        _ => None,
    }
}

fn take_part(folder: &Folder, name: &[u8], prepared: &Folder, one: &mut Prepared) {
    let own = one.one.prepared();
    let beside = [&own[..], b".link"].concat();
    let Ok(stat) = folder.link(name, prepared, &beside) else {
        return;
    };
    match prepared.move_over(&beside, prepared, &own) {
        Ok(()) => one.one.identity = stat.identity(),
        Err(_) => drop(prepared.remove_file(&beside)),
    }
}
