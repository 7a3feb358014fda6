//! `lathectl` as people and scripts call it: the built binary, real processes, a fake model.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

#[cfg(unix)]
mod asking;
mod commands;
mod config;
mod ending;
mod events;
mod faults;
mod going_on;
mod hostile;
mod import;
mod kill;
mod large;
mod lathectl;
mod real_model;
#[cfg(unix)]
mod terminal;
mod time;
mod together;
