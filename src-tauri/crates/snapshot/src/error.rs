//! Why a snapshot, a diff or a restore failed.

use std::{io, path::PathBuf};

use crate::tree::TreeId;

/// Why no snapshots are taken of a work tree. The session goes on without snapshots and tells
/// the user the reason.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("no snapshots of the root directory")]
    RootDirectory,
    #[error("no snapshots of a home directory")]
    HomeDirectory,
    #[error("no snapshots of a directory that holds our own data")]
    HoldsOurData,
    #[error("{} is not a directory we can open: {source}", path.display())]
    NotADirectory { path: PathBuf, source: io::Error },
    #[error("the side repository cannot be made: {0}")]
    NoRepository(#[source] io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("snapshots of this project would take more than {limit} bytes")]
    OverLimit { limit: u64 },
    #[error("less than {keep} bytes would stay free on the disk")]
    DiskNearlyFull { keep: u64 },
    #[error("the name {0:?} cannot label a snapshot")]
    BadLabel(String),
    #[error("there is no snapshot {0}")]
    NoSuchTree(TreeId),
    #[error("the snapshot has no file {0:?}")]
    NoSuchFile(String),
    #[error("the side repository is damaged: {0}")]
    Damaged(String),
    #[error("{what}: {source}")]
    Io {
        what: &'static str,
        source: io::Error,
    },
}

pub type Result<T, E = SnapshotError> = std::result::Result<T, E>;

/// Adds what was being done to an I/O error.
pub(crate) trait Context<T> {
    fn context(self, what: &'static str) -> Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, what: &'static str) -> Result<T> {
        self.map_err(|source| SnapshotError::Io {
            what,
            source: source.into(),
        })
    }
}

pub(crate) fn damaged(what: impl std::fmt::Display) -> SnapshotError {
    SnapshotError::Damaged(what.to_string())
}
