//! Finds renames: pairs of a deleted and an added file with similar content.
//!
//! Files with equal content are paired first; then files that share at least half of their
//! lines, if there are few enough candidates to compare all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

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
        let is_folder = |leaf: &Leaf| leaf.mode == Mode::Folder;
        match side {
            (Some(one), None) | (None, Some(one)) if is_folder(one) => None,
            (Some(old), None) => deleted.insert(path, *old),
            (None, Some(new)) => added.insert(path, *new),
            _ => None,
        };
    }
    let mut renames = BTreeMap::new();
    pair_equal(&mut deleted, &mut added, &mut renames);
    let pairs = deleted.len() * added.len();
    if (1..=MAX_PAIRS).contains(&pairs) {
        pair_similar(objects, &deleted, &added, &mut renames)?;
    }
    Ok(renames)
}

/// Files with the same content, first those that also have the same name.
fn pair_equal(
    deleted: &mut BTreeMap<&RelPath, Leaf>,
    added: &mut BTreeMap<&RelPath, Leaf>,
    renames: &mut BTreeMap<RelPath, RelPath>,
) {
    let mut by_name: HashMap<(Oid, bool, Vec<u8>), VecDeque<RelPath>> = HashMap::new();
    let mut by_content: HashMap<(Oid, bool), VecDeque<RelPath>> = HashMap::new();
    for (path, leaf) in deleted.iter() {
        let (id, link) = (leaf.id, is_link(leaf));
        let named = by_name.entry((id, link, path.name().to_vec())).or_default();
        named.push_back((*path).clone());
        let same = by_content.entry((id, link)).or_default();
        same.push_back((*path).clone());
    }
    let mut pair = |path: &RelPath, candidates: Option<&mut VecDeque<RelPath>>| {
        // A candidate is in both maps, so it may be taken already.
        let free = |from: &RelPath| deleted.contains_key(from);
        let next = candidates.and_then(|all| std::iter::from_fn(|| all.pop_front()).find(free));
        let Some(from) = next else { return true };
        deleted.remove(&from);
        renames.insert(path.clone(), from);
        false
    };
    added.retain(|path, leaf| {
        let key = (leaf.id, is_link(leaf), path.name().to_vec());
        pair(path, by_name.get_mut(&key))
    });
    added.retain(|path, leaf| {
        let key = (leaf.id, is_link(leaf));
        pair(path, by_content.get_mut(&key))
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
