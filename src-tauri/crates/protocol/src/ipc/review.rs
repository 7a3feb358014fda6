//! Diffs of a session and reverts, as the review pane uses them.

mod comments;
mod judge;
mod scope;
mod steps;

pub use comments::{CommentState, DiffComment, DiffSide, NewComment, ReviewComment};
pub use judge::{
    FileVersion, LineConflict, RevertLinesFile, RevertLinesOptions, RevertLinesPreview,
    ReviewAction, ReviewActionKind, ReviewDone, ReviewSelection,
};
pub use scope::{
    DiffRun, KeptState, LineRange, ReviewDoubt, ReviewFile, ReviewFileDiff, ReviewFiles,
    ReviewHunk, ReviewPictures, ReviewScope,
};
pub use steps::{SessionStep, StepPlace, TreeEntryView};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::{MessageId, PartId, SessionId};
use crate::json::Millis;
use crate::session::Session;
use crate::view::FileDiffView;

/// What the agent changed, in the whole session or in one turn.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SessionDiffView {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The turn's user message; absent for the whole session.
    #[serde(rename = "messageID")]
    pub message_id: Option<MessageId>,
    /// In path order.
    pub files: Vec<FileDiffView>,
    pub additions: usize,
    pub deletions: usize,
}

/// What to revert.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[ts(optional_fields)]
pub enum RevertTarget {
    /// This message and everything after it; with `keepFiles`, only the messages.
    Message {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "keepFiles", default)]
        #[ts(as = "Option<bool>", optional)]
        keep_files: bool,
    },
    /// This part and everything after it.
    Part {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
    /// What one turn (or the whole session) did to one file. No message is hidden.
    File {
        #[serde(rename = "messageID")]
        message_id: Option<MessageId>,
        path: String,
    },
    /// The whole work tree, back to the snapshot of a part.
    Snapshot {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
}

/// How a person wants files to be treated that a revert would leave as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct RevertOptions {
    /// All of them get the content they had before the agent, and messages are hidden even if
    /// something cannot be reverted.
    pub force: bool,
    /// A decision for single files, by their path.
    pub choices: BTreeMap<String, RevertChoice>,
}

/// What becomes of one file that a revert would leave as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum RevertChoice {
    /// It stays as it is now.
    Mine,
    /// It gets the content it had before the agent.
    Before,
    /// It stays, and the content it had before the agent is written beside it.
    Both,
}

/// What a revert would do. Nothing has been changed yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertPreview {
    pub files: Vec<RevertFile>,
    pub hides_messages: usize,
    /// Everything that the agent did would be reverted.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub complete: bool,
    /// What the agent did and no snapshot tells: one sentence each.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub unknown: Vec<String>,
    /// What the agent did and no revert covers, such as ignored files: one sentence each.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub not_kept: Vec<String>,
}

/// What a revert did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertOutcome {
    pub session: Session,
    /// Each file with what was done to it. A conflict, a shared and an unknown file were left as
    /// they are.
    pub files: Vec<RevertFile>,
    pub hides_messages: usize,
    /// How many reverts can be undone, as in `SessionView`.
    pub undoable: usize,
    /// The item of the list "Reverted and removed" that has the files which were not restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub left_in: Option<String>,
    /// Everything that the agent did is reverted.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub complete: bool,
    /// What the agent did and no snapshot tells: one sentence each.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub unknown: Vec<String>,
    /// What the agent did and no revert covers, such as ignored files: one sentence each.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub not_kept: Vec<String>,
}

/// A revert of messages that the next prompt makes final.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PendingRevert {
    /// The first hidden message, or the one with the first hidden part.
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// When that message was created: later ones are hidden, too.
    pub created: Millis,
    /// The files that it left as they are, until the person decides about them.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub left: Vec<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RevertFile {
    /// Relative to the work tree; absolute for a file outside of it.
    pub path: String,
    pub change: RevertChange,
    /// Why the file is left as it is.
    pub reason: Option<String>,
    /// Lines that the revert adds and deletes.
    pub additions: usize,
    pub deletions: usize,
    /// The two contents between which a person has to decide, for a file that is left as it is.
    pub sides: Option<RevertSides>,
}

/// Absent where there was no file, where it is not text, and where it is long.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RevertSides {
    /// The content before the agent.
    pub before: Option<String>,
    pub now: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum RevertChange {
    Restore,
    Delete,
    Create,
    /// Changed since the agent wrote it, or not to be written.
    Conflict,
    /// Changed while a command of the agent ran, and it is not known that the command did it.
    Shared,
    /// Changed by a step that was cut short, or by something else.
    Unknown,
    /// Changed while a command of the agent ran, and not by it: no part of the revert.
    Others,
}

impl RevertChange {
    /// The file is not touched unless the person wants it.
    pub fn is_left(self) -> bool {
        self.is_open() || self == RevertChange::Others
    }

    /// It may be the agent's, and it is not reverted.
    pub fn is_open(self) -> bool {
        matches!(
            self,
            RevertChange::Conflict | RevertChange::Shared | RevertChange::Unknown
        )
    }
}

/// A revert that can no longer be undone in its session, and can be restored from the list
/// "Reverted and removed".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertedItem {
    pub id: String,
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The start of the first prompt that was removed, or the names of the files.
    pub title: String,
    pub time: Millis,
    pub messages: usize,
    pub files: Vec<String>,
}
