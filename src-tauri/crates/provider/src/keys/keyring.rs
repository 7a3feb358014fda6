//! The system's keyring, behind a trait, so that tests need none.

use std::fmt::Display;

use keyring::{Entry, Error};

use crate::secret::ApiKey;

/// Calls block, possibly for long, because the system may ask the user to unlock the keyring.
pub trait Keyring: Send + Sync + 'static {
    fn read(&self, provider: &str) -> Result<Option<ApiKey>, KeyringError>;
    fn write(&self, provider: &str, key: &ApiKey) -> Result<(), KeyringError>;
    fn remove(&self, provider: &str) -> Result<(), KeyringError>;
}

/// Messages never contain a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    #[error("there is no usable keyring: {0}")]
    Absent(String),
    #[error("the keyring refused: {0}")]
    Refused(String),
    #[error("the keyring does not answer")]
    TimedOut,
}

impl KeyringError {
    pub(super) fn absent(reason: impl Display) -> Self {
        Self::Absent(reason.to_string())
    }
}

/// Keychain, Credential Manager or Secret Service.
pub struct OsKeyring;

const SERVICE: &str = "lathe";

impl Keyring for OsKeyring {
    fn read(&self, provider: &str) -> Result<Option<ApiKey>, KeyringError> {
        match entry(provider)?.get_password() {
            Ok(key) => Ok(ApiKey::new(key)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(keyring_error(&error)),
        }
    }

    fn write(&self, provider: &str, key: &ApiKey) -> Result<(), KeyringError> {
        let entry = entry(provider)?;
        entry
            .set_password(key.expose())
            .map_err(|error| keyring_error(&error))
    }

    fn remove(&self, provider: &str) -> Result<(), KeyringError> {
        match entry(provider)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(keyring_error(&error)),
        }
    }
}

fn entry(provider: &str) -> Result<Entry, KeyringError> {
    // The first call sets up the platform's store; without one every later call fails.
    if let Err(error) = Entry::store_status() {
        return Err(KeyringError::absent(error));
    }
    Entry::new(SERVICE, provider).map_err(|error| keyring_error(&error))
}

/// Some errors of the library contain the secret itself, so their messages are not used.
fn keyring_error(error: &Error) -> KeyringError {
    match error {
        Error::NoDefaultStore | Error::PlatformFailure(_) => KeyringError::absent(error),
        Error::NoStorageAccess(_) => KeyringError::Refused(error.to_string()),
        _ => KeyringError::Refused("the entry can’t be used".to_owned()),
    }
}
