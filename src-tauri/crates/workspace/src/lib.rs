//! What holds where a session works: the project, its config and trust, its agents, commands,
//! instructions, models and tool servers, and what a prompt can mention.
//!
//! Files are read here and parsed once. This crate knows neither sessions' turns nor how
//! anything is shown.

mod added_servers;
pub mod agents;
pub mod commands;
pub mod config;
pub mod git_worktree;
pub mod instructions;
pub mod mcp;
pub mod mentions;
pub mod models;
pub mod paths;
pub mod project;
pub mod setup;
pub mod tool_settings;
pub mod trust;
mod workspace;

pub use workspace::{Workspace, WorkspaceOptions};
