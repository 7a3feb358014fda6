//! Plans which files a revert changes, and which it cannot. Reads trees and files: blocks.

use std::collections::BTreeMap;

use lathe_protocol::ipc::{RevertChange, RevertFile};
use lathe_snapshot::{
    Change, Outcome, PathRestore, Plan, RelPath, RestoreAction, SideRepo, TreeId, display_hunks,
};

use super::net_effect::NetEffect;
use crate::error::Result;
use crate::steps::{self, StepTrees};

/// What a revert does to files.
#[derive(Debug, Clone, PartialEq)]
pub enum RevertTask {
    /// Reverts what these steps did, in all files or in one.
    Steps {
        steps: Vec<StepTrees>,
        only: Option<String>,
    },
    /// Reverts one hunk of what these steps did to a file.
    Hunk {
        steps: Vec<StepTrees>,
        path: String,
        hunk: usize,
        fingerprint: String,
    },
    /// Makes all files as in this tree.
    Tree(TreeId),
    /// Undoes a revert.
    Undo(super::undo_log::UndoEntry),
}

/// A plan, with its files described for a person.
pub struct RevertPlan {
    plan: Option<Plan>,
    pub files: Vec<RevertFile>,
    /// From which tree to which each file moves, where trees have it.
    pub moves: BTreeMap<RelPath, PathRestore>,
}

const BROKEN: &str = "it was also changed between two of the agent's steps";
const UNKNOWN: &str = "the snapshot of it is not here";
const UNSAVED: &str = "it cannot be kept aside, so it is left as it is";
const NOT_TEXT: &str = "it is not text";
const NOT_CHANGED: &str = "the agent did not change it";
const OUTDATED: &str = "this change is not part of the file's changes any more";

impl RevertPlan {
    /// `now` is the current tree: a file that differs from it is not touched. `first` is what
    /// would be reverted before this.
    pub fn new(
        repo: &SideRepo,
        task: &RevertTask,
        now: TreeId,
        first: &NetEffect,
    ) -> Result<RevertPlan> {
        match task {
            RevertTask::Steps { steps, only } => {
                let (moves, conflicts) = plan_steps(repo, steps, only.as_deref(), now)?;
                RevertPlan::plan_moves(repo, moves, conflicts, first)
            }
            RevertTask::Hunk {
                steps,
                path,
                hunk,
                fingerprint,
            } => RevertPlan::plan_hunk(repo, steps, path, *hunk, fingerprint),
            RevertTask::Tree(target) => {
                let paths = repo.changed_files(*target, now)?;
                let moves = paths.into_iter().map(|path| PathRestore {
                    path,
                    target: *target,
                    post_image: now,
                });
                RevertPlan::plan_moves(repo, moves.collect(), Vec::new(), first)
            }
            RevertTask::Undo(entry) => {
                let moves = entry.moves_back(repo)?;
                RevertPlan::plan_moves(repo, moves, Vec::new(), first)
            }
        }
    }

    fn plan_moves(
        repo: &SideRepo,
        moves: Vec<PathRestore>,
        conflicts: Vec<RevertFile>,
        first: &NetEffect,
    ) -> Result<RevertPlan> {
        let plan = repo.plan_restore(&moves)?;
        let mut files = conflicts;
        for one in &moves {
            let planned = first.next_action(repo, one)?;
            let action = planned.as_ref().or_else(|| plan.action(&one.path));
            if matches!(action, None | Some(RestoreAction::Unchanged)) {
                continue;
            }
            let Some(change) = repo.diff_path(&one.path, one.post_image, one.target)? else {
                continue;
            };
            let mut file = describe(&change);
            if let Some(RestoreAction::Conflict(conflict)) = action {
                file.change = RevertChange::Conflict;
                file.reason = Some(conflict.to_string());
            }
            files.push(file);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let moves = moves.into_iter().map(|one| (one.path.clone(), one));
        Ok(RevertPlan {
            plan: Some(plan),
            files,
            moves: moves.collect(),
        })
    }

    fn plan_hunk(
        repo: &SideRepo,
        steps: &[StepTrees],
        name: &str,
        index: usize,
        fingerprint: &str,
    ) -> Result<RevertPlan> {
        let nothing = |reason: &str| RevertPlan {
            plan: None,
            files: vec![conflict(name.to_owned(), reason)],
            moves: BTreeMap::new(),
        };
        let chains = steps::chains(repo, steps)?.files;
        let found = chains
            .into_iter()
            .find(|(path, _)| path.to_string() == name);
        let Some((path, chain)) = found else {
            return Ok(nothing(NOT_CHANGED));
        };
        let text = |tree| String::from_utf8(repo.blob(tree, &path).unwrap_or_default());
        let (Ok(before), Ok(after)) = (text(chain.start), text(chain.finish)) else {
            return Ok(nothing(NOT_TEXT));
        };
        let shown = display_hunks(&before, &after);
        let same = |at: &usize| shown.get(*at).is_some_and(|(name, _)| name == fingerprint);
        // The same hunk may have another index by now.
        let at = Some(index)
            .filter(same)
            .or_else(|| (0..shown.len()).find(same));
        let Some((_, hunk)) = at.and_then(|at| shown.get(at)) else {
            return Ok(nothing(OUTDATED));
        };
        let plan = repo.plan_hunk(&path, before.as_bytes(), after.as_bytes(), hunk)?;
        let conflict = plan.conflicts().map(|(_, why)| why.to_string()).next();
        let file = RevertFile {
            path: path.to_string(),
            change: match conflict {
                Some(_) => RevertChange::Conflict,
                None => RevertChange::Restore,
            },
            reason: conflict,
            additions: hunk.old.len(),
            deletions: hunk.new.len(),
        };
        Ok(RevertPlan {
            plan: Some(plan),
            files: vec![file],
            moves: BTreeMap::new(),
        })
    }

    /// Carries the plan out and returns the changed files. New conflicts are added to `files`.
    pub fn apply(&mut self, repo: &SideRepo, trash: &std::path::Path) -> Vec<RelPath> {
        let outcome = self.plan.as_ref().map(|plan| repo.apply(plan, trash));
        let Outcome {
            written,
            trashed,
            conflicts,
            ..
        } = outcome.unwrap_or_default();
        for (path, why) in conflicts {
            let path = path.to_string();
            if let Some(file) = self.files.iter_mut().find(|file| file.path == path) {
                file.change = RevertChange::Conflict;
                file.reason = Some(why.to_string());
            }
        }
        let trashed = trashed.into_iter().map(|(path, _)| path);
        written.into_iter().chain(trashed).collect()
    }
}

/// The moves that revert steps, and the conflicts.
fn plan_steps(
    repo: &SideRepo,
    steps: &[StepTrees],
    only: Option<&str>,
    now: TreeId,
) -> Result<(Vec<PathRestore>, Vec<RevertFile>)> {
    let chains = steps::chains(repo, steps)?;
    let wanted = |path: &str| only.is_none_or(|only| only == path);
    let mut conflicts = Vec::new();
    let mut moves = Vec::new();
    for (path, chain) in chains.files {
        if !wanted(&path.to_string()) || repo.is_same(&path, chain.start, chain.finish)? {
            continue;
        }
        let one = PathRestore {
            path,
            target: chain.start,
            post_image: chain.finish,
        };
        if chain.broken {
            conflicts.push(conflict(one.path.to_string(), BROKEN));
        } else if is_unsaved(repo, &one, now)? {
            conflicts.push(conflict(one.path.to_string(), UNSAVED));
        } else {
            moves.push(one);
        }
    }
    let root = repo.worktree();
    let unknown = chains.unknown.iter().map(|name| {
        let below = std::path::Path::new(name).strip_prefix(root);
        below.map_or_else(|_| name.clone(), |path| path.display().to_string())
    });
    conflicts.extend(
        unknown
            .filter(|name| wanted(name))
            .map(|name| conflict(name, UNKNOWN)),
    );
    if let Some(only) = only
        && moves.is_empty()
        && conflicts.is_empty()
    {
        conflicts.push(conflict(only.to_owned(), NOT_CHANGED));
    }
    Ok((moves, conflicts))
}

/// Whether the revert would change a file whose current content is not in a snapshot: it could
/// not be restored.
fn is_unsaved(repo: &SideRepo, one: &PathRestore, now: TreeId) -> Result<bool> {
    if repo.is_same(&one.path, one.post_image, now)? {
        return Ok(false);
    }
    let plan = repo.plan_restore(std::slice::from_ref(one))?;
    let acts = matches!(
        plan.action(&one.path),
        Some(RestoreAction::Write | RestoreAction::Delete)
    );
    Ok(acts)
}

/// Describes a change as a revert makes it.
pub fn describe(change: &Change) -> RevertFile {
    RevertFile {
        path: change.path.to_string(),
        change: match (change.old_mode, change.new_mode) {
            (None, _) => RevertChange::Create,
            (_, None) => RevertChange::Delete,
            _ => RevertChange::Restore,
        },
        reason: None,
        additions: change.additions,
        deletions: change.deletions,
    }
}

fn conflict(path: String, reason: &str) -> RevertFile {
    RevertFile {
        path,
        change: RevertChange::Conflict,
        reason: Some(reason.to_owned()),
        additions: 0,
        deletions: 0,
    }
}
