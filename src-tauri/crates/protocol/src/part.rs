//! What a message is made of.
//!
//! A part is the unit we store, publish and draw. Parts hold source (Markdown, tool
//! input), never rendered HTML: rendering can be redone, storage cannot.

pub mod tool;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::error::{ApiErrorData, MessageError};
use crate::id::{MessageId, PartId, SessionId};
use crate::json::{Count, Extra, Map, Millis};
use crate::message::{CreatedTime, ModelRef, TokenUsage};
use tool::ToolPart;

/// The twelve known kinds, and the unknown ones. A part of a known kind that lacks a required
/// field also reads as [`UnknownPart`]: it is shown and stored unchanged, and the rest of its
/// session stays readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Part {
    Text(TextPart),
    Reasoning(ReasoningPart),
    File(FilePart),
    Agent(AgentPart),
    Tool(ToolPart),
    Subtask(SubtaskPart),
    StepStart(StepStartPart),
    StepFinish(StepFinishPart),
    Snapshot(SnapshotPart),
    Patch(PatchPart),
    Retry(RetryPart),
    Compaction(CompactionPart),
    #[serde(untagged)]
    #[schemars(skip)]
    #[ts(skip)]
    Unknown(UnknownPart),
}

/// Every part has an id, its message's id and its session's id; each kind adds its own fields.
macro_rules! parts {
    ($($(#[$doc:meta])* $Name:ident { $($(#[$attr:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[skip_serializing_none]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
        #[ts(optional_fields)]
        pub struct $Name {
            pub id: PartId,
            #[serde(rename = "sessionID")]
            pub session_id: SessionId,
            #[serde(rename = "messageID")]
            pub message_id: MessageId,
            $($(#[$attr])* pub $field: $type,)*
            #[serde(flatten)]
            #[ts(skip)]
            pub extra: Extra,
        }
    )*};
}

parts! {
    /// What the user or the model wrote, as Markdown.
    TextPart {
        text: String,
        /// Added by the program, not typed by the user.
        synthetic: Option<bool>,
        /// Shown, but not sent to the model.
        ignored: Option<bool>,
        time: Option<PartTime>,
        #[ts(type = "Record<string, unknown>", optional)]
        metadata: Option<Map>,
    }
    /// The model's reasoning.
    ReasoningPart {
        text: String,
        #[ts(type = "Record<string, unknown>", optional)]
        metadata: Option<Map>,
        time: PartTime,
    }
    /// An attachment: a `data:` URL with its bytes, or a `file://` URL.
    FilePart {
        mime: String,
        filename: Option<String>,
        url: String,
        source: Option<FilePartSource>,
    }
    /// An `@agent` mention.
    AgentPart {
        name: String,
        source: Option<SourceText>,
    }
    /// A task for another agent in a child session.
    SubtaskPart {
        prompt: String,
        description: String,
        agent: String,
        model: Option<ModelRef>,
        command: Option<String>,
    }
    /// The start of one API call, with the work tree at that time.
    StepStartPart {
        snapshot: Option<String>,
    }
    /// The end of one API call, with its cost and the work tree at that time.
    StepFinishPart {
        reason: String,
        snapshot: Option<String>,
        cost: f64,
        tokens: TokenUsage,
    }
    /// The work tree at one moment, saved by the user or before a revert.
    SnapshotPart {
        snapshot: String,
        /// The name that the user gave it. One without a name was taken before a revert.
        name: Option<String>,
        /// The files that were reverted after it without hiding a message, and the tree they
        /// were reverted to.
        #[serde(rename = "takenBack")]
        reverted_files: Option<RevertedFiles>,
        /// Paths that are missing in the snapshot, each with the reason.
        skipped: Option<Vec<String>>,
    }
    /// The files that a step changed since the tree `hash`.
    PatchPart {
        hash: String,
        files: Vec<String>,
    }
    /// A failed API call that is sent again.
    RetryPart {
        attempt: Count,
        error: ApiErrorValue,
        time: CreatedTime,
    }
    /// Everything before this part is replaced by a summary in the model's context.
    CompactionPart {
        auto: bool,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RevertedFiles {
    pub after: String,
    /// Relative to the work tree.
    pub files: Vec<String>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// A part of unknown shape, with all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct UnknownPart {
    pub id: PartId,
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct PartTime {
    pub start: Millis,
    pub end: Option<Millis>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// Where an attachment comes from, and the text of the prompt that names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(clippy::large_enum_variant, reason = "few and short-lived")]
pub enum FilePartSource {
    File(FileSource),
    Symbol(SymbolSource),
    Resource(ResourceSource),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FileSource {
    pub path: String,
    pub text: SourceText,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SymbolSource {
    pub path: String,
    pub range: LspRange,
    pub name: String,
    pub kind: Count,
    pub text: SourceText,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSource {
    pub client_name: String,
    pub uri: String,
    pub text: SourceText,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// A range of the prompt, in UTF-16 code units because the UI counts in them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourceText {
    pub value: String,
    pub start: Count,
    pub end: Count,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// Zero-based, as in the Language Server Protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct LspRange {
    pub start: LspPosition,
    pub end: LspPosition,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct LspPosition {
    pub line: Count,
    pub character: Count,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// An `APIError`. Other errors that were stored here are read and kept too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(transparent)]
pub struct ApiErrorValue(pub MessageError);

impl From<ApiErrorData> for ApiErrorValue {
    fn from(data: ApiErrorData) -> Self {
        ApiErrorValue(MessageError::Api(data))
    }
}

macro_rules! for_each_kind {
    ($self:ident, $part:ident => $value:expr) => {
        match $self {
            Part::Text($part) => $value,
            Part::Reasoning($part) => $value,
            Part::File($part) => $value,
            Part::Agent($part) => $value,
            Part::Tool($part) => $value,
            Part::Subtask($part) => $value,
            Part::StepStart($part) => $value,
            Part::StepFinish($part) => $value,
            Part::Snapshot($part) => $value,
            Part::Patch($part) => $value,
            Part::Retry($part) => $value,
            Part::Compaction($part) => $value,
            Part::Unknown($part) => $value,
        }
    };
}

impl TextPart {
    /// In the metadata of a prompt: its text is this command, after a `!`.
    pub const SHELL_COMMAND: &str = "shellCommand";
}

impl Part {
    pub fn id(&self) -> &PartId {
        for_each_kind!(self, part => &part.id)
    }

    pub fn session_id(&self) -> &SessionId {
        for_each_kind!(self, part => &part.session_id)
    }

    pub fn message_id(&self) -> &MessageId {
        for_each_kind!(self, part => &part.message_id)
    }

    /// Gives a copied part its new ids, for fork and import.
    pub fn relocate(&mut self, id: PartId, session_id: SessionId, message_id: MessageId) {
        for_each_kind!(self, part => {
            part.id = id;
            part.session_id = session_id;
            part.message_id = message_id;
        })
    }
}
