//! Finding: a full-text index over every session.
//!
//! Derived and disposable. It holds the words of parts and where they stand; a missing,
//! damaged or outdated index is made anew from the store by whoever owns both. This crate
//! knows the records of [`lathe_protocol`], SQLite, and nothing of where records come from.

mod error;
mod find;
mod index;
mod query;
mod snippet;
mod words;

pub use error::{Result, SearchError};
pub use index::{Index, Known, MessageWords, SessionMark};
pub use words::Words;
