//! Attachments on their way into a prompt, pictures on their way out of a session.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::{MessageId, PartId, SessionId};
use crate::json::Count;
use crate::message::TokenUsage;

/// Something a person put beside a prompt that is not sent yet.
///
/// The window knows it by `url`, which only the shell can follow: bytes and paths of staged
/// files never pass through the webview.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct AttachmentView {
    pub id: String,
    pub url: String,
    pub name: String,
    pub kind: AttachmentKind,
    pub mime: String,
    /// Bytes; of a folder, nothing.
    pub size: Count,
    /// Where it lies; nothing for what was pasted.
    pub path: Option<String>,
    /// Of a picture, as it is seen.
    pub width: Option<u32>,
    pub height: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum AttachmentKind {
    Image,
    Pdf,
    Text,
    Directory,
}

/// What became of a drop, a paste or a pick.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Attached {
    pub added: Vec<AttachmentView>,
    pub refused: Vec<RefusedAttachment>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RefusedAttachment {
    pub name: String,
    pub why: RefusedWhy,
    /// The most bytes it may have.
    pub limit: Option<Count>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedWhy {
    TooLarge,
    /// Neither text nor a picture nor a PDF.
    Type,
    Damaged,
    Unreadable,
}

/// Something is dragged over the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DropUpdate {
    Over { count: u32 },
    Left,
    Dropped { attached: Attached },
}

/// A picture of a session, also one that lies in a tool's result or far back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionImage {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "partID")]
    pub part_id: PartId,
    pub url: String,
    pub name: String,
    pub mime: String,
}

/// What a session has cost and used so far, all of its messages counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionUsage {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// US dollars, added up in decimal.
    pub cost: f64,
    pub tokens: TokenUsage,
    /// How many answers were counted.
    pub steps: Count,
}
