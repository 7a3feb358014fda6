//! Refs: which snapshots are in use, and what each one left out.
//!
//! A ref is a file `refs/lathe/<label>/<tree>-<wrapper>` that contains the id of the wrapper: a
//! tree with the snapshot's tree and its list of left-out paths. So one id makes all objects of a
//! snapshot reachable, for git too. The label is the owner of the snapshot, usually a session.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use gix_object::{Kind, tree::EntryKind};
use lathe_files::{write_unsynced, write_unsynced_via};

use crate::{
    error::{Context, Result, SnapshotError, damaged},
    extras::Extras,
    objects::{Batch, Objects},
    scan::LeftOut,
    temporary_files::file_names,
    tree::{self, Node, Oid, TreeId},
};

const TREE: &[u8] = b"tree";
const LEFT_OUT: &[u8] = b"left-out";
const EXTRAS: &[u8] = b"extras";

/// A snapshot is not garbage-collected while it has a ref.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotRef {
    label: String,
    tree: TreeId,
    wrapper: Oid,
}

impl SnapshotRef {
    pub fn tree(&self) -> TreeId {
        self.tree
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    pub(crate) fn wrapper(&self) -> Oid {
        self.wrapper
    }

    fn parse(label: &str, name: &str) -> Option<Self> {
        let (tree, wrapper) = name.split_once('-')?;
        Some(Self {
            label: label.to_owned(),
            tree: tree.parse().ok()?,
            wrapper: Oid::from_hex(wrapper.as_bytes()).ok()?,
        })
    }
}

impl fmt::Display for SnapshotRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}-{}", self.label, self.tree, self.wrapper)
    }
}

pub(crate) struct Refs {
    repository: PathBuf,
    dir: PathBuf,
    /// Git's file for many refs: hundreds of small files would take a disk block each.
    packed: PathBuf,
}

impl Refs {
    pub fn open(repository: &Path) -> io::Result<Self> {
        let dir = repository.join("refs/lathe");
        fs::create_dir_all(&dir)?;
        let packed = repository.join("packed-refs");
        let repository = repository.to_owned();
        Ok(Self {
            repository,
            dir,
            packed,
        })
    }

    pub fn check_label(label: &str) -> Result<()> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if (1..=100).contains(&label.len()) && label.chars().all(allowed) {
            Ok(())
        } else {
            Err(SnapshotError::BadLabel(label.to_owned()))
        }
    }

    pub fn add(&self, label: &str, tree: TreeId, wrapper: Oid) -> Result<SnapshotRef> {
        let reference = SnapshotRef {
            label: label.to_owned(),
            tree,
            wrapper,
        };
        let path = self.dir.join(reference.to_string());
        if !path.exists() && !self.packed()?.contains(&reference) {
            // The temporary file is not created among the refs: they have a folder per session,
            // and those are not searched for temporary files.
            let line = format!("{wrapper}\n");
            fs::create_dir_all(self.dir.join(label)).context("writing a ref")?;
            write_unsynced_via(&self.repository, &path, line.as_bytes())
                .context("writing a ref")?;
        }
        Ok(reference)
    }

    pub fn remove(&self, references: &[SnapshotRef]) -> Result<()> {
        let gone: BTreeSet<&SnapshotRef> = references.iter().collect();
        let mut packed = self.packed()?;
        let before = packed.len();
        packed.retain(|reference| !gone.contains(reference));
        if packed.len() != before {
            self.write_packed(&packed)?;
        }
        references.iter().try_for_each(|one| self.remove_file(one))
    }

    fn remove_file(&self, reference: &SnapshotRef) -> Result<()> {
        match fs::remove_file(self.dir.join(reference.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).context("removing a ref")
            }
            _ => {
                // Fails unless this was the last ref of the label.
                let _ = fs::remove_dir(self.dir.join(&reference.label));
                Ok(())
            }
        }
    }

    /// Oldest first.
    pub fn all(&self) -> Result<Vec<SnapshotRef>> {
        let mut all = self.packed()?;
        let packed: BTreeSet<SnapshotRef> = all.iter().cloned().collect();
        let mut loose = Vec::new();
        for label in file_names(&self.dir).context("reading refs")? {
            loose.extend(self.loose(&label)?);
        }
        loose.sort_by_key(|(time, _)| *time);
        let loose = loose.into_iter().map(|(_, reference)| reference);
        all.extend(loose.filter(|reference| !packed.contains(reference)));
        Ok(all)
    }

    /// Moves all refs into one file.
    pub fn pack(&self) -> Result<()> {
        let all = self.all()?;
        self.write_packed(&all)?;
        all.iter().try_for_each(|one| self.remove_file(one))
    }

    fn packed(&self) -> Result<Vec<SnapshotRef>> {
        let text = match fs::read_to_string(&self.packed) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.context("reading refs")?,
        };
        let parse = |line: &str| {
            let (_, name) = line.split_once(" refs/lathe/")?;
            let (label, name) = name.split_once('/')?;
            SnapshotRef::parse(label, name)
        };
        // Skipping a line would lose its snapshot at the next garbage collection.
        text.lines()
            .map(|line| parse(line).ok_or_else(|| damaged("a ref that can’t be read")))
            .collect()
    }

    fn write_packed(&self, references: &[SnapshotRef]) -> Result<()> {
        let mut text = String::new();
        for reference in references {
            text.push_str(&format!("{} refs/lathe/{reference}\n", reference.wrapper));
        }
        write_unsynced(&self.packed, text.as_bytes()).context("writing refs")
    }

    /// Refs in files of their own, with the time of each.
    fn loose(&self, label: &str) -> Result<Vec<(SystemTime, SnapshotRef)>> {
        let dir = self.dir.join(label);
        let mut found = Vec::new();
        for name in file_names(&dir).context("reading refs")? {
            if let Some(reference) = SnapshotRef::parse(label, &name) {
                let meta = fs::metadata(dir.join(&name));
                let time = meta.and_then(|meta| meta.modified());
                found.push((time.unwrap_or(SystemTime::UNIX_EPOCH), reference));
            }
        }
        Ok(found)
    }

    /// The paths that any snapshot with this tree left out. `None` if no snapshot has this tree:
    /// then it is unknown which paths it covers.
    pub fn left_out(&self, objects: &Objects, tree: TreeId) -> Result<Option<LeftOut>> {
        let wrappers = self.wrappers()?;
        match wrappers.get(&tree) {
            Some(wrappers) => Ok(Some(Beside::read(objects, wrappers)?.left_out)),
            None => Ok(None),
        }
    }

    /// The wrappers of every tree.
    pub fn wrappers(&self) -> Result<BTreeMap<TreeId, BTreeSet<Oid>>> {
        let mut found: BTreeMap<TreeId, BTreeSet<Oid>> = BTreeMap::new();
        for reference in self.all()? {
            let wrappers = found.entry(reference.tree).or_default();
            wrappers.insert(reference.wrapper);
        }
        Ok(found)
    }
}

/// What the snapshots with one tree say besides.
pub(crate) struct Beside {
    pub left_out: LeftOut,
    /// `None` if the links and attributes are not known.
    pub extras: Option<Extras>,
}

impl Beside {
    pub fn read(objects: &Objects, wrappers: &BTreeSet<Oid>) -> Result<Self> {
        let (mut left_out, mut extras) = (LeftOut::default(), None);
        for wrapper in wrappers {
            left_out.extend(read_left_out(objects, *wrapper)?);
            if let Some(Node::Leaf(leaf)) = tree::read(objects, *wrapper)?.get(EXTRAS) {
                let read = Extras::decode(&objects.blob(leaf.id)?);
                let read = read.ok_or_else(|| damaged("links that can’t be read"))?;
                extras.get_or_insert_with(Extras::default).extend(read);
            }
        }
        Ok(Self { left_out, extras })
    }
}

pub(crate) fn write_wrapper(
    batch: &Batch<'_>,
    tree: Oid,
    left_out: &LeftOut,
    extras: Option<&Extras>,
) -> Result<Oid> {
    let list = batch.put(Kind::Blob, &left_out.encode())?;
    let mut rows = vec![
        (LEFT_OUT, EntryKind::Blob, list),
        (TREE, EntryKind::Tree, tree),
    ];
    if let Some(extras) = extras {
        let extras = batch.put(Kind::Blob, &extras.encode())?;
        rows.push((EXTRAS, EntryKind::Blob, extras));
    }
    batch.put(Kind::Tree, &tree::encode(&mut rows))
}

fn read_left_out(objects: &Objects, wrapper: Oid) -> Result<LeftOut> {
    let list = match tree::read(objects, wrapper)?.get(LEFT_OUT) {
        Some(Node::Leaf(leaf)) => Some(leaf.id),
        _ => None,
    };
    let id = list.ok_or_else(|| damaged("a snapshot without its list"))?;
    LeftOut::decode(&objects.blob(id)?)
}
