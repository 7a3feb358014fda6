//! What a tree has no room for, and a restore brings back where the system lets it: which names
//! are one file (hard links), and extended attributes. It is kept beside the tree of a snapshot,
//! so it is no change by itself: two trees with the same files are the same.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use crate::{
    fields::{Reader, Writer},
    os::{Attributes, Folder},
    path::{RelPath, join},
    scan::stat_cache::{CachedFolder, Entry},
    tree::Mode,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// The names of each file that has several, as far as they are in the tree.
    pub links: Vec<Vec<RelPath>>,
    pub attributes: BTreeMap<RelPath, Attributes>,
}

impl Extras {
    pub fn collect(worktree: &Path, root: &CachedFolder) -> Self {
        let mut found = Found::default();
        found.folder(b"", root);
        let mut links: Vec<Vec<RelPath>> = found.names.into_values().collect();
        links.sort();
        let mut attributes = BTreeMap::new();
        for path in found.attributed {
            let parent = path.parent();
            let parent = parent.map_or(Vec::new(), |parent| parent.as_bytes().to_vec());
            let read = open(worktree, &parent).and_then(|folder| folder.attributes(path.name()));
            if let Some(mut read) = read.ok().filter(|read| !read.is_empty()) {
                read.sort();
                attributes.insert(path, read);
            }
        }
        Self { links, attributes }
    }

    /// Only what concerns these paths.
    pub fn retain(&mut self, is_wanted: impl Fn(&RelPath) -> bool) {
        self.links.retain(|names| names.iter().any(&is_wanted));
        self.attributes.retain(|path, _| is_wanted(path));
    }

    pub fn with_several_names(&self) -> BTreeSet<RelPath> {
        self.links.iter().flatten().cloned().collect()
    }

    pub fn extend(&mut self, other: Self) {
        self.links.extend(other.links);
        self.attributes.extend(other.attributes);
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(MAGIC);
        out.number(self.links.len() as u64);
        for names in &self.links {
            out.number(names.len() as u64);
            names.iter().for_each(|path| out.text(path.as_bytes()));
        }
        out.number(self.attributes.len() as u64);
        for (path, attributes) in &self.attributes {
            out.text(path.as_bytes());
            out.number(attributes.len() as u64);
            for (name, value) in attributes {
                out.text(name);
                out.text(value);
            }
        }
        out.finish()
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader::new(bytes, MAGIC)?;
        let path = |from: &mut Reader<'_>| RelPath::new(from.text()?.into_vec()).ok();
        let mut extras = Self::default();
        for _ in 0..from.number()? {
            let names = (0..from.number()?).map(|_| path(&mut from));
            extras.links.push(names.collect::<Option<_>>()?);
        }
        for _ in 0..from.number()? {
            let path = path(&mut from)?;
            let attributes = (0..from.number()?)
                .map(|_| Some((from.text()?.into_vec(), from.text()?.into_vec())))
                .collect::<Option<_>>()?;
            extras.attributes.insert(path, attributes);
        }
        Some(extras)
    }
}

const MAGIC: &[u8] = b"lathe-extras-1\n";

#[derive(Default)]
struct Found {
    /// By device and inode.
    names: HashMap<(u64, u64), Vec<RelPath>>,
    attributed: Vec<RelPath>,
}

impl Found {
    fn folder(&mut self, at: &[u8], folder: &CachedFolder) {
        for (name, entry) in &folder.entries {
            match entry {
                Entry::Folder(inner) => self.folder(&join(at, name), inner),
                Entry::File(file) if file.mode == Mode::Link => {}
                Entry::File(file) => {
                    let has_extras = file.stamp.links > 1 || file.attributed;
                    let path = has_extras.then(|| RelPath::new(join(at, name)).ok());
                    let Some(path) = path.flatten() else { continue };
                    if file.stamp.links > 1 {
                        let identity = (file.stamp.device, file.stamp.inode);
                        self.names.entry(identity).or_default().push(path.clone());
                    }
                    if file.attributed {
                        self.attributed.push(path);
                    }
                }
            }
        }
    }
}

fn open(worktree: &Path, folder: &[u8]) -> std::io::Result<Folder> {
    let mut at = Folder::open(worktree)?;
    for name in folder
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
    {
        at = at.subfolder(name)?;
    }
    Ok(at)
}
