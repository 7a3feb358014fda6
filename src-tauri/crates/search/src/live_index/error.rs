//! Why the index could not be searched or updated.

use lathe_records::Failed;

use crate::SearchError;

pub type Result<T, E = IndexError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Failed(#[from] Failed),
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl From<lathe_store::StoreError> for IndexError {
    fn from(error: lathe_store::StoreError) -> Self {
        Failed::from(error).into()
    }
}

impl From<IndexError> for Failed {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Failed(failed) => failed,
            IndexError::Search(error) => Failed::refused(error.to_string()),
        }
    }
}
