//! What a search found, for the sidebar and for the find bar.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{MessageId, PartId, ProjectId, SessionId};
use crate::json::Millis;

/// Hits over every session, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct SearchAnswer {
    pub hits: Vec<SearchHit>,
    /// Some sessions are still being read: asking again may find more.
    pub indexing: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SearchHit {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    #[serde(rename = "projectID")]
    pub project_id: ProjectId,
    /// Of the session.
    pub title: String,
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "partID")]
    pub part_id: PartId,
    pub kind: HitKind,
    /// When the message was made.
    pub at: Millis,
    pub snippet: Vec<SnippetPiece>,
}

/// One place in the open session, in reading order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FindHit {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "partID")]
    pub part_id: PartId,
    pub kind: HitKind,
    /// Which of the part's matches it is, from 0.
    pub nth: u32,
}

/// Where the words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    Text,
    Reasoning,
    Tool,
    File,
    Subtask,
}

/// Plain text; those that matched are to be marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SnippetPiece {
    pub text: String,
    pub hit: bool,
}
