//! The errors of the store.
//!
//! They are cheap to clone: the error of a background write goes to the health state and to every
//! later caller that it concerns.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::key::{BadKey, Key};

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    BadKey(#[from] BadKey),
    #[error("there is no {0}")]
    Missing(Key),
    #[error("there is a {0} already")]
    Exists(Key),
    #[error("{0}")]
    Damaged(#[from] Damaged),
    #[error("{what} is in use by {}", holder(*.pid))]
    Busy { what: String, pid: Option<u32> },
    #[error("this store was opened for reading only")]
    ReadOnly,
    #[error("{doing} {} failed: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: Arc<io::Error>,
    },
    #[error("a value can’t be written as JSON: {0}")]
    Encode(Arc<serde_json::Error>),
    #[error("moving the data from version {from} to {to} failed, the old data is as it was: {why}")]
    Migration { from: u32, to: u32, why: String },
    #[error("there is nothing to import at {}", .0.display())]
    NoSource(PathBuf),
    #[error("this is not an exported session: {0}")]
    NotExported(String),
    #[error("{what} belongs to another session here")]
    Foreign { what: String },
    #[error("the database can’t be read: {0}")]
    Database(String),
    #[error("the data is of version {found}, this program knows only up to {known}")]
    Newer { found: u32, known: u32 },
}

impl StoreError {
    /// An error of the file system, which may last until its cause is removed.
    pub fn is_io(&self) -> bool {
        matches!(self, StoreError::Io { .. })
    }

    pub fn is_disk_full(&self) -> bool {
        let StoreError::Io { source, .. } = self else {
            return false;
        };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}

/// A file whose bytes are not a valid record for its key.
///
/// It takes the record's place in lists; the bytes are copied to `quarantine/`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is damaged: {reason}")]
pub struct Damaged {
    pub key: Key,
    pub reason: String,
}

fn holder(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}

/// Adds the operation and the path to an error, so that a person can act on the message.
pub(crate) trait IoContext<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| StoreError::Io {
            doing,
            path: path.to_owned(),
            source: Arc::new(source),
        })
    }
}

/// Turns the error for a missing file into `None`.
pub(crate) fn optional<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A path below a file is missing, too.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
