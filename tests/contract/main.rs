//! The protobuf files against the JSON schemas, and every fixture there and back.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod fields;
mod round_trips;
