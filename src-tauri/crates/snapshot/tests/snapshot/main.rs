//! Tests of the side repository through its public handle.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod diffs;
#[cfg(unix)]
mod extras;
mod garbage_collection;
#[cfg(unix)]
mod hostile_repository;
mod linear;
#[cfg(unix)]
mod no_data_loss;
#[cfg(unix)]
mod permissions;
mod repository;
mod restore;
mod room;
mod round_trip;
mod support;
mod trash;
#[cfg(unix)]
mod unusual_trees;
