//! Attachments of a prompt that is not sent yet, and images of a session.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::{MessageId, PartId, SessionId};
use crate::json::Count;
use crate::message::TokenUsage;

/// A file that the user attached to a prompt that is not sent yet.
///
/// The window loads it by `url`, which only the shell can resolve: the bytes of staged files
/// never pass through the webview as data.
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
    /// In bytes; 0 for a folder.
    pub size: Count,
    /// Absent for pasted data.
    pub path: Option<String>,
    /// Of an image, after its orientation was applied.
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

/// The result of a drop, a paste or a file dialog.
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
    /// The size limit that was exceeded, in bytes.
    pub limit: Option<Count>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedWhy {
    TooLarge,
    /// Neither text nor an image nor a PDF.
    Type,
    Damaged,
    Unreadable,
}

/// The state of a drag and drop over the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DropUpdate {
    Over { count: u32 },
    Left,
    Dropped { attached: Attached },
}

/// An image anywhere in a session, also in the result of a tool.
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

/// The cost and the tokens of all messages of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionUsage {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// In US dollars, summed in decimal arithmetic.
    pub cost: f64,
    pub tokens: TokenUsage,
    /// The number of API calls.
    pub steps: Count,
}
