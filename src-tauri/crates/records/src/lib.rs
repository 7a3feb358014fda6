//! Stored first, then published.
//!
//! [`Records`] is the only way to change a session's stored data: it writes through
//! `lathe-store` and then publishes the change on the [`bus`]. Time is injected through
//! [`clock`]. This crate knows neither models, tools nor turns.

pub mod bus;
pub mod clock;
mod error;
mod records;

pub use error::{Failed, Result};
pub use records::{FollowedMessage, Records};
