//! Client for tool servers that speak the Model Context Protocol (MCP).
//!
//! [`Servers`] starts the configured servers, tracks the state and the log of each, and stores
//! which tool descriptions the user has accepted. This crate must not know sessions,
//! permissions or the tool registry: the session core connects them. It does not start
//! processes itself either; the caller passes in a [`Launch`].

mod answer;
mod client;
mod config;
mod connection;
mod decisions;
mod launch;
mod log;
mod registry;
mod server;
mod tool_names;

pub use answer::{Answer, AnswerFile};
pub use client::{CallError, CallProgress, ProgressSink};
pub use config::{ServerConfig, Transport};
pub use launch::{ChildProcess, Launch, ProcessHandle, Program};
pub use registry::{ServerKey, Servers};
pub use server::{Resource, Server, ServerState, Tool};
pub use tool_names::tool_name;
