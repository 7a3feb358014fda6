//! Messages: role, time, model and cost. The content is in the parts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::diff::FileDiff;
use crate::error::MessageError;
use crate::id::{MessageId, SessionId};
use crate::json::{self, Count, Extra, Millis};
use crate::part::Part;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "role", rename_all = "lowercase")]
#[allow(
    clippy::large_enum_variant,
    reason = "most messages are the larger kind"
)]
pub enum Message {
    User(UserMessage),
    Assistant(AssistantMessage),
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct UserMessage {
    pub id: MessageId,
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    pub time: CreatedTime,
    pub summary: Option<UserSummary>,
    /// Early versions wrote neither agent nor model.
    pub agent: Option<String>,
    pub model: Option<ModelRef>,
    pub system: Option<String>,
    pub tools: Option<BTreeMap<String, bool>>,
    pub variant: Option<String>,
    /// It waited for a turn that ended without it. The model does not get it until it is sent
    /// again.
    pub unsent: Option<bool>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CreatedTime {
    pub created: Millis,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// What a turn changed, stored with the user message that started it.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct UserSummary {
    pub title: Option<String>,
    pub body: Option<String>,
    #[serde(default)]
    pub diffs: Vec<FileDiff>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ModelRef {
    #[serde(rename = "providerID")]
    pub provider_id: String,
    #[serde(rename = "modelID")]
    pub model_id: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

impl ModelRef {
    pub fn new(provider_id: impl Into<String>, model_id: impl Into<String>) -> Self {
        ModelRef {
            provider_id: provider_id.into(),
            model_id: model_id.into(),
            extra: Extra::default(),
        }
    }
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct AssistantMessage {
    pub id: MessageId,
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    pub time: AssistantTime,
    pub error: Option<MessageError>,
    /// The user message that this one answers. The oldest versions did not store it; the store
    /// then fills in the user message before this one.
    #[serde(
        rename = "parentID",
        default = "MessageId::missing",
        skip_serializing_if = "MessageId::is_missing"
    )]
    pub parent_id: MessageId,
    #[serde(rename = "modelID")]
    pub model_id: String,
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// The agent's name in its old field, written for older programs.
    pub mode: Option<String>,
    pub agent: Option<String>,
    pub path: Option<AssistantPath>,
    pub summary: Option<bool>,
    #[serde(default, deserialize_with = "json::null_is_default")]
    pub cost: f64,
    #[serde(default)]
    pub tokens: TokenUsage,
    pub finish: Option<Finish>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct AssistantTime {
    pub created: Millis,
    pub completed: Option<Millis>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AssistantPath {
    pub cwd: String,
    pub root: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// `input` excludes cached tokens, and `output` excludes reasoning that the provider counts
/// separately.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TokenUsage {
    #[serde(default)]
    pub input: Count,
    #[serde(default)]
    pub output: Count,
    #[serde(default)]
    pub reasoning: Count,
    #[serde(default, deserialize_with = "json::null_is_default")]
    pub cache: CacheTokens,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CacheTokens {
    #[serde(default)]
    pub read: Count,
    #[serde(default)]
    pub write: Count,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

impl TokenUsage {
    /// Tokens in the context after the step; compaction is decided by this number.
    pub fn context(&self) -> i64 {
        self.input.0 + self.cache.read.0 + self.cache.write.0 + self.output.0
    }
}

/// Why a step ended. [`Finish::kind`] maps the old spelling `end-turn` to [`Finish::Stop`]; the
/// stored value stays as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Error,
    Unknown,
    #[serde(untagged)]
    #[ts(skip)]
    Other(String),
}

impl Finish {
    /// The reason, with old spellings mapped to the current ones.
    pub fn kind(&self) -> Finish {
        match self {
            Finish::Other(text) if text == "end-turn" || text == "end_turn" => Finish::Stop,
            Finish::Other(_) => Finish::Unknown,
            known => known.clone(),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::ToolCalls => "tool-calls",
            Finish::Length => "length",
            Finish::ContentFilter => "content-filter",
            Finish::Error => "error",
            Finish::Unknown => "unknown",
            Finish::Other(text) => text,
        }
    }
}

impl Message {
    pub fn id(&self) -> &MessageId {
        match self {
            Message::User(user) => &user.id,
            Message::Assistant(assistant) => &assistant.id,
        }
    }

    pub fn session_id(&self) -> &SessionId {
        match self {
            Message::User(user) => &user.session_id,
            Message::Assistant(assistant) => &assistant.session_id,
        }
    }

    pub fn created(&self) -> Millis {
        match self {
            Message::User(user) => user.time.created,
            Message::Assistant(assistant) => assistant.time.created,
        }
    }

    pub fn as_user(&self) -> Option<&UserMessage> {
        match self {
            Message::User(user) => Some(user),
            Message::Assistant(_) => None,
        }
    }

    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        match self {
            Message::Assistant(assistant) => Some(assistant),
            Message::User(_) => None,
        }
    }
}

/// A message and its parts, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct MessageWithParts {
    pub info: Message,
    pub parts: Vec<Part>,
}
