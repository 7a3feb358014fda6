//! Whether the store can write.
//!
//! Work that changes files must stop while its record cannot be kept. The state follows what
//! happened last: a failed write makes it failing, the next good one makes it good.

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
pub(crate) struct Pulse(watch::Sender<Health>);

impl Pulse {
    pub(crate) fn new() -> Self {
        Pulse(watch::Sender::new(Health::Good))
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Health> {
        self.0.subscribe()
    }

    pub(crate) fn is_good(&self) -> bool {
        self.0.borrow().is_good()
    }

    /// For what may have written nothing: success says nothing of the disk then.
    pub(crate) fn note_failure<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => self.note(Err(error)),
        }
    }

    /// Only the file system's own errors count: a damaged record is no reason to stop.
    pub(crate) fn note<T>(&self, result: Result<T>) -> Result<T> {
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
