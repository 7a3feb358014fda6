//! Whether the store can write.
//!
//! Tools must not change files while the store cannot record what they do. The last write
//! decides: a failed one makes the store failing, the next that succeeds makes it good.

use tokio::sync::watch;

use crate::error::{Result, StoreError};

#[derive(Debug, Clone, Default)]
pub enum Health {
    #[default]
    Good,
    Failing(StoreError),
}

impl Health {
    pub fn is_good(&self) -> bool {
        matches!(self, Health::Good)
    }
}

#[derive(Debug)]
pub(crate) struct HealthTracker(watch::Sender<Health>);

impl HealthTracker {
    pub(crate) fn new() -> Self {
        HealthTracker(watch::Sender::new(Health::Good))
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Health> {
        self.0.subscribe()
    }

    pub(crate) fn is_good(&self) -> bool {
        self.0.borrow().is_good()
    }

    /// For work that may have written nothing, so that its success proves nothing.
    pub(crate) fn record_failure<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => self.record(Err(error)),
        }
    }

    /// Only errors of the file system count: a damaged record does not stop the store.
    pub(crate) fn record<T>(&self, result: Result<T>) -> Result<T> {
        match &result {
            Ok(_) if !self.is_good() => {
                self.0.send_replace(Health::Good);
            }
            Err(error) if error.is_io() => {
                tracing::warn!(%error, "the store cannot write");
                self.0.send_replace(Health::Failing(error.clone()));
            }
            _ => {}
        }
        result
    }
}
