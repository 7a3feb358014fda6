//! The side repository as its callers see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod diffs;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod no_loss;
#[cfg(unix)]
mod odd_trees;
mod properties;
mod restore;
mod storage;
mod support;
