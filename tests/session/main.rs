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
mod compaction;
mod config;
mod failures;
mod faults;
mod first_turn;
mod instructions;
mod lifecycle;
mod media;
mod mentions;
mod plan;
mod queue;
mod recovery;
mod revert;
mod subtasks;
mod time;
mod tools;
mod trust;
mod wires;
