//! Differences, taking back, forks and shares, as the window asks for them.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::diff::FileDiff;
use crate::id::{MessageId, PartId, SessionId};
use crate::message::MessageWithParts;
use crate::session::Session;
use crate::todo::Todo;
use crate::view::FileDiffView;

/// What the agent changed, in the whole session or in one turn.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SessionDiffView {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The turn; nothing for the whole session.
    #[serde(rename = "messageID")]
    pub message_id: Option<MessageId>,
    /// In path order, each hunk with its fingerprint.
    pub files: Vec<FileDiffView>,
    pub additions: usize,
    pub deletions: usize,
}

/// What is to be taken back.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[ts(optional_fields)]
pub enum RevertTarget {
    /// This message and everything after it. With `keepFiles` only what was said.
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
    /// What a turn (or the session) did to one file; no message is hidden.
    File {
        #[serde(rename = "messageID")]
        message_id: Option<MessageId>,
        path: String,
    },
    /// One hunk of that file's difference.
    Hunk {
        #[serde(rename = "messageID")]
        message_id: Option<MessageId>,
        path: String,
        hunk: usize,
        fingerprint: String,
    },
    /// The whole work tree, as a snapshot part has it.
    Snapshot {
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
}

/// What taking back would do; nothing has happened yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertPreview {
    pub files: Vec<RevertFile>,
    pub hides_messages: usize,
}

/// What taking back did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevertOutcome {
    pub session: Session,
    /// Each file with what became of it; a conflict was left as it is.
    pub files: Vec<RevertFile>,
    pub hides_messages: usize,
    /// How often something more can be brought back, as in a session's view.
    pub undoable: usize,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RevertFile {
    /// Below the work tree.
    pub path: String,
    pub change: RevertChange,
    /// Why the file is left alone.
    pub reason: Option<String>,
    /// Lines, as the file changes by taking back.
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

/// One session as a file: what `export` writes and `import` reads.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SessionExport {
    pub info: Session,
    pub messages: Vec<MessageWithParts>,
    pub todos: Option<Vec<Todo>>,
    pub diff: Option<Vec<FileDiff>>,
}

/// What would be shared, before it is.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SharePreview {
    pub messages: usize,
    pub redacted: Vec<Redaction>,
    /// Where it is sent; nothing when it becomes a file.
    pub endpoint: Option<String>,
}

/// Something that is left out of what is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Redaction {
    /// Such as "API key" or "home folder".
    pub what: String,
    /// Enough of it to recognise it by.
    pub sample: String,
    pub count: usize,
}
