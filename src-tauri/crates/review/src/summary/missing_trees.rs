//! Steps whose trees are missing: they were done on another machine, or by a program with other
//! snapshots. Their stored differences are kept.

use std::collections::BTreeSet;
use std::path::Path;

use lathe_protocol::{Count, FileDiff, MessageWithParts, SessionSummary};
use lathe_snapshot::SideRepo;

use super::diffs::totals;
use crate::steps::StepTrees;

/// Changes that the stored totals of a session count although no list has the file.
pub struct UnlistedChanges {
    /// At least one file is in no list, so that only the totals include it.
    any: bool,
    /// The totals of the listed files.
    listed: SessionSummary,
}

impl UnlistedChanges {
    /// Adds them to new totals.
    pub fn add_to(
        &self,
        summary: SessionSummary,
        stored: Option<SessionSummary>,
    ) -> SessionSummary {
        let Some(stored) = stored.filter(|_| self.any) else {
            return summary;
        };
        let add = |new: Count, stored: Count, listed: Count| {
            Count(new.0 + stored.0.saturating_sub(listed.0).max(0))
        };
        let files = |of: &SessionSummary| of.files.unwrap_or(Count(0));
        SessionSummary {
            additions: add(summary.additions, stored.additions, self.listed.additions),
            deletions: add(summary.deletions, stored.deletions, self.listed.deletions),
            files: Some(add(files(&summary), files(&stored), files(&self.listed))),
            ..summary
        }
    }
}

/// The files of steps whose trees are missing, as the steps name them.
pub fn files_without_trees(repo: &SideRepo, steps: &[StepTrees]) -> Vec<String> {
    let changed = steps.iter().filter(|step| step.start != step.finish);
    changed
        .filter(|step| !repo.contains(step.start) || !repo.contains(step.finish))
        .flat_map(|step| step.named.iter().cloned())
        .collect()
}

/// Every file that prompts list for their turns, once.
pub fn listed_files(messages: &[MessageWithParts]) -> Vec<FileDiff> {
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

/// Adds the files of `unknown` to `diffs`, as the session or else its prompts listed them.
pub fn add_listed(
    repo: &SideRepo,
    diffs: &mut Vec<FileDiff>,
    before: Vec<FileDiff>,
    listed: Vec<FileDiff>,
    unknown: &[String],
) -> UnlistedChanges {
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
    let listed_totals = totals(&old);
    missing.retain(|name| !names(diffs, name));
    diffs.extend(old.into_iter().filter(|diff| missing.remove(&diff.file)));
    diffs.sort_by(|a, b| a.file.cmp(&b.file));
    UnlistedChanges {
        any: !missing.is_empty(),
        listed: listed_totals,
    }
}

fn names(diffs: &[FileDiff], file: &str) -> bool {
    diffs.iter().any(|diff| diff.file == file)
}
