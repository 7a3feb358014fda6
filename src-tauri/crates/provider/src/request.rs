//! What we ask a model, in one vocabulary for all wires.
//!
//! A tool call carries its result, so a request with an unanswered call cannot be built;
//! each wire puts the pair where its API wants it. The request is serialisable for people
//! to look at (`lathectl show --as model`); it is never stored.

mod conversation;
mod media;

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::event::Metadata;

pub use conversation::{Conversation, Mark, Passage, Writing, write_items};
pub use media::lift_attachments;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequest {
    /// The model's id as the wire wants it.
    pub model: String,
    /// System prompt in blocks, the most stable first: caches work on prefixes.
    pub system: Vec<String>,
    pub messages: Conversation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    pub tool_choice: ToolChoice,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Reasoning variant by its catalog name (`low`, `medium`, `high`, `none`, …); `None`
    /// leaves the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Fields merged into the wire's body last: the user's config has the final word.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

impl ModelRequest {
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            system: Vec::new(),
            messages: Conversation::default(),
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_output: None,
            temperature: None,
            top_p: None,
            reasoning: None,
            options: Map::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum ModelMessage {
    User {
        content: Vec<UserContent>,
    },
    /// One step of the model.
    Assistant {
        content: Vec<AssistantContent>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum UserContent {
    Text { text: String },
    File(FileContent),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum AssistantContent {
    Text {
        text: String,
        #[serde(skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
    },
    /// Only for the same provider and model; the caller drops it for any other.
    Reasoning {
        text: String,
        #[serde(skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
    },
    ToolCall {
        id: String,
        name: String,
        input: Value,
        #[serde(skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
        result: ToolOutcome,
    },
}

/// What became of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutcome {
    pub text: String,
    pub is_error: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<FileContent>,
}

impl ToolOutcome {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
            attachments: Vec::new(),
        }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
            attachments: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileContent {
    pub mime: String,
    pub data: FileData,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

impl FileContent {
    pub fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }

    pub fn is_pdf(&self) -> bool {
        self.mime == "application/pdf"
    }

    /// What to call the file in a sentence.
    pub fn label(&self) -> &str {
        self.filename.as_deref().unwrap_or(&self.mime)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileData {
    #[serde(serialize_with = "as_base64")]
    Bytes(Bytes),
    /// An http(s) address that the provider fetches itself.
    Url(String),
}

impl FileData {
    pub fn base64(bytes: &[u8]) -> String {
        BASE64.encode(bytes)
    }

    /// The bytes as a `data:` URL, or the address itself.
    pub fn to_url(&self, mime: &str) -> String {
        match self {
            Self::Bytes(bytes) => format!("data:{mime};base64,{}", Self::base64(bytes)),
            Self::Url(url) => url.clone(),
        }
    }
}

fn as_base64<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&FileData::base64(bytes))
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input; shared because every step of a turn sends the same.
    pub input_schema: Arc<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Named(String),
}
