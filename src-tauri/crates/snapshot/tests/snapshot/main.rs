//! Tests of the side repository through its public handle.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod diffs;
mod garbage_collection;
#[cfg(unix)]
mod hostile_repository;
#[cfg(unix)]
mod no_data_loss;
mod repository;
mod restore;
mod round_trip;
mod support;
#[cfg(unix)]
mod unusual_trees;
