//! What a session changed: differences per step, summaries, reverting and undoing a revert.
//!
//! The trees come from `lathe-snapshot`, the steps from the parts of a session. This crate must
//! not know models, tools, turns or how anything is shown. The caller holds the session's lock.

mod error;
pub mod named_snapshot;
pub mod revert;
pub mod snapshots;
pub mod steps;
pub mod summary;

use std::path::PathBuf;

use lathe_records::Records;

pub use error::{Result, ReviewError};
use snapshots::Snapshots;
use summary::Summaries;

/// The handles that this crate's functions need.
pub struct Review {
    pub records: Records,
    pub snapshots: Snapshots,
    summaries: Summaries,
    data_dir: PathBuf,
}

impl Review {
    pub fn new(records: Records, data_dir: PathBuf) -> Self {
        Review {
            records,
            snapshots: Snapshots::new(data_dir.clone()),
            summaries: Summaries::default(),
            data_dir,
        }
    }
}
