//! Git trees: reading, writing and comparing them.

use std::{collections::BTreeMap, fmt, str::FromStr};

use gix_object::{
    Kind, TreeRefIter,
    tree::{EntryKind, name_order},
};

use crate::{
    error::{Result, SnapshotError, damaged},
    objects::Objects,
    path::{RelPath, allowed_name, join},
};

pub(crate) type Oid = gix_hash::ObjectId;
pub(crate) const HASH: gix_hash::Kind = gix_hash::Kind::Sha1;

/// The hash of a snapshot's content; 40 hex digits as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(pub(crate) Oid);

impl FromStr for TreeId {
    type Err = SnapshotError;
    fn from_str(text: &str) -> Result<Self> {
        Oid::from_hex(text.as_bytes())
            .map(Self)
            .map_err(|_| damaged(format!("{text:?} is not a snapshot hash")))
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The kind of a file, as a tree records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    File,
    Executable,
    Link,
}

impl Mode {
    pub(crate) fn entry_kind(self) -> EntryKind {
        match self {
            Mode::File => EntryKind::Blob,
            Mode::Executable => EntryKind::BlobExecutable,
            Mode::Link => EntryKind::Link,
        }
    }
}

/// One file of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub mode: Mode,
    pub id: Oid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Tree(Oid),
    Leaf(Leaf),
}

pub(crate) type Files = BTreeMap<RelPath, Leaf>;

/// Writes entries in git's order.
pub(crate) fn encode(entries: &mut [(&[u8], EntryKind, Oid)]) -> Vec<u8> {
    entries.sort_by(|(a, a_kind, _), (b, b_kind, _)| {
        name_order(a, *a_kind == EntryKind::Tree, b, *b_kind == EntryKind::Tree)
    });
    let mut out = Vec::with_capacity(entries.iter().map(|(name, ..)| name.len() + 28).sum());
    for (name, kind, id) in entries {
        out.extend_from_slice(kind.as_octal_str());
        out.push(b' ');
        out.extend_from_slice(name);
        out.push(0);
        out.extend_from_slice(id.as_slice());
    }
    out
}

/// Our own trees have no other kinds of entries and no forbidden names. Anything else is damage
/// and must not be written to the work tree.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<(Vec<u8>, Node)>> {
    TreeRefIter::from_bytes(bytes, HASH)
        .map(|entry| {
            let entry = entry.map_err(damaged)?;
            let id = entry.oid.to_owned();
            let leaf = |mode| Node::Leaf(Leaf { mode, id });
            let node = match entry.mode.kind() {
                EntryKind::Tree => Node::Tree(id),
                EntryKind::Blob => leaf(Mode::File),
                EntryKind::BlobExecutable => leaf(Mode::Executable),
                EntryKind::Link => leaf(Mode::Link),
                EntryKind::Commit => return Err(damaged("a commit inside a tree")),
            };
            let name: Vec<u8> = entry.filename.to_vec();
            if allowed_name(&name) && !name.contains(&b'/') {
                Ok((name, node))
            } else {
                Err(damaged("a tree with a forbidden name"))
            }
        })
        .collect()
}

pub(crate) fn read(objects: &Objects, id: Oid) -> Result<Vec<(Vec<u8>, Node)>> {
    match objects.read(id)? {
        (Kind::Tree, bytes) => decode(&bytes),
        _ => Err(damaged(format!("{id} is not a tree"))),
    }
}

pub(crate) fn lookup(objects: &Objects, root: Oid, path: &RelPath) -> Result<Option<Node>> {
    let mut at = Node::Tree(root);
    for component in path.components() {
        let Node::Tree(id) = at else { return Ok(None) };
        let found = read(objects, id)?
            .into_iter()
            .find(|(name, _)| name == component);
        match found {
            Some((_, node)) => at = node,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}

/// Finds the files that differ, each with its two sides; equal subtrees are not read.
pub(crate) fn compare(
    objects: &Objects,
    old: Option<Oid>,
    new: Option<Oid>,
    at: &[u8],
    found: &mut BTreeMap<RelPath, (Option<Leaf>, Option<Leaf>)>,
) -> Result<()> {
    if old == new {
        return Ok(());
    }
    let open = |side: Option<Oid>| match side {
        Some(id) => read(objects, id).map(|entries| entries.into_iter().collect()),
        None => Ok(BTreeMap::new()),
    };
    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) = (open(old)?, open(new)?);
    let names: std::collections::BTreeSet<&Vec<u8>> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (before, after) = (old.get(name).copied(), new.get(name).copied());
        if before == after {
            continue;
        }
        let path = join(at, name);
        let (tree_before, leaf_before) = split(before);
        let (tree_after, leaf_after) = split(after);
        compare(objects, tree_before, tree_after, &path, found)?;
        if leaf_before != leaf_after {
            let path = RelPath::new(&path).map_err(damaged)?;
            found.insert(path, (leaf_before, leaf_after));
        }
    }
    Ok(())
}

fn split(node: Option<Node>) -> (Option<Oid>, Option<Leaf>) {
    match node {
        Some(Node::Tree(id)) => (Some(id), None),
        Some(Node::Leaf(leaf)) => (None, Some(leaf)),
        None => (None, None),
    }
}

/// Every file of a tree.
pub(crate) fn files(objects: &Objects, root: Oid) -> Result<Files> {
    let mut found = BTreeMap::new();
    compare(objects, None, Some(root), b"", &mut found)?;
    Ok(found
        .into_iter()
        .filter_map(|(path, (_, new))| Some((path, new?)))
        .collect())
}
