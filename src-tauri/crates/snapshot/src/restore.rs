//! Restores files from an earlier snapshot without losing the user's work.
//!
//! A path is changed only if it is exactly as the agent left it (its post-image); otherwise it
//! is a conflict and stays. A file is deleted only if a snapshot that covered its path did not
//! have it, and then it is moved to the trash. Planning changes nothing; applying checks
//! everything again.

mod apply;
mod hunk;
mod inspect;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{
    error::Result,
    path::RelPath,
    repo::SideRepo,
    scan::{LeftOut, Reason},
    tree::{self, Leaf, Mode, Node, TreeId},
};
pub use apply::Outcome;
pub use hunk::{Hunk, HunkConflict, display_hunks};
use inspect::{Found, inspect_path};

/// What will happen to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreAction {
    Write,
    Delete,
    /// It is as it should be already.
    Unchanged,
    Conflict(Conflict),
}

/// Why a path is not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// It was changed, deleted or created after the agent's step.
    ChangedSince,
    /// The earlier snapshot does not cover the path.
    NotInSnapshot(Option<Reason>),
    /// There is a folder now, with something in it that the agent did not create.
    FolderInTheWay,
    /// A parent of the path is a file or a link now.
    ParentInTheWay,
    Hunk(HunkConflict),
    /// The error message of the system.
    Failed(String),
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::ChangedSince => f.write_str("changed since the agent wrote it"),
            Conflict::NotInSnapshot(Some(reason)) => {
                write!(f, "the snapshot does not hold it: {reason}")
            }
            Conflict::NotInSnapshot(None) => f.write_str("the snapshot does not hold it"),
            Conflict::FolderInTheWay => f.write_str("a folder with other files is in its place"),
            Conflict::ParentInTheWay => f.write_str("a folder on its path is a file or a link now"),
            Conflict::Hunk(conflict) => conflict.fmt(f),
            Conflict::Failed(why) => f.write_str(why),
        }
    }
}

/// What to do with each path. Only [`SideRepo::apply`] executes it.
#[derive(Debug, Clone)]
pub struct Plan {
    items: BTreeMap<RelPath, Item>,
    /// Folders that exist in the target: they stay even if they become empty.
    folders: BTreeSet<RelPath>,
}

#[derive(Debug, Clone)]
struct Item {
    /// What must be at the path when the plan is applied.
    expected: Option<Leaf>,
    wanted: Option<Wanted>,
    action: RestoreAction,
}

#[derive(Debug, Clone)]
enum Wanted {
    Stored(Leaf),
    Generated { mode: Mode, bytes: Vec<u8> },
}

impl Plan {
    /// In path order.
    pub fn actions(&self) -> impl Iterator<Item = (&RelPath, &RestoreAction)> {
        self.items.iter().map(|(path, item)| (path, &item.action))
    }

    pub fn action(&self, path: &RelPath) -> Option<&RestoreAction> {
        self.items.get(path).map(|item| &item.action)
    }

    pub fn conflicts(&self) -> impl Iterator<Item = (&RelPath, &Conflict)> {
        self.actions().filter_map(|(path, action)| match action {
            RestoreAction::Conflict(conflict) => Some((path, conflict)),
            _ => None,
        })
    }

    fn deletes(&self, path: &RelPath) -> bool {
        self.action(path) == Some(&RestoreAction::Delete)
    }
}

/// A path to restore, with the two snapshots that decide about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRestore {
    pub path: RelPath,
    /// The snapshot that the path is restored from.
    pub target: TreeId,
    /// The snapshot that has the path as the agent left it.
    pub post_image: TreeId,
}

impl SideRepo {
    /// Plans how to restore the paths. Each path must be in the list only once.
    pub fn plan_restore(&self, paths: &[PathRestore]) -> Result<Plan> {
        let mut targets: BTreeMap<TreeId, Vec<RelPath>> = BTreeMap::new();
        for one in paths {
            self.check(one.post_image)?;
            let paths = targets.entry(one.target).or_default();
            paths.push(one.path.clone());
        }
        let mut plan = Plan {
            items: BTreeMap::new(),
            folders: BTreeSet::new(),
        };
        let mut coverage = BTreeMap::new();
        for (target, paths) in &targets {
            self.check(*target)?;
            let covered = self.left_out(*target)?;
            let folders = self.target_folders(paths, *target, covered.as_ref())?;
            plan.folders.extend(folders);
            coverage.insert(*target, covered);
        }
        let mut writes = Vec::new();
        for one in paths {
            let covered = coverage.get(&one.target).and_then(Option::as_ref);
            let (item, found) = self.plan_one(one, covered)?;
            if item.action == RestoreAction::Write {
                writes.push((one.path.clone(), found));
            }
            plan.items.insert(one.path.clone(), item);
        }
        for (path, found) in writes {
            let conflict = self.in_the_way(&plan, &path, found);
            if let (Some(conflict), Some(item)) = (conflict, plan.items.get_mut(&path)) {
                item.action = RestoreAction::Conflict(conflict);
            }
        }
        Ok(plan)
    }

    fn plan_one(&self, one: &PathRestore, coverage: Option<&LeftOut>) -> Result<(Item, Found)> {
        let wanted = leaf(tree::lookup(self.objects(), one.target.0, &one.path)?);
        let expected = leaf(tree::lookup(self.objects(), one.post_image.0, &one.path)?);
        let found = inspect_path(self.worktree(), &one.path);
        let action = decide(&one.path, wanted, expected, &found, coverage);
        let item = Item {
            expected,
            wanted: wanted.map(Wanted::Stored),
            action,
        };
        Ok((item, found))
    }

    /// A file can replace a folder, or be written below a file, only if the plan deletes what is
    /// there now.
    fn in_the_way(&self, plan: &Plan, path: &RelPath, found: Found) -> Option<Conflict> {
        match found {
            Found::Folder => {
                let cleared = inspect::files_below(self.worktree(), path)
                    .is_some_and(|files| files.iter().all(|file| plan.deletes(file)));
                (!cleared).then_some(Conflict::FolderInTheWay)
            }
            Found::Blocked(at) => (!plan.deletes(&at)).then_some(Conflict::ParentInTheWay),
            _ => None,
        }
    }

    fn target_folders(
        &self,
        paths: &[RelPath],
        target: TreeId,
        coverage: Option<&LeftOut>,
    ) -> Result<BTreeSet<RelPath>> {
        let above: BTreeSet<RelPath> = paths.iter().flat_map(RelPath::ancestors).collect();
        let mut existing = BTreeSet::new();
        for folder in above {
            let in_tree = tree::lookup(self.objects(), target.0, &folder)?;
            let outside_tree = coverage.is_none_or(|left_out| {
                left_out.was_empty_folder(&folder) || left_out.reason_for(&folder).is_some()
            });
            if outside_tree || matches!(in_tree, Some(Node::Tree(_))) {
                existing.insert(folder);
            }
        }
        Ok(existing)
    }
}

fn leaf(node: Option<Node>) -> Option<Leaf> {
    match node {
        Some(Node::Leaf(leaf)) => Some(leaf),
        Some(Node::Tree(_)) | None => None,
    }
}

fn decide(
    path: &RelPath,
    wanted: Option<Leaf>,
    expected: Option<Leaf>,
    found: &Found,
    coverage: Option<&LeftOut>,
) -> RestoreAction {
    let current = match found {
        Found::File(leaf) => Some(*leaf),
        Found::Absent | Found::Folder | Found::Blocked(_) => None,
        Found::Other => return RestoreAction::Conflict(Conflict::ChangedSince),
        Found::Failed(why) => return RestoreAction::Conflict(Conflict::Failed(why.clone())),
    };
    if current == wanted && (wanted.is_some() || !matches!(found, Found::Blocked(_))) {
        return RestoreAction::Unchanged;
    }
    if current != expected {
        return RestoreAction::Conflict(Conflict::ChangedSince);
    }
    if wanted.is_some() {
        return RestoreAction::Write;
    }
    if current.is_none() {
        return RestoreAction::Unchanged;
    }
    match coverage {
        None => RestoreAction::Conflict(Conflict::NotInSnapshot(None)),
        Some(left_out) => match left_out.reason_for(path) {
            Some(reason) => RestoreAction::Conflict(Conflict::NotInSnapshot(Some(reason))),
            None => RestoreAction::Delete,
        },
    }
}
