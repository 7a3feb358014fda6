//! Git trees: reading, writing and comparing them.

mod compare;
pub(crate) mod permissions;

use std::{
    collections::HashMap,
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
};

use gix_object::{
    Kind, TreeRefIter,
    tree::{EntryKind, name_order},
};

use crate::{
    error::{Result, SnapshotError, damaged},
    objects::Objects,
    path::allowed_name,
};
pub(crate) use compare::{Sides, compare, files, lookup, sides};
pub(crate) use permissions::Permissions;
use permissions::{ENTRY, List};

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
    /// A folder without files that are taken, or one of which only the permissions changed.
    Folder,
}

impl Mode {
    pub(crate) fn entry_kind(self) -> EntryKind {
        match self {
            Mode::File => EntryKind::Blob,
            Mode::Executable => EntryKind::BlobExecutable,
            Mode::Link => EntryKind::Link,
            Mode::Folder => EntryKind::Tree,
        }
    }
}

/// One file or empty folder of a tree. Compare two with [`same`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaf {
    pub mode: Mode,
    pub id: Oid,
    pub permissions: Permissions,
}

impl Leaf {
    pub fn folder(permissions: Permissions) -> Self {
        Self {
            mode: Mode::Folder,
            id: Oid::empty_tree(HASH),
            permissions,
        }
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.mode == other.mode && self.id == other.id && self.permissions.agree(other.permissions)
    }

    /// Whether both are files, both links or both folders.
    pub fn same_type(&self, other: &Self) -> bool {
        let kind = |mode| match mode {
            Mode::Executable => Mode::File,
            other => other,
        };
        kind(self.mode) == kind(other.mode)
    }
}

pub(crate) fn same(one: Option<Leaf>, other: Option<Leaf>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_same(&other),
        (None, None) => true,
        _ => false,
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    /// A folder that is not empty.
    Tree(Oid, Permissions),
    Leaf(Leaf),
}

impl Node {
    fn known_if(self, known: bool) -> Self {
        let permissions = Permissions::UNKNOWN;
        match self {
            node if known => node,
            Node::Tree(id, _) => Node::Tree(id, permissions),
            Node::Leaf(leaf) => Node::Leaf(Leaf {
                permissions,
                ..leaf
            }),
        }
    }

    /// A folder without what is in it.
    pub fn as_folder(self) -> Option<Leaf> {
        match self {
            Node::Tree(_, permissions) => Some(Leaf::folder(permissions)),
            Node::Leaf(leaf) => (leaf.mode == Mode::Folder).then_some(leaf),
        }
    }
}

/// One entry of a folder that is about to be written.
pub(crate) struct Row<'a> {
    pub name: &'a [u8],
    pub mode: Mode,
    pub id: Oid,
    pub permissions: Permissions,
}

/// The list of permissions of a folder; `None` if it needs none.
pub(crate) fn permission_list(rows: &[Row<'_>], is_root: bool) -> Option<Vec<u8>> {
    let list = List::encode(rows.iter().map(|row| (row.name, row.mode, row.permissions)));
    (is_root || !list.is_empty()).then_some(list)
}

/// Writes a folder, with the id of its list of permissions.
pub(crate) fn encode_folder(rows: &[Row<'_>], list: Option<Oid>) -> Vec<u8> {
    let rows = rows
        .iter()
        .map(|row| (row.name, row.mode.entry_kind(), row.id));
    let list = list.map(|id| (ENTRY, EntryKind::Blob, id));
    encode(&mut rows.chain(list).collect::<Vec<_>>())
}

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

/// One folder of a tree.
pub(crate) struct FolderEntries {
    /// By name, in byte order.
    entries: Vec<(Vec<u8>, Node)>,
    list: Option<Oid>,
}

impl FolderEntries {
    pub fn entries(&self) -> &[(Vec<u8>, Node)] {
        &self.entries
    }

    pub fn get(&self, name: &[u8]) -> Option<Node> {
        let at = self
            .entries
            .binary_search_by(|(one, _)| one.as_slice().cmp(name));
        at.ok().map(|at| self.entries[at].1)
    }

    /// The list of permissions.
    pub fn list(&self) -> Option<Oid> {
        self.list
    }

    /// Whether this can be the root of a tree with known permissions.
    fn is_root(&self) -> bool {
        self.list.is_some()
    }
}

/// Our own trees have no other kinds of entries and no forbidden names. Anything else is damage
/// and must not be written to the work tree.
fn decode(objects: &Objects, bytes: &[u8]) -> Result<FolderEntries> {
    let mut entries = Vec::new();
    let mut list = None;
    for entry in TreeRefIter::from_bytes(bytes, HASH) {
        let entry = entry.map_err(damaged)?;
        let id = entry.oid.to_owned();
        let mode = match entry.mode.kind() {
            EntryKind::Tree => Mode::Folder,
            EntryKind::Blob => Mode::File,
            EntryKind::BlobExecutable => Mode::Executable,
            EntryKind::Link => Mode::Link,
            EntryKind::Commit => return Err(damaged("a commit inside a tree")),
        };
        let name: Vec<u8> = entry.filename.to_vec();
        if name == ENTRY {
            list = Some(id);
        } else if allowed_name(&name) && !name.contains(&b'/') {
            entries.push((name, mode, id));
        } else {
            return Err(damaged("a tree with a forbidden name"));
        }
    }
    let permissions = match list {
        Some(id) => List::decode(&objects.blob(id)?)?,
        None => List::none(),
    };
    let node = |(name, mode, id): (Vec<u8>, Mode, Oid)| {
        let permissions = permissions.of(&name, mode);
        let node = match mode {
            Mode::Folder if id != Oid::empty_tree(HASH) => Node::Tree(id, permissions),
            _ => Node::Leaf(Leaf {
                mode,
                id,
                permissions,
            }),
        };
        (name, node)
    };
    let mut entries: Vec<_> = entries.into_iter().map(node).collect();
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(FolderEntries { entries, list })
}

pub(crate) fn read(objects: &Objects, id: Oid) -> Result<Arc<FolderEntries>> {
    if let Some(known) = objects.folders().get(id) {
        return Ok(known);
    }
    let folder = match objects.read(id)? {
        (Kind::Tree, bytes) => Arc::new(decode(objects, &bytes)?),
        _ => return Err(damaged(format!("{id} is not a tree"))),
    };
    objects.folders().put(id, folder.clone());
    Ok(folder)
}

/// Folders that were read lately: without them, each path of a large folder would read the whole
/// folder again.
#[derive(Default)]
pub(crate) struct FolderCache(Mutex<Cached>);

/// Two halves: when the new one is full, it becomes the old one. What is used stays.
#[derive(Default)]
struct Cached {
    new: HashMap<Oid, Arc<FolderEntries>>,
    old: HashMap<Oid, Arc<FolderEntries>>,
    /// The entries of `new`.
    entries: usize,
}

/// How many entries one half keeps.
const CACHED: usize = 100_000;

impl FolderCache {
    fn get(&self, id: Oid) -> Option<Arc<FolderEntries>> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached.new.get(&id) {
            return Some(known.clone());
        }
        let known = cached.old.remove(&id)?;
        cached.put(id, known.clone());
        Some(known)
    }

    fn put(&self, id: Oid, folder: Arc<FolderEntries>) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.put(id, folder);
    }
}

impl Cached {
    fn put(&mut self, id: Oid, folder: Arc<FolderEntries>) {
        if self.entries + folder.entries.len() > CACHED {
            self.old = std::mem::take(&mut self.new);
            self.entries = 0;
        }
        self.entries += folder.entries.len();
        self.new.insert(id, folder);
    }
}
