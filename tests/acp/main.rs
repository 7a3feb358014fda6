//! The agent for editors, driven by the client side of the same crate.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod editor;
mod sessions;
mod turns;
