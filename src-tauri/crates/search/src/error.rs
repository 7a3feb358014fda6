use std::path::PathBuf;

use rusqlite::ErrorCode;

pub type Result<T, E = SearchError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// What was there could not be read and has been thrown away: it must be filled again.
    #[error("The search index was damaged and is empty now")]
    Emptied,
    #[error("The search index at {path} cannot be used: {reason}")]
    Unusable { path: PathBuf, reason: String },
    #[error("The search index failed: {0}")]
    Sqlite(rusqlite::Error),
}

/// The file is no index, or no longer a whole one.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => true,
        // A table that is missing, or has other columns than ours.
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
