//! The environment of a session: the project, its config and trust, its agents, commands,
//! instructions, models and tool servers, and what a prompt mentions or has attached.
//!
//! Files are read here and parsed once. This crate must not know about turns or rendering.

pub mod added_providers;
mod added_servers;
pub mod agents;
pub mod attachments;
pub mod by_link;
pub mod commands;
pub mod config;
pub mod confinement;
pub mod git;
pub mod instructions;
pub mod mcp;
pub mod mentions;
pub mod models;
pub mod paths;
pub mod plan_file;
pub mod project;
pub mod redact;
pub mod setup;
pub mod tool_settings;
pub mod trust;
mod workspace;

pub use workspace::{Workspace, WorkspaceOptions};

#[cfg(test)]
#[path = "../../../../tests/support/src/outside.rs"]
mod outside;
