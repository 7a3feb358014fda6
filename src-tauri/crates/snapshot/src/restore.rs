//! Takes files back to an earlier snapshot without losing anything of the user's.
//!
//! A path is touched only if it is exactly what the agent left there (its post-image);
//! otherwise it is a conflict and stays. A file is deleted only if a snapshot that covered its
//! path says it was not there, and then it goes to the trash. Planning changes nothing;
//! applying checks everything again.

mod apply;
mod hunk;
mod place;

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
pub use hunk::{Hunk, HunkConflict, hunks, shown_hunks, take_back};
use place::{Found, inspect};

/// What will happen to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    WillWrite,
    WillDelete,
    /// It already is as it should be.
    Unchanged,
    Conflict(Conflict),
}

/// Why a path is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// It is not what the agent left: someone changed, deleted or created it since.
    ChangedSince,
    /// The earlier snapshot does not say what was there.
    NotInSnapshot(Option<Reason>),
    /// A folder stands there that holds something the agent did not make.
    FolderInTheWay,
    /// A part of the path is a file or a link now.
    ParentInTheWay,
    Hunk(HunkConflict),
    /// The system refused; in its own words.
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

/// What to do, path by path. Only [`SideRepo::apply`] acts on it.
#[derive(Debug, Clone)]
pub struct Plan {
    items: BTreeMap<RelPath, Item>,
    /// Folders that the target has: they stay though they become empty.
    folders: BTreeSet<RelPath>,
}

#[derive(Debug, Clone)]
struct Item {
    /// What must be there for us to act.
    expected: Option<Leaf>,
    wanted: Option<Wanted>,
    step: Step,
}

#[derive(Debug, Clone)]
enum Wanted {
    Kept(Leaf),
    Made { mode: Mode, bytes: Vec<u8> },
}

impl Plan {
    /// In path order.
    pub fn steps(&self) -> impl Iterator<Item = (&RelPath, &Step)> {
        self.items.iter().map(|(path, item)| (path, &item.step))
    }

    pub fn step(&self, path: &RelPath) -> Option<&Step> {
        self.items.get(path).map(|item| &item.step)
    }

    pub fn conflicts(&self) -> impl Iterator<Item = (&RelPath, &Conflict)> {
        self.steps().filter_map(|(path, step)| match step {
            Step::Conflict(conflict) => Some((path, conflict)),
            _ => None,
        })
    }

    fn deletes(&self, path: &RelPath) -> bool {
        self.step(path) == Some(&Step::WillDelete)
    }
}

/// One path on its way back, each from and to a snapshot of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub path: RelPath,
    /// The snapshot that has it as it should be.
    pub target: TreeId,
    /// The snapshot that has it as the agent left it.
    pub post_image: TreeId,
}

impl SideRepo {
    /// How `paths` would get from what the agent left (`post_image`) to `target`.
    pub fn plan_restore(
        &self,
        paths: &[RelPath],
        target: TreeId,
        post_image: TreeId,
    ) -> Result<Plan> {
        let moves: Vec<Move> = paths
            .iter()
            .map(|path| Move {
                path: path.clone(),
                target,
                post_image,
            })
            .collect();
        self.plan_moves(&moves)
    }

    /// The same where each path has its own two snapshots. A path stands here once.
    pub fn plan_moves(&self, moves: &[Move]) -> Result<Plan> {
        let mut targets: BTreeMap<TreeId, Vec<RelPath>> = BTreeMap::new();
        for one in moves {
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
        let mut unsure = Vec::new();
        for one in moves {
            let covered = coverage.get(&one.target).and_then(Option::as_ref);
            let (item, found) = self.plan_one(one, covered)?;
            if item.step == Step::WillWrite {
                unsure.push((one.path.clone(), found));
            }
            plan.items.insert(one.path.clone(), item);
        }
        for (path, found) in unsure {
            let conflict = self.in_the_way(&plan, &path, found);
            if let (Some(conflict), Some(item)) = (conflict, plan.items.get_mut(&path)) {
                item.step = Step::Conflict(conflict);
            }
        }
        Ok(plan)
    }

    fn plan_one(&self, one: &Move, coverage: Option<&LeftOut>) -> Result<(Item, Found)> {
        let wanted = leaf(tree::lookup(self.objects(), one.target.0, &one.path)?);
        let expected = leaf(tree::lookup(self.objects(), one.post_image.0, &one.path)?);
        let found = inspect(self.worktree(), &one.path);
        let step = decide(&one.path, wanted, expected, &found, coverage);
        let item = Item {
            expected,
            wanted: wanted.map(Wanted::Kept),
            step,
        };
        Ok((item, found))
    }

    /// A write over a folder, or below a file, works only if the plan clears the way.
    fn in_the_way(&self, plan: &Plan, path: &RelPath, found: Found) -> Option<Conflict> {
        match found {
            Found::Folder => {
                let cleared = place::all_below(self.worktree(), path)
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
        let mut kept = BTreeSet::new();
        for folder in above {
            let in_tree = tree::lookup(self.objects(), target.0, &folder)?;
            let was_there = coverage.is_none_or(|left_out| {
                left_out.was_empty_folder(&folder) || left_out.covers_not(&folder).is_some()
            });
            if was_there || matches!(in_tree, Some(Node::Tree(_))) {
                kept.insert(folder);
            }
        }
        Ok(kept)
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
) -> Step {
    let current = match found {
        Found::File(leaf) => Some(*leaf),
        Found::Absent | Found::Folder | Found::Blocked(_) => None,
        Found::Other => return Step::Conflict(Conflict::ChangedSince),
        Found::Failed(why) => return Step::Conflict(Conflict::Failed(why.clone())),
    };
    if current == wanted && (wanted.is_some() || !matches!(found, Found::Blocked(_))) {
        return Step::Unchanged;
    }
    if current != expected {
        return Step::Conflict(Conflict::ChangedSince);
    }
    if wanted.is_some() {
        return Step::WillWrite;
    }
    if current.is_none() {
        return Step::Unchanged;
    }
    match coverage {
        None => Step::Conflict(Conflict::NotInSnapshot(None)),
        Some(left_out) => match left_out.covers_not(path) {
            Some(reason) => Step::Conflict(Conflict::NotInSnapshot(Some(reason))),
            None => Step::WillDelete,
        },
    }
}
