//! The session core through its public handle, as a specification of what it does.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod agent;
mod agents;
mod attachments;
mod commands;
mod config;
mod failures;
mod faults;
mod first_turn;
mod instructions;
mod lifecycle;
mod media;
mod mentions;
mod recovery;
mod revert;
mod search;
mod time;
mod tools;
mod trust;
mod wires;
