//! Why a snapshot, a diff or a restore failed.

use std::{io, path::PathBuf};

use crate::{scan::Reason, tree::TreeId};

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
    #[error("the side repository can’t be made: {0}")]
    NoRepository(#[source] io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("the snapshots of this project would take more than {}", in_units(*limit))]
    OverLimit { limit: u64 },
    #[error("less than {} would stay free on the disk", in_units(*keep))]
    DiskNearlyFull { keep: u64 },
    #[error("{} can’t be kept: {reason}", path.display())]
    NotKept { path: PathBuf, reason: Reason },
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

/// A size as people say it.
pub fn in_units(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    let unit = UNITS.iter().find(|(size, _)| bytes >= *size);
    match unit {
        // One digit after the point, but only if it says something.
        Some((size, name)) if bytes % size < size / 10 => format!("{} {name}", bytes / size),
        Some((size, name)) => format!("{:.1} {name}", bytes as f64 / *size as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_said_in_gigabytes() {
        let over = SnapshotError::OverLimit { limit: 2 << 30 };
        let text = "the snapshots of this project would take more than 2 GB";
        assert_eq!(over.to_string(), text);
        let full = SnapshotError::DiskNearlyFull { keep: 5 << 30 };
        assert_eq!(
            full.to_string(),
            "less than 5 GB would stay free on the disk"
        );
        assert_eq!(
            [in_units(3 << 29), in_units(20 << 20), in_units(7)],
            ["1.5 GB", "20 MB", "7 bytes"]
        );
    }
}
