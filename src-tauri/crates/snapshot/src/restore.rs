//! Restores files from an earlier snapshot without losing the user's work.
//!
//! A path is changed only if it is exactly as the agent left it (its post-image); otherwise it
//! is a conflict and stays. A file is deleted only if a snapshot that covered its path did not
//! have it, and then it is moved to the trash. Planning changes nothing; applying checks
//! everything again.

mod apply;
mod folders;
mod inspect;
#[cfg(all(test, unix))]
mod killed;
mod links;
mod moves;
#[cfg(all(test, unix))]
mod old_trees;
mod prepare;
mod roll_back;
mod round;
mod trash;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use rayon::prelude::*;

use crate::{
    error::Result,
    extras::Extras,
    path::RelPath,
    refs::Beside,
    repo::SideRepo,
    scan::{LeftOut, Reason},
    tree::{self, Leaf, Mode, Permissions, TreeId, same},
};
pub use apply::Outcome;
use inspect::{Found, Parents, inspect_path};
pub(crate) use round::roll_back_without_owner;
pub use round::{OpenRound, Recovered, Round};

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
    /// Another program has it open for writing, and it could only be copied to the trash.
    OpenElsewhere,
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
            Conflict::OpenElsewhere => f.write_str("another program has it open for writing"),
            Conflict::Failed(why) => f.write_str(why),
        }
    }
}

/// What to do with each path. Only [`SideRepo::apply`] executes it.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    items: BTreeMap<RelPath, Item>,
    /// Folders that exist in the target: they stay even if they become empty.
    folders: BTreeMap<RelPath, Permissions>,
    /// Of the files that are written.
    extras: Extras,
}

#[derive(Debug, Clone)]
struct Item {
    /// What must be at the path when the plan is applied.
    expected: Option<Leaf>,
    wanted: Option<Leaf>,
    action: RestoreAction,
    /// In the target, the file had no other name; false if that is not known.
    had_one_name: bool,
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

/// So many paths are looked at by one thread.
const CHUNK: usize = 64;

impl SideRepo {
    /// Plans how to restore the paths. Each path must be in the list only once.
    pub fn plan_restore(&self, paths: &[PathRestore]) -> Result<Plan> {
        let mut targets: BTreeMap<TreeId, Vec<&RelPath>> = BTreeMap::new();
        for one in paths {
            self.check(one.post_image)?;
            targets.entry(one.target).or_default().push(&one.path);
        }
        let mut plan = Plan::default();
        let mut coverage = BTreeMap::new();
        let wrappers = self.refs().wrappers()?;
        for (target, paths) in targets {
            self.check(target)?;
            let wrappers = wrappers.get(&target);
            let beside = wrappers.map(|wrappers| Beside::read(self.objects(), wrappers));
            let (covered, extras) = match beside.transpose()? {
                Some(beside) => (Some(beside.left_out), beside.extras),
                None => (None, None),
            };
            let folders = self.target_folders(&paths, target, covered.as_ref())?;
            plan.folders.extend(folders);
            let several = extras.as_ref().map(Extras::with_several_names);
            if let Some(mut extras) = extras {
                let paths: BTreeSet<&RelPath> = paths.iter().copied().collect();
                extras.retain(|path| paths.contains(path));
                plan.extras.extend(extras);
            }
            coverage.insert(target, (covered, several));
        }
        let planned = paths.par_chunks(CHUNK).map(|chunk| {
            let mut parents = Parents::new(self.worktree());
            let each = chunk.iter().map(|one| {
                let known = coverage.get(&one.target);
                let covered = known.and_then(|(covered, _)| covered.as_ref());
                let several = known.and_then(|(_, several)| several.as_ref());
                let (mut item, found) = self.plan_one(one, covered, &mut parents)?;
                item.had_one_name = several.is_some_and(|several| !several.contains(&one.path));
                Ok((item, found))
            });
            each.collect::<Result<Vec<_>>>()
        });
        let planned: Vec<Vec<(Item, Found)>> = planned.collect::<Result<_>>()?;
        let mut writes = Vec::new();
        for (one, (item, found)) in paths.iter().zip(planned.into_iter().flatten()) {
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

    fn plan_one(
        &self,
        one: &PathRestore,
        coverage: Option<&LeftOut>,
        parents: &mut Parents<'_>,
    ) -> Result<(Item, Found)> {
        let target = tree::lookup(self.objects(), one.target.0, &one.path)?;
        let post_image = tree::lookup(self.objects(), one.post_image.0, &one.path)?;
        let (wanted, expected) = tree::sides(target, post_image);
        let found = parents.inspect(&one.path);
        let action = decide(&one.path, wanted, expected, &found, coverage);
        let item = Item {
            expected,
            wanted,
            action,
            had_one_name: false,
        };
        Ok((item, found))
    }

    /// A file can replace a folder, or be written below a file, only if the plan deletes what is
    /// there now.
    fn in_the_way(&self, plan: &Plan, path: &RelPath, found: Found) -> Option<Conflict> {
        let item = plan.items.get(path)?;
        let stays_folder = item.wanted?.mode == Mode::Folder;
        match found {
            Found::Folder(_) if !stays_folder => {
                let was_empty = item.expected.is_some_and(|leaf| leaf.mode == Mode::Folder);
                let gone = |one: &RelPath| plan.deletes(one) || was_empty && one == path;
                let cleared = inspect::all_below(self.worktree(), path)
                    .is_some_and(|found| found.iter().all(gone));
                (!cleared).then_some(Conflict::FolderInTheWay)
            }
            Found::Blocked(at) => (!plan.deletes(&at)).then_some(Conflict::ParentInTheWay),
            _ => None,
        }
    }

    fn target_folders(
        &self,
        paths: &[&RelPath],
        target: TreeId,
        coverage: Option<&LeftOut>,
    ) -> Result<BTreeMap<RelPath, Permissions>> {
        let mut above: Vec<RelPath> = paths.iter().filter_map(|path| path.parent()).collect();
        above.sort();
        above.dedup();
        let mut existing = BTreeMap::new();
        for folder in above
            .iter()
            .flat_map(|one| std::iter::once(one.clone()).chain(one.ancestors()))
        {
            if existing.contains_key(&folder) {
                continue;
            }
            let in_tree = tree::lookup(self.objects(), target.0, &folder)?;
            let in_tree = in_tree.and_then(tree::Node::as_folder);
            let outside_tree = coverage.is_none_or(|left_out| {
                left_out.was_empty_folder(&folder) || left_out.reason_for(&folder).is_some()
            });
            if let Some(leaf) = in_tree {
                existing.insert(folder, leaf.permissions);
            } else if outside_tree {
                existing.insert(folder, Permissions::UNKNOWN);
            }
        }
        Ok(existing)
    }
}

/// What is at a path now; `None` if it cannot be read.
pub(crate) fn look_at(root: &std::path::Path, path: &RelPath) -> Option<Option<Leaf>> {
    match inspect_path(root, path) {
        Found::Absent | Found::Blocked(_) => Some(None),
        Found::Other | Found::Failed(_) => None,
        found => Some(found.leaf()),
    }
}

fn decide(
    path: &RelPath,
    wanted: Option<Leaf>,
    expected: Option<Leaf>,
    found: &Found,
    coverage: Option<&LeftOut>,
) -> RestoreAction {
    let is_folder = |leaf: Option<Leaf>| leaf.is_some_and(|leaf| leaf.mode == Mode::Folder);
    let current = match found {
        Found::File(seen) => Some(seen.leaf),
        Found::Folder(_) if is_folder(wanted) || is_folder(expected) => found.leaf(),
        Found::Absent | Found::Folder(_) | Found::Blocked(_) => None,
        Found::Other => return RestoreAction::Conflict(Conflict::ChangedSince),
        Found::Failed(why) => return RestoreAction::Conflict(Conflict::Failed(why.clone())),
    };
    if same(current, wanted) && (wanted.is_some() || !matches!(found, Found::Blocked(_))) {
        return RestoreAction::Unchanged;
    }
    // An empty folder that exists again by other means has what matters.
    let made_meanwhile = is_folder(wanted) && is_folder(current) && expected.is_none();
    if made_meanwhile {
        return RestoreAction::Unchanged;
    }
    if !same(current, expected) {
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
        Some(left_out) if left_out.was_empty_folder(path) && is_folder(current) => {
            RestoreAction::Unchanged
        }
        Some(left_out) => match left_out.reason_for(path) {
            Some(reason) => RestoreAction::Conflict(Conflict::NotInSnapshot(Some(reason))),
            None => RestoreAction::Delete,
        },
    }
}
