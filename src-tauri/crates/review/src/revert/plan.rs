//! Plans which files a revert changes, and which it cannot. Reads trees and files: blocks.

use std::collections::{BTreeMap, BTreeSet};

use lathe_protocol::ipc::{RevertChange, RevertFile, RevertOptions, ReviewDoubt};
use lathe_snapshot::{
    Change, Outcome, PathRestore, Plan, RelPath, RestoreAction, SideRepo, TreeId,
};

use super::left::{Left, Settled};
use super::net_effect::NetEffect;
use super::planned_edits::plan_edits;
use super::planned_steps::plan_steps;
use crate::error::{Result, ReviewError};
use crate::steps::StepTrees;

/// What a revert does to files.
#[derive(Debug, Clone, PartialEq)]
pub enum RevertTask {
    /// Reverts what these steps did, in all files or in one.
    Steps {
        steps: Vec<StepTrees>,
        only: Option<String>,
        again: Again,
    },
    /// Merges each change into the file as it is now.
    Edits(Vec<Merge>),
    /// Makes all files as in this tree.
    Tree(TreeId),
    /// Undoes a revert.
    Undo(super::undo_log::UndoEntry),
}

/// A change that is merged into a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// From `post_image` to `target`.
    pub change: PathRestore,
    /// The trees that have what the agent had left there and what is left of it: without the
    /// person's lines.
    pub own: (TreeId, TreeId),
    /// Where the file was before it was renamed: `target` has it there.
    pub from: Option<RelPath>,
    /// Why not all of it is known to be the agent's.
    pub doubt: Option<ReviewDoubt>,
}

impl Merge {
    pub fn new(change: PathRestore, own: (TreeId, TreeId)) -> Merge {
        Merge {
            change,
            own,
            from: None,
            doubt: None,
        }
    }
}

/// What an earlier revert to the same place left as it was, to be tried again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Again {
    pub steps: Vec<StepTrees>,
    /// The names of the files.
    pub left: BTreeSet<String>,
}

/// Where and how a task is planned.
pub struct Place<'a> {
    pub repo: &'a SideRepo,
    /// The repository holds files outside of the project.
    pub outside: bool,
    /// The owner of trees that planning makes.
    pub label: &'a str,
    /// The current tree, where there is one.
    pub now: Option<TreeId>,
    pub options: &'a RevertOptions,
}

impl Place<'_> {
    /// A path as a person sees it.
    pub fn name(&self, path: &RelPath) -> String {
        match self.outside {
            true => format!("/{path}"),
            false => path.to_string(),
        }
    }
}

/// A plan, with its files described for a person.
pub struct RevertPlan {
    pub outside: bool,
    pub(super) plan: Option<Plan>,
    /// Of merged changes, the content without the person's lines, before and after.
    pub(super) own: BTreeMap<RelPath, (TreeId, TreeId)>,
    pub files: Vec<RevertFile>,
    /// From which tree to which each file moves, where trees have it.
    pub moves: BTreeMap<RelPath, PathRestore>,
}

/// A file that was changed, with the trees that have it before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    pub path: RelPath,
    pub from: TreeId,
    pub to: TreeId,
}

impl RevertPlan {
    /// `first` is what would be reverted before this.
    pub fn new(place: &Place<'_>, task: &RevertTask, first: &NetEffect) -> Result<RevertPlan> {
        match task {
            RevertTask::Steps { steps, only, again } => {
                let (moves, left) = plan_steps(place, steps, only.as_deref(), again)?;
                RevertPlan::plan_moves(place, moves, left, first)
            }
            RevertTask::Edits(edits) => plan_edits(place, edits),
            RevertTask::Tree(target) => {
                let repo = place.repo;
                let now = place.now.filter(|_| !repo.holds_only_images(*target));
                let now = now.ok_or_else(|| {
                    ReviewError::refused("This snapshot does not hold the whole project")
                })?;
                let paths = repo.changed_files(*target, now)?;
                let moves = paths.into_iter().map(|path| PathRestore {
                    path,
                    target: *target,
                    post_image: now,
                });
                RevertPlan::plan_moves(place, moves.collect(), Vec::new(), first)
            }
            RevertTask::Undo(entry) => {
                let moves = entry.moves_back(place.repo, place.outside)?;
                RevertPlan::plan_moves(place, moves, Vec::new(), first)
            }
        }
    }

    /// Nothing is done.
    pub fn nothing(outside: bool) -> Self {
        RevertPlan {
            outside,
            plan: None,
            own: BTreeMap::new(),
            files: Vec::new(),
            moves: BTreeMap::new(),
        }
    }

    fn plan_moves(
        place: &Place<'_>,
        moves: Vec<PathRestore>,
        mut left: Vec<Left>,
        first: &NetEffect,
    ) -> Result<RevertPlan> {
        let repo = place.repo;
        let mut plan = repo.plan_restore(&moves)?;
        let mut files = Vec::new();
        let planned = moves.len();
        let mut kept = Vec::with_capacity(planned);
        for one in moves {
            let planned = first.next_action(place, &one)?;
            let action = planned.as_ref().or_else(|| plan.action(&one.path));
            match action {
                None | Some(RestoreAction::Unchanged) => kept.push(one),
                Some(RestoreAction::Conflict(conflict)) => {
                    left.push(Left::conflict(place, &one, conflict.to_string())?);
                }
                Some(_) => {
                    let change = repo.diff_path(&one.path, one.post_image, one.target)?;
                    files.extend(change.map(|change| describe(place, &change)));
                    kept.push(one);
                }
            }
        }
        let settled = Settled::new(place, left)?;
        if !settled.moves.is_empty() || kept.len() < planned {
            kept.extend(settled.moves);
            plan = repo.plan_restore(&kept)?;
        }
        files.extend(settled.files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let moves = kept.into_iter().map(|one| (one.path.clone(), one));
        Ok(RevertPlan {
            outside: place.outside,
            plan: Some(plan),
            own: BTreeMap::new(),
            files,
            moves: moves.collect(),
        })
    }

    /// Carries the plan out. New conflicts are added to `files`.
    pub fn apply(&mut self, place: &Place<'_>, trash: &std::path::Path) -> Result<Vec<Touched>> {
        let Some(plan) = &self.plan else {
            return Ok(Vec::new());
        };
        let Outcome {
            written,
            trashed,
            removed_folders,
            conflicts,
            ..
        } = place.repo.apply(plan, trash);
        let conflicts = conflicts.into_iter();
        let mut conflicts: BTreeMap<String, String> = conflicts
            .map(|(path, why)| (place.name(&path), why.to_string()))
            .collect();
        for file in &mut self.files {
            if let Some(why) = conflicts.remove(&file.path) {
                file.change = RevertChange::Conflict;
                file.reason = Some(why);
            }
        }
        let unlisted = conflicts.iter();
        self.files
            .extend(unlisted.map(|(path, why)| conflict(path.clone(), why)));
        let trashed = trashed.into_iter().map(|(path, _)| path);
        let mut touched = Vec::new();
        for path in written.into_iter().chain(trashed).chain(removed_folders) {
            if let Some(one) = self.moves.get(&path) {
                touched.push(Touched {
                    from: one.post_image,
                    to: one.target,
                    path,
                });
            }
        }
        Ok(touched)
    }
}

/// Describes a change as a revert makes it.
pub fn describe(place: &Place<'_>, change: &Change) -> RevertFile {
    RevertFile {
        path: place.name(&change.path),
        change: match (change.old_mode, change.new_mode) {
            (None, _) => RevertChange::Create,
            (_, None) => RevertChange::Delete,
            _ => RevertChange::Restore,
        },
        reason: None,
        additions: change.additions,
        deletions: change.deletions,
        sides: None,
    }
}

pub fn conflict(path: String, reason: &str) -> RevertFile {
    RevertFile {
        path,
        change: RevertChange::Conflict,
        reason: Some(reason.to_owned()),
        additions: 0,
        deletions: 0,
        sides: None,
    }
}
