//! Errors of window tests.

use std::path::PathBuf;

/// Why a step of a window test could not be done.
#[derive(thiserror::Error)]
pub enum WindowError {
    #[error("there is no app at {0:?}: `cargo xtask test e2e` builds it")]
    NoApp(PathBuf),
    #[error("{program} could not start: {why}")]
    Start { program: String, why: String },
    #[error("the driver refused: {what}")]
    Driver { what: String },
    #[error("{what} never came. {page}")]
    TimedOut { what: String, page: String },
    #[error("the window system: {0}")]
    Native(String),
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A failed test prints the sentence, not the structure of the type.
impl std::fmt::Debug for WindowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
