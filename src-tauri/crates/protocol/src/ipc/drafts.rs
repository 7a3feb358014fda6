//! What was written and not sent.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use super::AttachmentView;
use crate::json::Count;
use crate::part::FilePartSource;

/// A prompt on its way. It belongs to a session, to a prompt that is written anew, or to the
/// empty page of a project; the window names that place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Draft {
    pub text: String,
    pub attachments: Vec<DraftAttachment>,
    /// Symbols picked for this text; those whose name is no longer in it are not sent.
    pub symbols: Vec<DraftSymbol>,
}

/// Something beside the prompt: what is staged, or what a tool server will be asked for.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DraftAttachment {
    #[serde(flatten)]
    pub view: AttachmentView,
    pub resource: Option<DraftResource>,
    /// Of one that was sent before: where it came from, and which words named it.
    pub source: Option<FilePartSource>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DraftResource {
    pub server: String,
    pub uri: String,
}

/// As much of a mention as names the place of a symbol. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DraftSymbol {
    pub name: String,
    pub lsp_kind: Count,
    pub path: String,
    pub line: Count,
    pub end_line: Count,
}
