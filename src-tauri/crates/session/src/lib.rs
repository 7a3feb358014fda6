//! The loop: sessions, prompts, the queue, turns, compaction, subtasks, forks and shares.
//!
//! [`Sessions`] is the handle for a window, a server or a command line. This crate combines
//! models, tools, storage, projects and reviews. It must not know windows, rendering or servers.

mod active_sessions;
mod compaction;
mod convert;
mod core;
mod failure;
mod fork;
mod import;
mod new_session;
mod permission;
mod pictures;
mod plan_mode;
mod prompt;
mod question;
mod sessions;
mod share;
mod slug;
mod synthetic;
mod system_prompt;
mod title;
mod transfer;
mod turn;

pub use lathe_protocol::data_url;
pub use lathe_provider::catalog::parse_model_ref;
pub use lathe_provider::demo::{DemoPace, SAMPLE_PROJECT};
pub use lathe_provider::keys::Keys;
pub use lathe_records::{Failed, Result, bus, clock};
pub use lathe_store::{
    CheckReport, Damaged, Health, Page, StoreError, Window, WindowAnchor, write_private_file,
};
pub use lathe_workspace::agents::{Agent, Mode};
pub use lathe_workspace::tool_settings::ToolOptions;
pub use lathe_workspace::{config, mcp, models};
pub use permission::Answer;
pub use pictures::FitPicture;
pub use sessions::{Options, Sessions, default_data_dir, title_contains};
pub use share::DrawPage;
pub use turn::NextRequest;
