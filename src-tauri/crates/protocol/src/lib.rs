//! Plain data: what is stored, what events carry and what the window is sent.
//!
//! Every type reads all shapes that were ever written and writes one of them. Unknown fields
//! are kept in [`Extra`], unknown part types and error names in a variant of their own, so a
//! rewrite never loses what a newer program has stored.
//!
//! This crate does no I/O and must not know tauri, providers, tools or the store.

pub mod data_url;
mod date;
mod diff;
mod error;
mod event;
mod id;
pub mod ipc;
mod json;
pub mod media;
mod message;
mod part;
mod permission;
mod project;
pub mod proto;
mod question;
pub mod schema;
mod session;
mod shell;
mod shorten;
pub mod text;
mod todo;
pub mod validators;
pub mod view;
pub mod wildcard;
pub mod written;

pub use diff::{FileDiff, FileStatus};
pub use error::{
    AbortedErrorData, ApiErrorData, MessageError, OtherError, OutputLengthErrorData,
    ProviderAuthErrorData, UnknownErrorData,
};
pub use event::{Event, MessagePartUpdated, SessionStatus};
pub use id::{
    BadId, IdSource, MessageId, PartId, PermissionId, ProjectId, QuestionId, SessionId, Tick,
    parse_tick, serial_cmp, sort_serially, timestamp,
};
pub use json::{Count, Extra, Map, Millis};
pub use message::{
    AssistantMessage, AssistantPath, AssistantTime, CacheTokens, CreatedTime, Finish, Message,
    MessageWithParts, ModelRef, TokenUsage, UserMessage, UserSummary,
};
pub use part::tool::{
    InvalidTransition, ToolCompleted, ToolCompletedTime, ToolError, ToolErrorTime, ToolPart,
    ToolPending, ToolRunning, ToolRunningTime, ToolState,
};
pub use part::{
    AgentPart, ApiErrorValue, CompactionPart, FilePart, FilePartSource, FileSource, LspPosition,
    LspRange, Part, PartTime, PatchPart, ReasoningPart, ResourceSource, RetryPart, RevertedFiles,
    SnapshotPart, SourceText, StepFinishPart, StepStartPart, SubtaskPart, SymbolSource, TextPart,
    UnknownPart,
};
pub use permission::{
    Action, CallOutcome, CommandDanger, PermissionMode, PermissionNeed, PermissionReply,
    PermissionRequest, Rule, Ruleset, ToolRef,
};
pub use project::{Project, ProjectTime};
pub use question::{Question, QuestionOption, QuestionRequest};
pub use session::{ForkedFrom, RevertState, Session, SessionSummary, SessionTime, Share};
pub use shell::ShellDialect;
pub use todo::Todo;
