//! Why a review or a revert failed.

use lathe_records::Failed;
use lathe_snapshot::SnapshotError;
use lathe_store::{BadKey, StoreError};

pub type Result<T, E = ReviewError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    #[error(transparent)]
    Failed(#[from] Failed),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl ReviewError {
    pub fn missing(kind: &'static str, id: impl Into<String>) -> Self {
        Failed::missing(kind, id).into()
    }

    pub fn refused(why: impl Into<String>) -> Self {
        Failed::refused(why).into()
    }
}

impl From<StoreError> for ReviewError {
    fn from(error: StoreError) -> Self {
        Failed::from(error).into()
    }
}

impl From<BadKey> for ReviewError {
    fn from(error: BadKey) -> Self {
        Failed::from(error).into()
    }
}

impl From<ReviewError> for Failed {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Failed(failed) => failed,
            ReviewError::Snapshot(SnapshotError::NoSuchFile(path)) => Failed::missing("file", path),
            ReviewError::Snapshot(error) => Failed::refused(error.to_string()),
        }
    }
}
