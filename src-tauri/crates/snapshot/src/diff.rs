//! What changed between two snapshots, file by file.
//!
//! Trees are compared by hash, so only files that differ are read. The result is a list of
//! files with line counts; hunks are the business of the `render` crate.

mod counts;
mod lines;
mod rename;

use std::collections::BTreeMap;

use crate::{
    error::{Context, Result, SnapshotError},
    path::RelPath,
    repo::SideRepo,
    tree::{self, Leaf, Mode, Node, Sides, TreeId, same},
};
use counts::Counted;
pub(crate) use lines::split_lines;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: RelPath,
    pub kind: ChangeKind,
    pub binary: bool,
    /// In lines; 0 for a binary file.
    pub additions: usize,
    pub deletions: usize,
    pub old_mode: Option<Mode>,
    pub new_mode: Option<Mode>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    Modified,
    Renamed {
        from: RelPath,
    },
    /// Only permissions.
    Mode,
    /// A file became a link or an empty folder, or the reverse.
    TypeChange,
}

impl SideRepo {
    /// In path order; a renamed file is listed under its new path.
    pub fn diff(&self, from: TreeId, to: TreeId) -> Result<Vec<Change>> {
        self.changes(self.compare(from, to)?)
    }

    /// Compares the given paths, each between two snapshots of its own.
    pub fn diff_paths(&self, paths: &[(RelPath, TreeId, TreeId)]) -> Result<Vec<Change>> {
        let mut sides = BTreeMap::new();
        for (path, from, to) in paths {
            let both = self.sides_of(path, *from, *to)?;
            if !same(both.0, both.1) {
                sides.insert(path.clone(), both);
            }
        }
        self.changes(sides)
    }

    fn changes(&self, mut sides: BTreeMap<RelPath, Sides>) -> Result<Vec<Change>> {
        let renames = rename::find(self.objects(), &sides)?;
        let mut old_of_rename = BTreeMap::new();
        for from in renames.values() {
            if let Some((old, _)) = sides.remove(from) {
                old_of_rename.insert(from.clone(), old);
            }
        }
        let mut changes = Vec::with_capacity(sides.len());
        for (path, (old, new)) in sides {
            let renamed = renames.get(&path).cloned();
            let old = match &renamed {
                Some(from) => old_of_rename.get(from).copied().flatten(),
                None => old,
            };
            changes.push(self.change(path, old, new, renamed)?);
        }
        Ok(changes)
    }

    /// The paths that differ; both paths of a rename are in the list.
    pub fn changed_files(&self, from: TreeId, to: TreeId) -> Result<Vec<RelPath>> {
        Ok(self.compare(from, to)?.into_keys().collect())
    }

    /// Compares one path; `None` if it is the same in both snapshots.
    pub fn diff_path(&self, path: &RelPath, from: TreeId, to: TreeId) -> Result<Option<Change>> {
        let (old, new) = self.sides_of(path, from, to)?;
        if same(old, new) {
            return Ok(None);
        }
        self.change(path.clone(), old, new, None).map(Some)
    }

    /// Whether a path is the same in two snapshots. The files themselves are not read.
    pub fn is_same(&self, path: &RelPath, one: TreeId, other: TreeId) -> Result<bool> {
        let (old, new) = self.sides_of(path, one, other)?;
        Ok(same(old, new))
    }

    fn sides_of(&self, path: &RelPath, from: TreeId, to: TreeId) -> Result<Sides> {
        let side = |tree: TreeId| -> Result<Option<Node>> {
            self.check(tree)?;
            tree::lookup(self.objects(), tree.0, path)
        };
        Ok(tree::sides(side(from)?, side(to)?))
    }

    /// Whether the objects of a snapshot exist, for any label.
    pub fn contains(&self, tree: TreeId) -> bool {
        self.check(tree).is_ok()
    }

    /// Every file of a snapshot.
    pub fn files(&self, tree: TreeId) -> Result<Vec<(RelPath, Mode)>> {
        self.check(tree)?;
        let files = tree::files(self.objects(), tree.0)?;
        Ok(files
            .into_iter()
            .filter(|(_, leaf)| leaf.mode != Mode::Folder)
            .map(|(path, leaf)| (path, leaf.mode))
            .collect())
    }

    fn compare(&self, from: TreeId, to: TreeId) -> Result<BTreeMap<RelPath, Sides>> {
        self.check(from)?;
        self.check(to)?;
        tree::compare(self.objects(), Some(from.0), Some(to.0))
    }

    pub(crate) fn check(&self, tree: TreeId) -> Result<()> {
        if self.objects().has(tree.0) {
            return Ok(());
        }
        self.objects().refresh().context("looking for packs")?;
        match self.objects().has(tree.0) {
            true => Ok(()),
            false => Err(SnapshotError::NoSuchTree(tree)),
        }
    }

    fn change(
        &self,
        path: RelPath,
        old: Option<Leaf>,
        new: Option<Leaf>,
        renamed: Option<RelPath>,
    ) -> Result<Change> {
        let read = |leaf: Option<Leaf>| match leaf {
            Some(leaf) if leaf.mode != Mode::Folder => self.objects().blob(leaf.id),
            _ => Ok(Vec::new()),
        };
        let id = |leaf: Option<Leaf>| {
            leaf.filter(|leaf| leaf.mode != Mode::Folder)
                .map(|leaf| leaf.id)
        };
        let same = old.map(|leaf| leaf.id) == new.map(|leaf| leaf.id);
        let counted = match same {
            true => Counted::default(),
            false => counts::of((id(old), id(new)), || {
                let (before, after) = (read(old)?, read(new)?);
                let binary = lines::is_binary(&before) || lines::is_binary(&after);
                let (additions, deletions) = match binary {
                    true => (0, 0),
                    false => lines::count(&before, &after),
                };
                Ok(Counted {
                    binary,
                    additions,
                    deletions,
                })
            })?,
        };
        Ok(Change {
            path,
            kind: kind(old, new, renamed),
            binary: counted.binary,
            additions: counted.additions,
            deletions: counted.deletions,
            old_mode: old.map(|leaf| leaf.mode),
            new_mode: new.map(|leaf| leaf.mode),
        })
    }
}

fn kind(old: Option<Leaf>, new: Option<Leaf>, renamed: Option<RelPath>) -> ChangeKind {
    match (old, new, renamed) {
        (_, _, Some(from)) => ChangeKind::Renamed { from },
        (None, ..) => ChangeKind::Added,
        (_, None, _) => ChangeKind::Deleted,
        (Some(old), Some(new), _) if !old.same_type(&new) => ChangeKind::TypeChange,
        (Some(old), Some(new), _) if old.id == new.id => ChangeKind::Mode,
        _ => ChangeKind::Modified,
    }
}
