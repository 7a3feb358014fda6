use std::path::PathBuf;

use rusqlite::ErrorCode;

pub type Result<T, E = SearchError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The index was damaged and has been replaced by an empty one: the caller must fill it.
    #[error("The search index was damaged and is empty now")]
    Emptied,
    #[error("The search index at {path} can’t be used: {reason}")]
    Unusable { path: PathBuf, reason: String },
    #[error("The search index failed: {0}")]
    Sqlite(rusqlite::Error),
}

/// Whether the error means that the file is not an intact index.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => true,
        // A missing table, or one with other columns than ours.
        Some(ErrorCode::Unknown) => matches!(
            error,
            rusqlite::Error::SqliteFailure(..) | rusqlite::Error::SqlInputError { .. }
        ),
        _ => matches!(
            error,
            rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
        ),
    }
}
