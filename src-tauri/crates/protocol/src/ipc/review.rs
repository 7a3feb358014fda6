//! Diffs of a session and reverts, as the review pane uses them.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::{MessageId, PartId, SessionId};
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
    /// In path order, each hunk with its fingerprint.
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
    /// One hunk of a file's diff.
    Hunk {
        #[serde(rename = "messageID")]
        message_id: Option<MessageId>,
        path: String,
        hunk: usize,
        fingerprint: String,
    },
    /// The whole work tree, back to the snapshot of a part.
    Snapshot {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
}

/// What a revert would do. Nothing has been changed yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertPreview {
    pub files: Vec<RevertFile>,
    pub hides_messages: usize,
}

/// What a revert did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertOutcome {
    pub session: Session,
    /// Each file with what was done to it. A file with a conflict was left as it is.
    pub files: Vec<RevertFile>,
    pub hides_messages: usize,
    /// How many reverts can be undone, as in `SessionView`.
    pub undoable: usize,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RevertFile {
    /// Relative to the work tree.
    pub path: String,
    pub change: RevertChange,
    /// Why the file is left as it is.
    pub reason: Option<String>,
    /// Lines that the revert adds and deletes.
    pub additions: usize,
    pub deletions: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum RevertChange {
    Restore,
    Delete,
    Create,
    Conflict,
}
