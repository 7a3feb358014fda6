//! Which files the steps of a revert move, and which they leave. Reads trees: blocks.

use lathe_protocol::ipc::RevertChange;
use lathe_snapshot::PathRestore;

use super::left::Left;
use super::plan::{Again, Place};
use crate::credit::Doubt;
use crate::error::Result;
use crate::steps::{self, Chains, StepTrees};

pub const BROKEN: &str = "it was also changed between two of the agent's steps";
const MISSING: &str = "the snapshot of it is not here";
const NOT_CHANGED: &str = "the agent did not change it";

/// The moves that revert steps, and what is left as it is.
pub fn plan_steps(
    place: &Place<'_>,
    steps: &[StepTrees],
    only: Option<&str>,
    again: &Again,
) -> Result<(Vec<PathRestore>, Vec<Left>)> {
    let repo = place.repo;
    let mine = |steps: &[StepTrees]| -> Vec<StepTrees> {
        let there = steps.iter();
        there
            .filter(|step| step.is_outside() == place.outside)
            .cloned()
            .collect()
    };
    let steps = mine(steps);
    let mut chains = steps::chains(repo, &steps)?;
    if !again.left.is_empty() {
        let repeated = steps::chains(repo, &mine(&again.steps))?;
        add_left(place, &mut chains, repeated, again);
    }
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let mut left = Vec::new();
    let mut moves = Vec::new();
    // Files of the same trees one after the other: a large folder is then read once.
    let mut files: Vec<_> = chains.files.iter().collect();
    files.sort_by_key(|(path, chain)| (chain.start, chain.finish, *path));
    for (path, chain) in files {
        let name = place.name(path);
        let doubtful = chains.doubtful.get(path);
        let undecided = doubtful.is_some_and(|one| one.why != Doubt::ByOthers);
        if !wanted(&name) || undecided || repo.is_same(path, chain.start, chain.finish)? {
            continue;
        }
        if chain.broken {
            left.push(Left {
                path: Some(path.clone()),
                name,
                before: Some(chain.start),
                change: RevertChange::Conflict,
                reason: BROKEN.to_owned(),
                additions: 0,
                deletions: 0,
            });
        } else {
            moves.push(PathRestore {
                path: path.clone(),
                target: chain.start,
                post_image: chain.finish,
            });
        }
    }
    for (path, doubtful) in chains.doubtful {
        let name = place.name(&path);
        let covered = doubtful.why == Doubt::ByOthers && chains.files.contains_key(&path);
        if !wanted(&name) || covered {
            continue;
        }
        left.push(Left::doubtful(place, path, &doubtful)?);
    }
    let root = repo.worktree();
    let missing = chains.unknown.iter().map(|name| {
        let below = std::path::Path::new(name).strip_prefix(root);
        below.map_or_else(|_| name.clone(), |path| path.display().to_string())
    });
    left.extend(missing.filter(|name| wanted(name)).map(|name| Left {
        path: None,
        name,
        before: None,
        change: RevertChange::Conflict,
        reason: MISSING.to_owned(),
        additions: 0,
        deletions: 0,
    }));
    if let Some(only) = only
        && only.starts_with('/') == place.outside
        && moves.is_empty()
        && left.is_empty()
    {
        left.push(Left {
            path: None,
            name: only.to_owned(),
            before: None,
            change: RevertChange::Conflict,
            reason: NOT_CHANGED.to_owned(),
            additions: 0,
            deletions: 0,
        });
    }
    Ok((moves, left))
}

/// A file that an earlier revert left is moved over all steps since its place.
fn add_left(place: &Place<'_>, chains: &mut Chains, repeated: Chains, again: &Again) {
    for (path, chain) in repeated.files {
        if again.left.contains(&place.name(&path)) {
            chains.files.insert(path, chain);
        }
    }
    for (path, doubtful) in repeated.doubtful {
        if again.left.contains(&place.name(&path)) {
            chains.doubtful.insert(path, doubtful);
        }
    }
}
