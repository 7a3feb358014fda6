//! The contract with disk and with the UI: what a session is made of, as plain data.
//!
//! Every type here reads all the shapes that were ever written and writes one. Unknown
//! fields travel along in [`Extra`], unknown part types and error names in their own
//! variant, so that a rewrite never loses what a newer program put there. Nothing in this
//! crate does I/O or knows of tauri, providers, tools or the store.

pub mod data_url;
mod date;
mod diff;
mod error;
mod event;
mod id;
pub mod ipc;
mod json;
mod light;
pub mod media;
mod message;
mod part;
mod permission;
mod project;
mod question;
pub mod schema;
mod session;
mod shell;
pub mod text;
mod todo;
pub mod view;

pub use diff::{FileDiff, FileStatus};
pub use error::{
    AbortedErrorData, ApiErrorData, MessageError, OtherError, OutputLengthErrorData,
    ProviderAuthErrorData, UnknownErrorData,
};
pub use event::{Event, MessagePartUpdated, Sequenced, SessionStatus};
pub use id::{
    BadId, IdSource, MessageId, PartId, PermissionId, ProjectId, QuestionId, SessionId, Tick,
    serial_cmp, sort_serially, tick_of, timestamp,
};
pub use json::{Count, Extra, Map, Millis};
pub use light::ATTACHMENTS;
pub use message::{
    AssistantMessage, AssistantPath, AssistantTime, CacheTokens, CreatedTime, Finish, Message,
    MessageWithParts, ModelRef, TokenUsage, UserMessage, UserSummary,
};
pub use part::tool::{
    BackwardMove, ToolCompleted, ToolCompletedTime, ToolError, ToolErrorTime, ToolPart,
    ToolPending, ToolRunning, ToolRunningTime, ToolState, Unanswered,
};
pub use part::{
    AgentPart, ApiErrorValue, CompactionPart, FilePart, FilePartSource, FileSource, LspPosition,
    LspRange, Part, PartTime, PatchPart, ReasoningPart, ResourceSource, RetryPart, SnapshotPart,
    SourceText, StepFinishPart, StepStartPart, SubtaskPart, SymbolSource, TakenBack, TextPart,
    UnknownPart,
};
pub use permission::{Action, PermissionReply, PermissionRequest, Rule, Ruleset, ToolRef};
pub use project::{Project, ProjectTime};
pub use question::{Question, QuestionOption, QuestionRequest};
pub use session::{ForkedFrom, RevertState, Session, SessionSummary, SessionTime, Share};
pub use shell::ShellDialect;
pub use todo::Todo;
