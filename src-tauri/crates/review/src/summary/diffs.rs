//! File differences between the trees of steps. Reads trees: blocks.

use std::path::Path;

use lathe_protocol::{
    Count, Extra, FileDiff, FileStatus, MessageId, MessageWithParts, SessionSummary,
};
use lathe_snapshot::{Change, ChangeKind, RelPath, SideRepo, TreeId};

use crate::Review;
use crate::error::Result;
use crate::steps::{self, Chains, StepTrees};

/// Longer texts are not stored; they can be read from the trees.
const LONGEST_STORED: usize = 128 << 10;

/// The differences in path order, and the files of steps whose trees are missing.
pub(super) fn between_trees(
    repo: &SideRepo,
    known: Chains,
    steps: &[StepTrees],
) -> Result<(Vec<FileDiff>, Vec<String>)> {
    let chains = steps::chains_after(repo, known, steps)?;
    let spans = chains.spans();
    let listed: Vec<(RelPath, TreeId, TreeId)> = spans
        .iter()
        .map(|(path, (start, finish))| (path.clone(), *start, *finish))
        .collect();
    let changes = repo.diff_paths(&listed)?;
    let side = |path: &RelPath, old: bool| {
        let (start, finish) = spans.get(path)?;
        let tree = if old { start } else { finish };
        repo.blob(*tree, path).ok()
    };
    let diff = |change: &Change| {
        let from = match &change.kind {
            ChangeKind::Renamed { from } => from,
            _ => &change.path,
        };
        let before = change.old_mode.and_then(|_| side(from, true));
        let after = change.new_mode.and_then(|_| side(&change.path, false));
        file_diff(change, before, after, LONGEST_STORED)
    };
    Ok((changes.iter().map(diff).collect(), chains.unknown))
}

fn file_diff(
    change: &Change,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    longest: usize,
) -> FileDiff {
    let text = |bytes: Option<Vec<u8>>| String::from_utf8(bytes.unwrap_or_default()).ok();
    let long = [&before, &after]
        .iter()
        .any(|side| side.as_ref().is_some_and(|bytes| bytes.len() > longest));
    let texts = text(before).zip(text(after)).filter(|_| !change.binary);
    let binary = texts.is_none();
    // Empty texts rather than none: older readers expect the fields.
    let (before, after) = texts.filter(|_| !long).unwrap_or_default();
    FileDiff {
        file: change.path.to_string(),
        before: Some(before),
        after: Some(after),
        additions: Count(change.additions as i64),
        deletions: Count(change.deletions as i64),
        status: Some(status(&change.kind)),
        from: match &change.kind {
            ChangeKind::Renamed { from } => Some(from.to_string()),
            _ => None,
        },
        binary: binary.then_some(true),
        mode: (change.kind == ChangeKind::Mode).then_some(true),
        folded: (long && !binary).then_some(true),
        ..FileDiff::default()
    }
}

fn status(kind: &ChangeKind) -> FileStatus {
    match kind {
        ChangeKind::Added => FileStatus::Added,
        ChangeKind::Deleted => FileStatus::Deleted,
        ChangeKind::Renamed { .. } => FileStatus::Renamed,
        ChangeKind::Modified | ChangeKind::Mode | ChangeKind::TypeChange => FileStatus::Modified,
    }
}

/// The difference of one file with both texts, however long they are.
pub async fn full_file_diff(
    review: &Review,
    worktree: &Path,
    messages: &[MessageWithParts],
    message: Option<&MessageId>,
    path: &str,
) -> Result<Option<FileDiff>> {
    let mut steps = steps::read_project(messages);
    if let Some(id) = message {
        let turn = steps::turn_positions(messages, id);
        steps.retain(|step| turn.contains(&step.message));
    }
    let path = path.to_owned();
    review
        .snapshots
        .with_repo(worktree, move |repo| {
            let spans = steps::chains(repo, &steps)?.spans();
            let found = spans.iter().find(|(name, _)| name.to_string() == path);
            let Some((path, (start, finish))) = found else {
                return Ok(None);
            };
            let change = repo.diff_path(path, *start, *finish)?;
            Ok(change.map(|change| {
                let before = repo.blob(*start, path).ok();
                let after = repo.blob(*finish, path).ok();
                file_diff(&change, before, after, usize::MAX)
            }))
        })
        .await
}

pub(super) fn totals(diffs: &[FileDiff]) -> SessionSummary {
    let sum = |count: fn(&FileDiff) -> Count| Count(diffs.iter().map(|diff| count(diff).0).sum());
    SessionSummary {
        additions: sum(|diff| diff.additions),
        deletions: sum(|diff| diff.deletions),
        files: Some(Count(diffs.len() as i64)),
        diffs: None,
        extra: Extra::default(),
    }
}
