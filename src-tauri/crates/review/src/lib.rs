//! What a session changed: its steps as differences, their summary, and the way back from them.
//!
//! The trees come from `lathe-snapshot`, the steps from the parts of a session. This crate
//! knows neither models, tools nor turns. The caller holds the session's lock.

pub mod checkpoint;
mod error;
pub mod revert;
pub mod snapshots;
pub mod steps;
pub mod summary;

use std::path::PathBuf;

use lathe_records::Records;

pub use error::{Result, ReviewError};
use snapshots::Snapshots;
use summary::Summaries;

/// What every function of this crate works with.
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
