//! Hands: what the model may ask us to do.
//!
//! One file a tool, with its prompt text beside it. A tool knows the project, the files and
//! processes it works on, and its [`ToolContext`]; it knows nothing of sessions, messages,
//! storage or the window.

pub mod context;
pub mod environment;
pub mod question;
pub mod registry;
pub mod schema;
pub mod task;
pub mod todo;
pub mod tool;

pub use context::{
    CallIds, Clock, ContentHash, FileReads, Host, PermissionAsk, Progress, SystemClock,
    TaskRequest, TaskResult, ToolContext,
};
pub use environment::Environment;
pub use registry::Registry;
pub use tool::{Attachment, DynTool, Effect, FailureKind, Tool, ToolFailure, ToolOutput};
