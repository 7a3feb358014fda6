//! Tools: what the model may ask us to do.
//!
//! One file per tool, with its prompt text next to it. A tool knows the project, the files and
//! processes that it works on, and its [`ToolContext`]; it must not know about sessions,
//! messages, storage or the window.

pub mod apply_patch;
pub mod bash;
mod changes;
pub mod context;
pub mod edit;
pub mod environment;
pub mod files;
pub mod glob;
pub mod grep;
mod hard_links;
pub mod list;
pub mod paths;
pub mod plan;
pub mod process;
pub mod question;
pub mod read;
pub mod registry;
pub mod schema;
mod search;
pub mod task;
pub mod text;
pub mod todo;
pub mod tool;
pub mod truncate;
pub mod webfetch;
pub mod write;

pub use lathe_protocol::written;

pub use context::{
    CallIds, Clock, CommandAsk, ContentHash, FileReads, Host, PermissionAsk, Progress,
    ProtectedItem, Refusal, Refused, RunPermit, SetAside, SystemClock, TaskRequest, TaskResult,
    ToolContext, Walls, Want,
};
pub use environment::{Environment, EnvironmentSettings, ShellChoice};
pub use hard_links::{LinkedSecrets, read_unasked};
pub use registry::Registry;
pub use tool::{Attachment, DynTool, Effect, FailureKind, Tool, ToolFailure, ToolOutput};
