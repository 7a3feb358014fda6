//! The steps of a session, as places in time to look at and to go back to.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::{MessageId, PartId};
use crate::json::Millis;

/// A step that changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionStep {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// The part that the step starts with.
    #[serde(rename = "partID")]
    pub part_id: PartId,
    /// The prompt of its turn.
    #[serde(rename = "turnID")]
    pub turn_id: MessageId,
    pub time: Millis,
    pub files: Vec<String>,
    pub additions: usize,
    pub deletions: usize,
}

/// A place in time: after a step, or before a prompt.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct StepPlace {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// Absent for the place before the prompt `messageID`.
    #[serde(rename = "partID")]
    pub part_id: Option<PartId>,
}

/// A file or a folder as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TreeEntryView {
    pub name: String,
    pub path: String,
    pub folder: bool,
}
