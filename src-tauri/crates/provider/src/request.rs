//! A request to a model, in one form for all wires.
//!
//! A tool call contains its result, so a request with an unanswered call cannot be built; each
//! wire puts the two where its API wants them. The request is serialisable for display
//! (`lathectl show --as model`) and is never stored.

mod attachments;
mod conversation;

use std::{borrow::Cow, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::event::Metadata;

pub(crate) use attachments::lift_attachments;
pub use conversation::Conversation;
pub(crate) use conversation::{EncodingKey, encode_items};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequest {
    /// The model's id in the provider's API.
    pub model: String,
    /// System prompt in blocks, the most stable first, because providers cache prefixes.
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
    /// Reasoning variant by its catalog name (`low`, `medium`, `high`, `none`, …); `None` for
    /// the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Fields of the wire's body. They are merged last, so the user's config overrides ours.
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
    /// Valid only for the provider and model that wrote it; the caller drops it for others.
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

/// The result of a tool call.
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
    pub(crate) fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }

    pub(crate) fn is_pdf(&self) -> bool {
        self.mime == "application/pdf"
    }

    /// The name of the file for use in a sentence.
    fn label(&self) -> &str {
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
    pub(crate) fn base64(bytes: &[u8]) -> String {
        BASE64.encode(bytes)
    }

    /// The bytes as a `data:` URL, or the address itself.
    pub(crate) fn to_url(&self, mime: &str) -> String {
        match self {
            Self::Bytes(bytes) => format!("data:{mime};base64,{}", Self::base64(bytes)),
            Self::Url(url) => url.clone(),
        }
    }
}

/// The input of a tool call as an object, which most APIs require. The model may have written
/// anything; other values are wrapped.
pub(crate) fn as_object(input: &Value) -> Cow<'_, Value> {
    match input {
        Value::Object(_) => Cow::Borrowed(input),
        Value::Null => Cow::Owned(json!({})),
        other => Cow::Owned(json!({ "input": other })),
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
    /// JSON Schema of the input; shared, because every step of a turn sends the same.
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
