//! Keeping and reverting lines, and undoing that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use super::comments::ReviewComment;
use super::scope::LineRange;
use super::{RevertChange, RevertChoice, RevertFile};
use crate::json::Millis;
use crate::view::DiffHunk;

/// Which changed lines of a scope an action is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ReviewSelection {
    All,
    /// All of these files, as they were shown.
    Files {
        files: Vec<FileVersion>,
    },
    File {
        path: String,
        version: String,
    },
    /// Changed lines by their numbers on each side; unchanged ones in between do not count. The
    /// version may be an older one: what has happened since is merged.
    Lines {
        path: String,
        version: String,
        old: Vec<LineRange>,
        new: Vec<LineRange>,
    },
}

/// A file as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileVersion {
    pub path: String,
    pub version: String,
}

/// How lines are reverted where a person has to decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct RevertLinesOptions {
    /// A decision for each file with a conflict, by its path.
    pub choices: BTreeMap<String, RevertChoice>,
    /// Lines that are marked as kept stay.
    #[ts(as = "Option<bool>", optional)]
    pub keep_kept: bool,
}

/// What a revert of lines would do. Nothing has been changed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertLinesPreview {
    pub files: Vec<RevertLinesFile>,
    /// A file is merged or conflicts, so that a person should see this first.
    pub must_ask: bool,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RevertLinesFile {
    pub path: String,
    pub change: RevertChange,
    /// A person's edits elsewhere in the file stay.
    pub merged: bool,
    /// Why it is left as it is.
    pub reason: Option<String>,
    pub additions: usize,
    pub deletions: usize,
    /// What happens to the file on disk; of a long one only the start.
    pub hunks: Vec<DiffHunk>,
    pub conflicts: Vec<LineConflict>,
}

/// Lines that both the revert and a person change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LineConflict {
    /// In the file as it is now.
    pub line: usize,
    pub mine: String,
    /// What the revert would put there.
    pub before: String,
    /// What the agent had left there.
    pub agent: String,
}

/// The answer of every action of the review.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ReviewDone {
    /// What was done to files on the disk; a conflict was left as it is.
    pub done: Vec<RevertFile>,
    /// The files whose marks, counts or presence in the review may differ now.
    pub changed: Vec<String>,
    pub comments: Vec<ReviewComment>,
    pub undo: Option<ReviewAction>,
    pub redo: Option<ReviewAction>,
}

/// An action that can be undone, or done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReviewAction {
    pub kind: ReviewActionKind,
    pub files: Vec<String>,
    pub time: Millis,
}

/// The names are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ReviewActionKind {
    Keep,
    Unkeep,
    Revert,
    /// Files were brought back to an earlier step.
    Restore,
    /// A comment was added, edited or removed.
    Comment,
    Resolve,
    Reopen,
    /// The changes of a worktree were brought to its original.
    BringBack,
}
