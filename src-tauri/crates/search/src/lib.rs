//! Full-text index over all sessions.
//!
//! The index holds the searchable text of every part and is derived data: when it is missing,
//! damaged or outdated, it is rebuilt from the store. [`Index`] is the SQLite file; [`LiveIndex`]
//! keeps it up to date with the records. This crate must not know turns, models or tools.

mod error;
mod index;
mod live_index;
mod part_text;
mod query;
mod snippet;
mod text_match;

pub use error::{Result, SearchError};
pub use index::{Index, IndexState, IndexedMessage, MessageText};
pub use live_index::{IndexError, LiveIndex};
pub use part_text::PartText;
