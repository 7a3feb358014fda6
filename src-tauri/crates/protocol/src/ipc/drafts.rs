//! Prompts that are not sent yet.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use super::AttachmentView;
use crate::json::Count;
use crate::part::FilePartSource;

/// An unsent prompt. It belongs to a session, to a sent prompt that is being edited, or to a
/// project without an open session; the window chooses the key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Draft {
    pub text: String,
    pub attachments: Vec<DraftAttachment>,
    /// Symbols mentioned in the text. One whose name is no longer in the text is not sent.
    pub symbols: Vec<DraftSymbol>,
}

/// An attachment of the draft: a staged file, or a resource of an MCP server.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DraftAttachment {
    #[serde(flatten)]
    pub view: AttachmentView,
    pub resource: Option<DraftResource>,
    /// For an attachment of a prompt that is edited: its source in the sent prompt.
    pub source: Option<FilePartSource>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DraftResource {
    pub server: String,
    pub uri: String,
}

/// The location of a mentioned symbol. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DraftSymbol {
    pub name: String,
    pub lsp_kind: Count,
    pub path: String,
    pub line: Count,
    pub end_line: Count,
}
