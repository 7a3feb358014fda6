//! Errors of the core, as the UI receives them.

use lathe_protocol::ipc::{UiError, UiErrorCode};
use lathe_session::{Failed, StoreError};

pub type Answer<T> = Result<T, UiError>;

/// Converts the error of a command, so that `?` can be used. The code keeps what the UI acts on.
pub trait OrUi<T> {
    fn or_ui(self) -> Answer<T>;
}

impl<T> OrUi<T> for Result<T, Failed> {
    fn or_ui(self) -> Answer<T> {
        self.map_err(|error| UiError {
            code: code(&error),
            message: error.to_string(),
        })
    }
}

fn code(error: &Failed) -> UiErrorCode {
    match error {
        Failed::Missing { .. } => UiErrorCode::NotFound,
        Failed::Store(StoreError::Missing(_)) => UiErrorCode::NotFound,
        Failed::Busy | Failed::Store(StoreError::Busy { .. }) => UiErrorCode::Busy,
        Failed::NeedsConsent(_) => UiErrorCode::Confirm,
        Failed::Store(error) if error.is_io() => UiErrorCode::Storage,
        _ => UiErrorCode::Failed,
    }
}

pub fn failed(message: impl ToString) -> UiError {
    UiError {
        code: UiErrorCode::Failed,
        message: message.to_string(),
    }
}
