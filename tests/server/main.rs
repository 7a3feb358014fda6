//! The server over real HTTP, with a fake model behind it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod attacks;
mod door;
mod events;
mod fuzzed_requests;
mod grpc;
mod main_flow;
mod prompts;
mod requests;
mod streaming;
