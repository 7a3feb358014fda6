//! Why an operation on a session could not be done.

use lathe_store::StoreError;

pub type Result<T, E = Failed> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error("there is no {kind} {id}")]
    Missing { kind: &'static str, id: String },
    #[error("this session is running; wait until it finishes or stop it")]
    Busy,
    /// Done only if the person agrees to what the text says.
    #[error("{0}")]
    NeedsConsent(String),
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    BadId(#[from] lathe_protocol::BadId),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Failed {
    pub fn missing(kind: &'static str, id: impl Into<String>) -> Self {
        Failed::Missing {
            kind,
            id: id.into(),
        }
    }

    pub fn refused(why: impl Into<String>) -> Self {
        Failed::Refused(why.into())
    }
}

impl From<lathe_store::BadKey> for Failed {
    fn from(bad: lathe_store::BadKey) -> Self {
        Failed::Store(bad.into())
    }
}
