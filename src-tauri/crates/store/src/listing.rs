//! A list of records, some of which may be damaged.

use crate::error::{Damaged, Result, StoreError};
use crate::key::Key;

/// A damaged file is an entry in `damaged` and does not end the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing<T> {
    pub items: Vec<T>,
    pub damaged: Vec<Damaged>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Listing {
            items: Vec::new(),
            damaged: Vec::new(),
        }
    }
}

impl<T> Listing<T> {
    pub(crate) fn add(&mut self, key: &Key, read: Result<Option<T>>) -> Result<()> {
        match read {
            Ok(Some(item)) => self.items.push(item),
            Ok(None) => {}
            Err(error) => self.damaged.push(as_damage(key, error)?),
        }
        Ok(())
    }
}

/// A file that cannot be read (a bad block) counts as damaged, like one with bad bytes.
pub(crate) fn as_damage(key: &Key, error: StoreError) -> Result<Damaged> {
    match error {
        StoreError::Damaged(damaged) => Ok(damaged),
        StoreError::Io { source, .. } => Ok(Damaged {
            key: key.clone(),
            reason: format!("it can’t be read: {source}"),
        }),
        other => Err(other),
    }
}
