//! Export and sharing of sessions.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::diff::FileDiff;
use crate::message::MessageWithParts;
use crate::session::Session;
use crate::todo::Todo;

/// One session as a file: what an export writes and an import reads.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SessionExport {
    pub info: Session,
    pub messages: Vec<MessageWithParts>,
    pub todos: Option<Vec<Todo>>,
    pub diff: Option<Vec<FileDiff>>,
}

/// What would be shared. Nothing has been sent yet.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SharePreview {
    pub messages: usize,
    pub redacted: Vec<Redaction>,
    /// Where it is sent; absent if it is written to a file.
    pub endpoint: Option<String>,
}

/// Sensitive text that is removed before sharing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Redaction {
    /// For example "API key" or "home folder".
    pub what: String,
    /// Enough of the text to recognise it.
    pub sample: String,
    pub count: usize,
}
