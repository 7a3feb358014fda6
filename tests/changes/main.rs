//! What a person does with the changes of a session, through its handle.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod by_hand;
mod by_hand_scopes;
mod comments;
mod doubts;
mod git;
mod git_trust;
mod lines;
mod renames;
mod reviewing;
mod scopes;
mod staging;
mod stories;
mod worktrees;
