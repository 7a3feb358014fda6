//! What a person does with the changes of a session, through its handle.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod by_hand;
mod comments;
mod git;
mod git_trust;
mod lines;
mod reviewing;
mod staging;
mod stories;
mod worktrees;
