//! Which files would go back, and which cannot. Blocks: trees and files are read.

use std::collections::BTreeMap;

use lathe_protocol::ipc::{RevertChange, RevertFile};
use lathe_snapshot::{
    Change, Outcome, PathRestore, Plan, RelPath, RestoreAction, SideRepo, TreeId, display_hunks,
};

use super::net::Net;
use crate::error::Result;
use crate::steps::{self, StepTrees};

/// What is to happen to files.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// What these steps did, in all files or in one.
    Steps {
        steps: Vec<StepTrees>,
        only: Option<String>,
    },
    /// One hunk of what these steps did to a file.
    Hunk {
        steps: Vec<StepTrees>,
        path: String,
        hunk: usize,
        fingerprint: String,
    },
    /// Everything as in this tree.
    Tree(TreeId),
    /// From what a taking back left to what was before it.
    Undo(super::rounds::Round),
}

/// A plan, told as a person reads it.
pub struct Planned {
    plan: Option<Plan>,
    pub files: Vec<RevertFile>,
    /// From which tree to which each file goes, where trees have it.
    pub moves: BTreeMap<RelPath, PathRestore>,
}

const BROKEN: &str = "it was also changed between two of the agent's steps";
const UNKNOWN: &str = "the snapshot of it is not here";
const UNSAVED: &str = "it cannot be kept aside, so it is left as it is";
const NOT_TEXT: &str = "it is not text";
const NOT_CHANGED: &str = "the agent did not change it";
const OUTDATED: &str = "this change is not part of the file's changes any more";

impl Planned {
    /// `now` is the tree as it is, to which everything that is touched must be the same;
    /// `first` is what would be done to it before.
    pub fn new(repo: &SideRepo, task: &Task, now: TreeId, first: &Net) -> Result<Planned> {
        match task {
            Task::Steps { steps, only } => {
                let (moves, conflicts) = steps_back(repo, steps, only.as_deref(), now)?;
                Planned::moves(repo, moves, conflicts, first)
            }
            Task::Hunk {
                steps,
                path,
                hunk,
                fingerprint,
            } => Planned::hunk(repo, steps, path, *hunk, fingerprint),
            Task::Tree(target) => {
                let paths = repo.changed_files(*target, now)?;
                let moves = paths.into_iter().map(|path| PathRestore {
                    path,
                    target: *target,
                    post_image: now,
                });
                Planned::moves(repo, moves.collect(), Vec::new(), first)
            }
            Task::Undo(round) => {
                let moves = round.undoing(repo)?;
                Planned::moves(repo, moves, Vec::new(), first)
            }
        }
    }

    fn moves(
        repo: &SideRepo,
        moves: Vec<PathRestore>,
        conflicts: Vec<RevertFile>,
        first: &Net,
    ) -> Result<Planned> {
        let plan = repo.plan_restore(&moves)?;
        let mut files = conflicts;
        for one in &moves {
            let moved = first.step(repo, one)?;
            let step = moved.as_ref().or_else(|| plan.action(&one.path));
            if matches!(step, None | Some(RestoreAction::Unchanged)) {
                continue;
            }
            let Some(change) = repo.diff_path(&one.path, one.post_image, one.target)? else {
                continue;
            };
            let mut file = told(&change);
            if let Some(RestoreAction::Conflict(conflict)) = step {
                file.change = RevertChange::Conflict;
                file.reason = Some(conflict.to_string());
            }
            files.push(file);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let moves = moves.into_iter().map(|one| (one.path.clone(), one));
        Ok(Planned {
            plan: Some(plan),
            files,
            moves: moves.collect(),
        })
    }

    fn hunk(
        repo: &SideRepo,
        steps: &[StepTrees],
        name: &str,
        index: usize,
        fingerprint: &str,
    ) -> Result<Planned> {
        let nothing = |reason: &str| Planned {
            plan: None,
            files: vec![refused(name.to_owned(), reason)],
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
        // The same lines can stand at another place in the list by now.
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
        Ok(Planned {
            plan: Some(plan),
            files: vec![file],
            moves: BTreeMap::new(),
        })
    }

    /// Acts, and tells what became of each file.
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

/// What takes steps back, and what stands in the way of that.
fn steps_back(
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
            conflicts.push(refused(one.path.to_string(), BROKEN));
        } else if is_unsaved(repo, &one, now)? {
            conflicts.push(refused(one.path.to_string(), UNSAVED));
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
            .map(|name| refused(name, UNKNOWN)),
    );
    if let Some(only) = only
        && moves.is_empty()
        && conflicts.is_empty()
    {
        conflicts.push(refused(only.to_owned(), NOT_CHANGED));
    }
    Ok((moves, conflicts))
}

/// Something is there that the tree of this moment does not hold as the agent left it, though
/// the file may still be that: it could not be brought back.
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

pub fn told(change: &Change) -> RevertFile {
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

fn refused(path: String, reason: &str) -> RevertFile {
    RevertFile {
        path,
        change: RevertChange::Conflict,
        reason: Some(reason.to_owned()),
        additions: 0,
        deletions: 0,
    }
}
