//! Finds a path in a tree, and what differs between two trees.

use std::{cmp::Ordering, collections::BTreeMap};

use super::{Leaf, Node, Oid, same};
use crate::{
    error::{Result, damaged},
    objects::Objects,
    path::{RelPath, join},
};

pub(crate) type Sides = (Option<Leaf>, Option<Leaf>);
pub(crate) type Files = BTreeMap<RelPath, Leaf>;

pub(crate) fn lookup(objects: &Objects, root: Oid, path: &RelPath) -> Result<Option<Node>> {
    let mut folder = super::read(objects, root)?;
    let known = folder.is_root();
    let mut components = path.components().peekable();
    while let Some(name) = components.next() {
        let Some(node) = folder.get(name) else {
            return Ok(None);
        };
        match node {
            node if components.peek().is_none() => return Ok(Some(node.known_if(known))),
            Node::Tree(id, _) => folder = super::read(objects, id)?,
            Node::Leaf(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// Finds the files and folders that differ, each with its two sides; equal subtrees are not
/// read. A folder with files is listed only if its permissions changed, because its files say
/// whether it was made or removed.
pub(crate) fn compare(
    objects: &Objects,
    old: Option<Oid>,
    new: Option<Oid>,
) -> Result<BTreeMap<RelPath, Sides>> {
    let is_root = |root: Option<Oid>| -> Result<bool> {
        root.map_or(Ok(false), |id| Ok(super::read(objects, id)?.is_root()))
    };
    let mut comparison = Comparison {
        objects,
        known: (is_root(old)?, is_root(new)?),
        found: BTreeMap::new(),
    };
    comparison.folders(old, new, b"")?;
    Ok(comparison.found)
}

/// Every file and every empty folder of a tree.
pub(crate) fn files(objects: &Objects, root: Oid) -> Result<Files> {
    let found = compare(objects, None, Some(root))?;
    Ok(found
        .into_iter()
        .filter_map(|(path, (_, new))| Some((path, new?)))
        .collect())
}

struct Comparison<'a> {
    objects: &'a Objects,
    /// Whether the permissions are known in the old and in the new tree.
    known: (bool, bool),
    found: BTreeMap<RelPath, Sides>,
}

impl Comparison<'_> {
    fn folders(&mut self, old: Option<Oid>, new: Option<Oid>, at: &[u8]) -> Result<()> {
        if old == new {
            return Ok(());
        }
        let open = |side: Option<Oid>| side.map(|id| super::read(self.objects, id)).transpose();
        let (old, new) = (open(old)?, open(new)?);
        let old = old.as_ref().map_or(&[][..], |folder| folder.entries());
        let new = new.as_ref().map_or(&[][..], |folder| folder.entries());
        let (mut left, mut right) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((one, _)), Some((other, _))) => one.cmp(other),
            };
            let before = if order.is_le() { left.next() } else { None };
            let after = if order.is_ge() { right.next() } else { None };
            if let Some((name, _)) = before.or(after) {
                let (before, after) = (before.map(|one| one.1), after.map(|one| one.1));
                self.nodes(before, after, join(at, name))?;
            }
        }
    }

    fn nodes(&mut self, old: Option<Node>, new: Option<Node>, path: Vec<u8>) -> Result<()> {
        let old = old.map(|node| node.known_if(self.known.0));
        let new = new.map(|node| node.known_if(self.known.1));
        self.folders(subtree(old), subtree(new), &path)?;
        let sides = sides(old, new);
        if !same(sides.0, sides.1) {
            let path = RelPath::new(&path).map_err(damaged)?;
            self.found.insert(path, sides);
        }
        Ok(())
    }
}

/// The two sides of one path. A folder with files in it is a side only if the other one is a
/// folder too: then only its permissions can differ.
pub(crate) fn sides(old: Option<Node>, new: Option<Node>) -> Sides {
    match (old.and_then(Node::as_folder), new.and_then(Node::as_folder)) {
        (Some(old), Some(new)) => (Some(old), Some(new)),
        _ => (leaf(old), leaf(new)),
    }
}

fn leaf(node: Option<Node>) -> Option<Leaf> {
    match node {
        Some(Node::Leaf(leaf)) => Some(leaf),
        Some(Node::Tree(..)) | None => None,
    }
}

fn subtree(node: Option<Node>) -> Option<Oid> {
    match node {
        Some(Node::Tree(id, _)) => Some(id),
        _ => None,
    }
}
