//! Writes a file so that a crash leaves the old or the new one, and reads files that something
//! outside names without blocking or filling the memory.
//!
//! Knows nothing of sessions, projects or what the files mean.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod personal;
mod read;
mod write;

pub use personal::is_personal;
pub use read::{ReadError, open, open_real, read, read_real, read_text};
pub use write::{
    TEMPORARY_PREFIX, create_private_folder, temporary_file, write_private_file, write_unsynced,
    write_unsynced_via,
};
