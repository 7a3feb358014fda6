//! What a review looks at: files first, then the lines of one file, a window of them at a time.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use super::comments::ReviewComment;
use super::judge::ReviewAction;
use crate::id::{MessageId, PartId, SessionId};
use crate::view::{DiffLineKind, DiffStatus, FoldReason};

/// Which changes a review shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ReviewScope {
    /// What the agent changed in the whole session.
    Session,
    /// What it changed in the turn of this prompt.
    Turn {
        #[serde(rename = "messageID")]
        message_id: MessageId,
    },
    /// What it changed in one step.
    Step {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
    /// What it changed in the session up to a step, and with it.
    Until {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
    /// All changes since a snapshot, by the agent or anyone else.
    Snapshot {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
    /// What is not committed in git.
    Uncommitted,
}

/// The files of a review, in path order, without their texts.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ReviewFiles {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    pub scope: ReviewScope,
    pub files: Vec<ReviewFile>,
    /// What differs, but is only named: one sentence each.
    #[serde(rename = "notShown", default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub not_shown: Vec<String>,
    pub additions: usize,
    pub deletions: usize,
    /// Those of the whole session, the oldest first.
    pub comments: Vec<ReviewComment>,
    pub undo: Option<ReviewAction>,
    pub redo: Option<ReviewAction>,
    /// What the agent did and no snapshot tells: one sentence each.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub unknown: Vec<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ReviewFile {
    pub path: String,
    /// The path before a rename.
    pub old_path: Option<String>,
    pub status: DiffStatus,
    /// Not text; also of added, deleted and renamed files.
    pub binary: bool,
    /// `644`, `755` or `link`; both are present only where they differ.
    pub old_mode: Option<String>,
    pub mode: Option<String>,
    pub additions: usize,
    pub deletions: usize,
    /// Why it is shown only on request.
    pub folded: Option<FoldReason>,
    /// Names both contents: it changes when either does.
    pub version: String,
    pub kept: KeptState,
    pub viewed: bool,
    /// Changed by a person or another program after the agent.
    pub edited: bool,
    /// Why not all of it is known to be the agent's.
    pub doubt: Option<ReviewDoubt>,
}

/// Why the changes of a file are not all known to be the agent's. A person decides before one of
/// them is reverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ReviewDoubt {
    /// Something else changed the same of it between two of the agent's steps.
    Between,
    /// Something else may have changed it while a command of the agent ran.
    Shared,
    /// The step that changed it was cut short.
    CutShort,
}

/// How many of the changed lines a person has marked as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum KeptState {
    None,
    Some,
    All,
}

/// The shape of a file's diff. The rows themselves are sent for what is on screen.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ReviewFileDiff {
    pub path: String,
    pub old_path: Option<String>,
    pub version: String,
    /// The number of lines of the whole file on each side.
    pub old_lines: usize,
    pub new_lines: usize,
    pub hunks: Vec<ReviewHunk>,
}

/// Changed lines with the context around them, without their text. The line numbers are as in a
/// unified diff.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ReviewHunk {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
    /// The function or section that contains the hunk.
    pub heading: Option<String>,
    /// All rows of the hunk, in order.
    pub runs: Vec<DiffRun>,
    pub kept: KeptState,
}

/// Rows of the same kind that follow each other.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct DiffRun {
    pub kind: DiffLineKind,
    pub lines: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub kept: bool,
    /// The same number is on the run that these lines came from or went to.
    pub moved: Option<usize>,
}

/// Lines by their numbers, from 1. The last one is part of the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LineRange {
    pub from: usize,
    pub to: usize,
}

/// The addresses of a picture before and after its change.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ReviewPictures {
    pub old: Option<String>,
    pub new: Option<String>,
}
