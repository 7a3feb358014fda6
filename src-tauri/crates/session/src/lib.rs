//! The loop: sessions, prompts, the queue, turns, compaction, subtasks, forks and shares.
//!
//! [`Sessions`] is the handle for a window, a server or a command line. This crate combines
//! models, tools, storage, projects and reviews. It must not know windows, rendering or servers.

mod active_sessions;
mod core;
mod failure;
mod fork;
mod import;
mod new_session;
mod prompt;
mod sessions;
mod share;
mod slug;
mod synthetic;
mod title;
mod transfer;
mod turn;

pub use import::{ImportControl, ImportFrom};
pub use lathe_conversation::pictures::FitPicture;
pub use lathe_files::{self as files, write_private_file};
pub use lathe_permission::Answer;
pub use lathe_protocol::data_url;
pub use lathe_provider::catalog::parse_model_ref;
pub use lathe_provider::demo::{DemoPace, SAMPLE_PROJECT};
pub use lathe_provider::keys::Keys;
pub use lathe_records::other_processes::OtherProcesses;
pub use lathe_records::{Failed, Result, bus, clock};
pub use lathe_store::{CheckReport, Damaged, Health, Page, StoreError, Window, WindowAnchor};
pub use lathe_workspace::added_providers::AddedProvider;
pub use lathe_workspace::agents::{Agent, Mode};
pub use lathe_workspace::tool_settings::ToolOptions;
pub use lathe_workspace::{config, mcp, models};
pub use prompt::{Author, Chosen, ChosenText};
pub use sessions::{
    Foundation, Options, OutlineEntry, RedactText, Sessions, default_data_dir, title_contains,
};
pub use share::DrawPage;
pub use turn::{BeforePoll, NextRequest};
