//! Remembers the line counts of differences. They follow from the two contents alone, and the same
//! ones are asked for again and again: by the summary of a turn, by the review, after every event.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::{error::Result, tree::Oid};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub binary: bool,
    pub additions: usize,
    pub deletions: usize,
}

/// The contents before and after; `None` where there is none.
pub(super) type Contents = (Option<Oid>, Option<Oid>);

/// With more than this, all are forgotten: a few megabytes at most.
const MOST: usize = 20_000;

static KNOWN: LazyLock<Mutex<HashMap<Contents, Counted>>> = LazyLock::new(Mutex::default);

/// The counts of two contents, computed if they are not known.
pub(super) fn of(contents: Contents, compute: impl FnOnce() -> Result<Counted>) -> Result<Counted> {
    if let Some(counted) = known().get(&contents) {
        return Ok(*counted);
    }
    let counted = compute()?;
    let mut known = known();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(contents, counted);
    Ok(counted)
}

fn known() -> MutexGuard<'static, HashMap<Contents, Counted>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
