//! The session core through its public handle, as a specification of what it does.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod attachments;
mod failures;
mod faults;
mod first_turn;
mod lifecycle;
mod media;
mod mentions;
mod recovery;
mod time;
mod tools;
mod wires;
