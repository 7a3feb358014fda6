//! The server over real HTTP, with a fake model behind it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod attacks;
mod commands_of_clients;
mod door;
mod events;
mod fuzzed_requests;
mod grpc;
mod main_flow;
mod project_files;
mod prompts;
mod recorded_clients;
mod requests;
mod route_table;
mod streaming;
mod too_much;
