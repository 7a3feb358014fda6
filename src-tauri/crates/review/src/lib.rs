//! What a session changed: differences per step, summaries, reverting and undoing a revert.
//!
//! The trees come from `lathe-snapshot`, the steps from the parts of a session. This crate must
//! not know models, tools, turns or how anything is shown. The caller holds the session's lock.

pub mod comments;
pub mod credit;
mod error;
pub mod history;
pub mod judge;
pub mod lines;
pub mod named_snapshot;
pub mod record;
pub mod revert;
pub mod scope;
pub mod snapshots;
pub mod steps;
pub mod summary;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_records::Records;
use parking_lot::Mutex;

pub use error::{Result, ReviewError};
use scope::{Lists, Recent};
use snapshots::Snapshots;
use summary::Summaries;

/// The handles that this crate's functions need.
pub struct Review {
    pub records: Records,
    pub snapshots: Snapshots,
    summaries: Summaries,
    data_dir: PathBuf,
    /// The contents of files that a review has shown.
    pub recent: Mutex<Recent>,
    lists: Mutex<Lists>,
    /// One change of a session's record at a time.
    editing: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
}

impl Review {
    pub fn new(records: Records, data_dir: PathBuf) -> Self {
        Review {
            records,
            snapshots: Snapshots::new(data_dir.clone()),
            summaries: Summaries::default(),
            data_dir,
            recent: Mutex::default(),
            lists: Mutex::default(),
            editing: Mutex::default(),
        }
    }
}
