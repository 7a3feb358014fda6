//! The loop: sessions, turns, permissions.
//!
//! [`Sessions`] is the handle that a window or a command line holds. Everything it changes is
//! stored first and told afterwards ([`bus`]). This crate knows models, tools, storage and
//! snapshots; it knows nothing of windows.

mod agents;
pub mod bus;
mod checkpoint;
pub mod clock;
mod commands;
mod compaction;
pub mod config;
mod convert;
mod core;
pub mod data_url;
mod error;
mod failure;
mod fork;
mod hands;
mod import;
mod indexing;
mod instructions;
pub mod mcp;
mod mentions;
pub mod models;
mod permission;
mod pictures;
mod plan;
pub mod private_file;
mod project;
mod prompt;
mod question;
mod queue;
mod records;
mod revert;
mod sessions;
mod setup;
mod share;
mod slug;
mod snapshots;
mod steps;
mod subtask;
mod summary;
mod synthetic;
mod system;
mod title;
mod transfer;
mod trust;
mod turn;

pub use agents::{Agent, Mode};
pub use error::{Failed, Result};
pub use hands::HandsSettings;
pub use lathe_provider::catalog::parse_model_ref;
pub use lathe_provider::demo::{DemoPace, SAMPLE_PROJECT};
pub use lathe_provider::keys::Keys;
pub use lathe_store::{Damaged, Health, Page, Report, StoreError, Stretch, Window};
pub use permission::Answer;
pub use pictures::FitPicture;
pub use sessions::{Options, Sessions, default_data_dir, titled};
pub use share::DrawPage;
pub use turn::NextRequest;
