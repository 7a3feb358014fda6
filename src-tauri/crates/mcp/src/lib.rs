//! Tools and resources that other programs offer over the Model Context Protocol.
//!
//! [`Servers`] starts what is configured, keeps each server's state and log, and remembers
//! which tool descriptions the person has seen. It knows nothing of sessions, permissions or
//! the tool registry: the session core ties those together, and hands in how a program is
//! started ([`Launch`]).

mod config;
mod connection;
mod content;
mod launch;
mod log;
mod memory;
mod names;
mod server;
mod servers;

pub use config::{ServerConfig, Transport};
pub use connection::{CallFailed, CallProgress, ProgressSink};
pub use content::{Answer, AnswerFile};
pub use launch::{Launch, Launched, Program, Running};
pub use names::tool_name;
pub use server::{Resource, Server, State, Tool};
pub use servers::{ServerKey, Servers};
