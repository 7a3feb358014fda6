//! The session core through its public handle, as a specification of what it does.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod agent;
mod agents;
mod attachments;
mod checkouts;
mod clean_up;
mod commands;
mod compaction;
mod config;
mod failures;
mod faults;
mod first_turn;
mod fork;
mod instructions;
mod interleavings;
mod lifecycle;
mod media;
mod mentions;
#[cfg(unix)]
mod odd_trees;
mod permissions;
mod plan;
mod queue;
mod recovery;
mod revert;
mod search;
mod second_revert;
mod share;
mod subtasks;
mod summary;
mod time;
mod tools;
mod transfer;
mod trust;
mod two_programs;
mod wires;
