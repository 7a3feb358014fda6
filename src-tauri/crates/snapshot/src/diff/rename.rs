//! Finds renames: pairs of a deleted and an added file with similar content.
//!
//! Files with equal content are paired first; then files that share at least half of their
//! lines, if there are few enough candidates to compare all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Sides, split_lines};
use crate::{
    error::Result,
    objects::Objects,
    path::RelPath,
    tree::{Leaf, Mode, Oid},
};

const MAX_PAIRS: usize = 2_500;
const MAX_SIZE: usize = 512 << 10;

/// Maps each new path to its old path.
pub(super) fn find(
    objects: &Objects,
    sides: &BTreeMap<RelPath, Sides>,
) -> Result<BTreeMap<RelPath, RelPath>> {
    let mut deleted: BTreeMap<&RelPath, Leaf> = BTreeMap::new();
    let mut added: BTreeMap<&RelPath, Leaf> = BTreeMap::new();
    for (path, side) in sides {
        match side {
            (Some(old), None) => deleted.insert(path, *old),
            (None, Some(new)) => added.insert(path, *new),
            _ => None,
        };
    }
    let mut renames = BTreeMap::new();
    pair_equal(&mut deleted, &mut added, &mut renames);
    if deleted.len() * added.len() <= MAX_PAIRS {
        pair_similar(objects, &deleted, &added, &mut renames)?;
    }
    Ok(renames)
}

fn pair_equal(
    deleted: &mut BTreeMap<&RelPath, Leaf>,
    added: &mut BTreeMap<&RelPath, Leaf>,
    renames: &mut BTreeMap<RelPath, RelPath>,
) {
    let mut by_content: HashMap<Oid, Vec<&RelPath>> = HashMap::new();
    for (path, leaf) in deleted.iter() {
        by_content.entry(leaf.id).or_default().push(path);
    }
    added.retain(|path, leaf| {
        let Some(candidates) = by_content.get_mut(&leaf.id) else {
            return true;
        };
        let same_name = candidates.iter().position(|old| old.name() == path.name());
        let Some(at) = same_name.or((!candidates.is_empty()).then_some(0)) else {
            return true;
        };
        let from = candidates.remove(at);
        let same_type = deleted
            .get(from)
            .is_some_and(|old| is_link(old) == is_link(leaf));
        if same_type {
            deleted.remove(from);
            renames.insert((*path).clone(), from.clone());
        }
        !same_type
    });
}

fn is_link(leaf: &Leaf) -> bool {
    leaf.mode == Mode::Link
}

fn pair_similar(
    objects: &Objects,
    deleted: &BTreeMap<&RelPath, Leaf>,
    added: &BTreeMap<&RelPath, Leaf>,
    renames: &mut BTreeMap<RelPath, RelPath>,
) -> Result<()> {
    let read = |side: &BTreeMap<&RelPath, Leaf>| -> Result<Vec<(RelPath, Vec<u8>)>> {
        let mut texts = Vec::new();
        for (path, leaf) in side.iter().filter(|(_, leaf)| !is_link(leaf)) {
            let bytes = objects.blob(leaf.id)?;
            if !bytes.is_empty() && bytes.len() <= MAX_SIZE && !super::lines::is_binary(&bytes) {
                texts.push(((*path).clone(), bytes));
            }
        }
        Ok(texts)
    };
    let (old, new) = (read(deleted)?, read(added)?);
    let mut pairs = Vec::new();
    for (from, before) in &old {
        for (to, after) in &new {
            let score = similarity(before, after);
            if score >= 50 {
                pairs.push((score, to, from));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let mut used: BTreeSet<&RelPath> = BTreeSet::new();
    for (_, to, from) in pairs {
        if !used.contains(from) && !renames.contains_key(to) {
            used.insert(from);
            renames.insert(to.clone(), from.clone());
        }
    }
    Ok(())
}

/// The bytes in common lines, in percent of the longer file.
fn similarity(before: &[u8], after: &[u8]) -> usize {
    let mut lines: HashMap<&[u8], usize> = HashMap::new();
    for line in split_lines(before) {
        *lines.entry(line).or_default() += 1;
    }
    let mut common = 0;
    for line in split_lines(after) {
        if let Some(left) = lines.get_mut(line).filter(|left| **left > 0) {
            *left -= 1;
            common += line.len();
        }
    }
    common * 100 / before.len().max(after.len()).max(1)
}
