//! Search results for the sidebar and for the find bar.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{MessageId, PartId, ProjectId, SessionId};
use crate::json::Millis;

/// Hits in all sessions, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct SearchAnswer {
    pub hits: Vec<SearchHit>,
    /// Some sessions are not indexed yet: a later search may find more.
    pub indexing: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SearchHit {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    #[serde(rename = "projectID")]
    pub project_id: ProjectId,
    /// The title of the session.
    pub title: String,
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "partID")]
    pub part_id: PartId,
    pub kind: HitKind,
    /// When the message was created.
    pub at: Millis,
    pub snippet: Vec<SnippetPiece>,
}

/// One match in the open session. They are listed in reading order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FindHit {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "partID")]
    pub part_id: PartId,
    pub kind: HitKind,
    /// The index of this match among the matches of its part.
    pub nth: u32,
}

/// The kind of part that contains the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    Text,
    Reasoning,
    Tool,
    File,
    Subtask,
}

/// A piece of plain text; `hit` says that it matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SnippetPiece {
    pub text: String,
    pub hit: bool,
}
