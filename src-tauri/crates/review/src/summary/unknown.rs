//! Steps whose trees are not here: they were done on another machine, or by a program whose
//! snapshots are not ours. What was written of them stays as it was written.

use std::collections::BTreeSet;
use std::path::Path;

use lathe_protocol::{Count, FileDiff, MessageWithParts, SessionSummary};
use lathe_snapshot::SideRepo;

use super::totals;
use crate::steps::StepTrees;

/// What the figures of a session count beyond every file that is listed.
pub struct Rest {
    /// Some file is listed nowhere, so that only the figures know of it.
    unlisted: bool,
    /// What the lists account for in the figures so far.
    accounted: SessionSummary,
}

impl Rest {
    pub fn add_to(
        &self,
        summary: SessionSummary,
        stored: Option<SessionSummary>,
    ) -> SessionSummary {
        let Some(stored) = stored.filter(|_| self.unlisted) else {
            return summary;
        };
        let add = |new: Count, stored: Count, accounted: Count| {
            Count(new.0 + stored.0.saturating_sub(accounted.0).max(0))
        };
        let files = |of: &SessionSummary| of.files.unwrap_or(Count(0));
        SessionSummary {
            additions: add(
                summary.additions,
                stored.additions,
                self.accounted.additions,
            ),
            deletions: add(
                summary.deletions,
                stored.deletions,
                self.accounted.deletions,
            ),
            files: Some(add(files(&summary), files(&stored), files(&self.accounted))),
            ..summary
        }
    }
}

/// The files of steps whose trees are not here, as the steps name them.
pub fn unheld(repo: &SideRepo, steps: &[StepTrees]) -> Vec<String> {
    let changed = steps.iter().filter(|step| step.start != step.finish);
    changed
        .filter(|step| !repo.contains(step.start) || !repo.contains(step.finish))
        .flat_map(|step| step.named.iter().cloned())
        .collect()
}

/// Every file that prompts list of their turns, once.
pub fn listed(messages: &[MessageWithParts]) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let prompts = messages.iter().filter_map(|message| message.info.as_user());
    let each = prompts.filter_map(|user| user.summary.as_ref());
    for diff in each.flat_map(|summary| &summary.diffs) {
        match files.iter_mut().find(|file| file.file == diff.file) {
            Some(file) => {
                file.additions.0 += diff.additions.0;
                file.deletions.0 += diff.deletions.0;
                file.after.clone_from(&diff.after);
            }
            None => files.push(diff.clone()),
        }
    }
    files
}

/// Adds the files of `unknown` to `diffs`, from what the session or else its prompts listed.
pub fn keep(
    repo: &SideRepo,
    diffs: &mut Vec<FileDiff>,
    before: Vec<FileDiff>,
    listed: Vec<FileDiff>,
    unknown: &[String],
) -> Rest {
    let root = repo.worktree();
    let below = |name: &String| match Path::new(name).strip_prefix(root) {
        Ok(path) => path.display().to_string(),
        Err(_) => name.clone(),
    };
    let mut missing: BTreeSet<String> = unknown.iter().map(below).collect();
    let mut old = before;
    for diff in listed {
        if missing.contains(&diff.file) && !names(&old, &diff.file) {
            old.push(diff);
        }
    }
    let accounted = totals(&old);
    missing.retain(|name| !names(diffs, name));
    diffs.extend(old.into_iter().filter(|diff| missing.remove(&diff.file)));
    diffs.sort_by(|a, b| a.file.cmp(&b.file));
    Rest {
        unlisted: !missing.is_empty(),
        accounted,
    }
}

fn names(diffs: &[FileDiff], file: &str) -> bool {
    diffs.iter().any(|diff| diff.file == file)
}
