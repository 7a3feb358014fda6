//! The state of a session's folder in git, and its worktree.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use super::{RevertChange, RevertSides, ReviewFile};

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct GitStatus {
    /// Absent while the head is detached.
    pub branch: Option<String>,
    /// The newest commit; absent while there is none.
    pub head: Option<String>,
    /// Commits against the upstream branch, as it was when it was fetched last.
    pub ahead: usize,
    pub behind: usize,
    /// Numbers of files.
    pub staged: usize,
    pub unstaged: usize,
    pub untracked: usize,
    pub conflicts: usize,
    /// What is half done.
    pub operation: Option<GitOperation>,
    pub stashes: usize,
    /// Present if the folder is a worktree of another checkout.
    pub worktree: Option<WorktreeView>,
    /// Hooks, filters and other programs of the repository do not run until it is trusted.
    pub untrusted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum GitOperation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

/// A folder that sessions of a project work in.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct GitFolder {
    pub directory: String,
    pub branch: Option<String>,
    /// The number of files with changes that are not committed.
    pub uncommitted: usize,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct WorktreeView {
    pub folder: String,
    pub branch: Option<String>,
    /// The checkout that it belongs to.
    pub original: String,
    pub original_branch: Option<String>,
    /// Commits that the original does not have.
    pub commits: usize,
    pub uncommitted: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommitInput {
    pub message: String,
    /// Replaces the newest commit.
    pub amend: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommitDone {
    pub hash: String,
    /// The first line of its message.
    pub summary: String,
}

/// What a worktree has changed against its original.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ComparedWorktree {
    pub files: Vec<ReviewFile>,
    /// What differs, but is only named: one sentence each.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub not_shown: Vec<String>,
}

/// How the work of a worktree comes to the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum BringBack {
    /// Its commits are merged.
    Merge,
    /// All its changes, as changes that are not committed.
    Apply,
}

/// Which file stays where the original and the worktree conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum BringBackChoice {
    Original,
    Worktree,
}

/// What bringing the work back does, or did.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct BringBackPreview {
    pub files: Vec<BringBackFile>,
    pub commits: usize,
    /// Why it cannot be done at all.
    pub problem: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct BringBackFile {
    pub path: String,
    pub change: RevertChange,
    pub additions: usize,
    pub deletions: usize,
    /// Why it is a conflict, or stays as it is.
    pub reason: Option<String>,
    /// `before` is what the worktree has, and `now` what the original has.
    pub sides: Option<RevertSides>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RemovedWorktree {
    /// It stays.
    pub branch: String,
    /// What was not committed is now a commit on it.
    pub saved: bool,
}
