//! Writes a session's records and then publishes the change.
//!
//! [`Records`] is the only way to change a session's stored data: it writes through
//! `lathe-store` and then publishes on the [`bus`]. Time is injected through [`clock`]. This
//! crate must not know models, tools, turns or how anything is shown.

pub mod bus;
pub mod clock;
mod error;
pub mod other_processes;
mod records;

pub use error::{Failed, Result};
pub use records::{FollowedMessage, Records};
