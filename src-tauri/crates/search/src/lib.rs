//! Full-text index over all sessions.
//!
//! The index holds the searchable text of every part and is derived data: when it is missing,
//! damaged or outdated, its owner rebuilds it from the store. This crate knows the records of
//! [`lathe_protocol`] and SQLite; it must not know where the records are stored.

mod error;
mod index;
mod part_text;
mod query;
mod snippet;
mod text_match;

pub use error::{Result, SearchError};
pub use index::{Index, IndexState, IndexedMessage, MessageText};
pub use part_text::PartText;
