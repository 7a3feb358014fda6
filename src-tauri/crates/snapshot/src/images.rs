//! Trees of single files whose bytes the caller knows: what an edit tool found and what it wrote.
//!
//! Unlike a snapshot, such a tree is not read from the work tree. It holds a file whether a rule
//! ignores it or not, however large it is, and it covers every path: a path that it does not have
//! did not exist. What is stored here is small and irreplaceable, so no size limit refuses it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use gix_object::Kind as ObjectKind;

use crate::{
    error::{Refused, Result, damaged},
    objects::{Batch, Budget},
    os::{Folder, Kind},
    path::RelPath,
    refs::{Refs, write_wrapper},
    repo::SideRepo,
    scan::{LeftOut, stat_cache::CachedFile},
    tree::{self, HASH, Leaf, Mode, Node, Oid, Permissions, Row, TreeId},
};

/// One file, or the fact that there is none.
#[derive(Debug, Clone)]
pub struct FileImage {
    pub path: RelPath,
    pub content: Option<FileContent>,
}

#[derive(Debug, Clone)]
pub struct FileContent {
    pub mode: Mode,
    /// For a link, its target.
    pub bytes: Vec<u8>,
    permissions: Permissions,
}

impl FileContent {
    /// These bytes in a file with the permissions of the one at `path`; with the usual ones if
    /// there is none.
    pub fn like_file_at(path: &Path, bytes: Vec<u8>) -> Self {
        let found = stat_of(path);
        let (mode, permissions) = match found {
            Some((mode, permissions)) if mode != Mode::Folder => (mode, permissions),
            _ => (Mode::File, Permissions::UNKNOWN),
        };
        Self {
            mode,
            bytes,
            permissions,
        }
    }

    /// These bytes in a file with the usual permissions.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self {
            mode: Mode::File,
            bytes,
            permissions: Permissions::UNKNOWN,
        }
    }

    pub fn of_kind(mode: Mode, bytes: Vec<u8>) -> Self {
        Self {
            mode,
            ..Self::of_bytes(bytes)
        }
    }

    /// Other bytes in the same kind of file.
    #[must_use]
    pub fn with_bytes(&self, bytes: Vec<u8>) -> Self {
        Self {
            mode: self.mode,
            bytes,
            permissions: self.permissions,
        }
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.mode == other.mode
            && self.bytes == other.bytes
            && self.permissions.agree(other.permissions)
    }
}

/// In the root of each of these trees, so that none of them has the id of a snapshot: a snapshot
/// does not cover every path.
const MARK: &[u8] = b".lathe-images";

/// A file with its id, or a folder of them.
enum Branch {
    File(Leaf),
    Folder(Permissions, BTreeMap<Vec<u8>, Branch>),
}

impl SideRepo {
    /// Stores images as one tree for the owner `label`.
    pub fn keep_images(&self, label: &str, images: &[FileImage]) -> Result<TreeId> {
        Refs::check_label(label)?;
        let _lock = self.lock()?;
        let batch = Batch::new(self.objects(), Budget::NO_LIMIT);
        let mut root = BTreeMap::new();
        let mark = Leaf {
            mode: Mode::File,
            id: batch.put(ObjectKind::Blob, b"")?,
            permissions: Permissions::new(0o644),
        };
        root.insert(MARK.to_vec(), Branch::File(mark));
        for image in images {
            // A folder that exists is not the agent's, even if it is empty otherwise.
            for folder in image.path.ancestors() {
                if let Some((Mode::Folder, permissions)) = stat_of(&self.path_of(&folder)) {
                    insert_folder(&mut root, &folder, permissions)?;
                }
            }
        }
        for image in images {
            if let Some(content) = &image.content {
                let leaf = Leaf {
                    mode: content.mode,
                    id: batch.put(ObjectKind::Blob, &content.bytes)?,
                    permissions: content.permissions,
                };
                insert(&mut root, &image.path, Branch::File(leaf))?;
            }
        }
        let tree = write(&batch, &root, Some(are_known(&root)))?;
        let wrapper = write_wrapper(&batch, tree, &LeftOut::default(), None)?;
        batch.finish()?;
        self.refs().add(label, TreeId(tree), wrapper)?;
        Ok(TreeId(tree))
    }

    /// Where a path of the work tree is on this machine.
    pub fn path_of(&self, path: &RelPath) -> PathBuf {
        self.worktree().join(crate::os::path_of(path.as_bytes()))
    }

    /// A file as a tree has it.
    pub fn image_in(&self, tree: TreeId, path: &RelPath) -> Result<FileImage> {
        let content = match tree::lookup(self.objects(), tree.0, path)? {
            Some(Node::Leaf(leaf)) if leaf.mode != Mode::Folder => Some(FileContent {
                mode: leaf.mode,
                bytes: self.objects().blob(leaf.id)?,
                permissions: leaf.permissions,
            }),
            _ => None,
        };
        Ok(FileImage {
            path: path.clone(),
            content,
        })
    }

    /// The hash of a file's content and its kind, without reading it.
    pub fn entry(&self, tree: TreeId, path: &RelPath) -> Result<Option<(String, Mode)>> {
        let found = tree::lookup(self.objects(), tree.0, path)?;
        let leaf = match found {
            Some(Node::Leaf(leaf)) if leaf.mode != Mode::Folder => Some(leaf),
            _ => None,
        };
        Ok(leaf.map(|leaf| (leaf.id.to_string(), leaf.mode)))
    }

    /// Whether a tree has a folder of this name, empty or not.
    pub fn has_folder(&self, tree: TreeId, path: &RelPath) -> bool {
        let found = tree::lookup(self.objects(), tree.0, path).ok().flatten();
        found.and_then(Node::as_folder).is_some()
    }

    /// Whether a tree holds single files only, so that it says nothing about all others.
    pub fn holds_only_images(&self, tree: TreeId) -> bool {
        let mark = RelPath::new(MARK).ok();
        mark.is_some_and(|mark| {
            tree::lookup(self.objects(), tree.0, &mark).is_ok_and(|found| found.is_some())
        })
    }

    /// The file at a path as it is now. Something else than a file or a link is an error.
    pub fn read_image(&self, path: &RelPath) -> std::io::Result<FileImage> {
        let at = self.path_of(path);
        let parent = at.parent().unwrap_or(Path::new("/")).to_owned();
        let content = match read(&parent, path.name()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            read => Some(read?),
        };
        Ok(FileImage {
            path: path.clone(),
            content,
        })
    }

    /// Whether the file at a path is what a tree has there, or is missing in both. A file whose
    /// metadata is as the last scan found it is not read.
    pub fn is_on_disk(&self, tree: TreeId, path: &RelPath) -> bool {
        let leaf = match tree::lookup(self.objects(), tree.0, path) {
            Ok(Some(Node::Leaf(leaf))) if leaf.mode != Mode::Folder => Some(leaf),
            Ok(_) => None,
            Err(_) => return false,
        };
        if let (Some(leaf), Some(known)) = (leaf, self.unchanged_since_scan(path)) {
            return known.id == leaf.id && known.mode == leaf.mode;
        }
        let Ok(now) = self.read_image(path) else {
            return false;
        };
        match (now.content, leaf) {
            (Some(now), Some(leaf)) => {
                let bytes = self.objects().blob(leaf.id);
                now.mode == leaf.mode && bytes.is_ok_and(|bytes| bytes == now.bytes)
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// The file as the last scan found it, if its metadata says that it is still so.
    fn unchanged_since_scan(&self, path: &RelPath) -> Option<CachedFile> {
        let known = self.scanned(path).filter(|known| !known.racy)?;
        let at = self.path_of(path);
        let stat = Folder::open(at.parent()?).ok()?.stat(path.name()).ok()?;
        (stat.stamp == known.stamp).then_some(known)
    }

    /// A repository that only holds images, of files anywhere on this machine: their paths are
    /// relative to the root of the file system. No snapshot can be taken with it.
    pub fn open_for_images(data_dir: &Path) -> Result<Self, Refused> {
        let root = Path::new("/");
        if !root.has_root() || cfg!(windows) {
            return Err(Refused::RootDirectory);
        }
        fs::create_dir_all(data_dir).map_err(Refused::NoRepository)?;
        let data_dir = fs::canonicalize(data_dir).map_err(Refused::NoRepository)?;
        Self::open_at(&images_dir(&data_dir), root)
    }

    /// Whether images of files outside of all projects were ever kept.
    pub fn has_images(data_dir: &Path) -> bool {
        images_dir(data_dir).is_dir()
    }
}

fn images_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("snapshot").join("outside")
}

/// What is at a path, without following a link.
fn stat_of(path: &Path) -> Option<(Mode, Permissions)> {
    let folder = Folder::open(path.parent()?).ok()?;
    let stat = folder.stat(path.file_name()?.as_encoded_bytes()).ok()?;
    let mode = match stat.kind {
        Kind::Link => Mode::Link,
        Kind::Folder => Mode::Folder,
        Kind::File if stat.executable() => Mode::Executable,
        Kind::File => Mode::File,
        Kind::Special => return None,
    };
    Some((mode, stat.permissions()))
}

fn read(folder: &Path, name: &[u8]) -> std::io::Result<FileContent> {
    let folder = Folder::open(folder)?;
    let stat = folder.stat(name)?;
    let (mode, bytes, stat) = match stat.kind {
        Kind::Link => (Mode::Link, folder.read_link(name)?, stat),
        Kind::File => {
            let (bytes, _, after) = folder.read(name, u64::MAX - 1)?;
            let mode = match after.executable() {
                true => Mode::Executable,
                false => Mode::File,
            };
            (mode, bytes, after)
        }
        Kind::Folder | Kind::Special => return Err(std::io::ErrorKind::InvalidInput.into()),
    };
    Ok(FileContent {
        mode,
        bytes,
        permissions: stat.permissions(),
    })
}

type Branches = BTreeMap<Vec<u8>, Branch>;

fn insert_folder(root: &mut Branches, path: &RelPath, permissions: Permissions) -> Result<()> {
    let mut components: Vec<&[u8]> = path.components().collect();
    let name = components.pop().unwrap_or_default();
    let above = descend(root, components.into_iter())?;
    let folder = above
        .entry(name.to_vec())
        .or_insert_with(|| Branch::Folder(permissions, BTreeMap::new()));
    if let Branch::Folder(known, _) = folder {
        *known = permissions;
    }
    Ok(())
}

fn insert(root: &mut Branches, path: &RelPath, file: Branch) -> Result<()> {
    let mut components: Vec<&[u8]> = path.components().collect();
    let name = components.pop().unwrap_or_default();
    let entries = match components.is_empty() {
        true => root,
        false => descend(root, components.into_iter())?,
    };
    entries.insert(name.to_vec(), file);
    Ok(())
}

/// The entries of a folder, made if it is not there.
fn descend<'a, 'b>(
    root: &'a mut Branches,
    components: impl Iterator<Item = &'b [u8]>,
) -> Result<&'a mut Branches> {
    let mut at = root;
    for name in components {
        let below = at
            .entry(name.to_vec())
            .or_insert_with(|| Branch::Folder(Permissions::UNKNOWN, BTreeMap::new()));
        match below {
            Branch::Folder(_, entries) => at = entries,
            Branch::File(_) => return Err(damaged("a file and a folder of the same name")),
        }
    }
    Ok(at)
}

/// Whether all permissions are known that a tree can hold.
fn are_known(entries: &Branches) -> bool {
    entries.values().all(|branch| match branch {
        Branch::File(leaf) => leaf.mode == Mode::Link || leaf.permissions.bits().is_some(),
        Branch::Folder(permissions, below) => permissions.bits().is_some() && are_known(below),
    })
}

/// `root` is set for the root of the tree: whether the permissions in it are known.
fn write(batch: &Batch<'_>, entries: &Branches, root: Option<bool>) -> Result<Oid> {
    if entries.is_empty() {
        return Ok(Oid::empty_tree(HASH));
    }
    let mut rows = Vec::with_capacity(entries.len());
    for (name, branch) in entries {
        let (mode, id, permissions) = match branch {
            Branch::File(leaf) => (leaf.mode, leaf.id, leaf.permissions),
            Branch::Folder(permissions, below) => {
                (Mode::Folder, write(batch, below, None)?, *permissions)
            }
        };
        rows.push(Row {
            name,
            mode,
            id,
            permissions,
        });
    }
    let list = match root {
        // Without its list, nothing is concluded from any permissions in the tree.
        Some(false) => None,
        root => tree::permission_list(&rows, root.is_some()),
    };
    let list = list.map(|list| batch.put(ObjectKind::Blob, &list));
    let bytes = tree::encode_folder(&rows, list.transpose()?);
    batch.put(ObjectKind::Tree, &bytes)
}
