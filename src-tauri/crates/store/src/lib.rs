//! Memory: what the program knows, as JSON files in a tree that people and other programs
//! can read.
//!
//! A file is replaced whole or not at all, a damaged one is shown as such and its bytes are
//! kept, and an id from outside cannot lead out of the tree. This crate knows the records of
//! [`lathe_protocol`] and nothing of models, tools or windows.
//!
//! ```text
//! {root}/storage/     the tree: project, session, message, part, …, and `migration`
//! {root}/locks/       one file per session that was ever written, one for the store
//! {root}/quarantine/  bytes that were no records
//! {root}/trash/       removed sessions
//! {root}/staging/    what an import has to change before it can read it
//! {root}/index/       derived; may be deleted at any time
//! {root}/migrated/    files as they were before a migration changed them
//! {root}/ids          the floor under new ids
//! ```

mod check;
mod damage;
mod error;
mod floor;
mod fs;
mod health;
mod import;
mod journal;
mod key;
mod listing;
mod locks;
mod messages;
mod migrate;
mod order;
mod parallel;
mod scratch;
mod sessions;
mod spelling;
mod storage;
mod store;
mod trash;

pub use check::Report;
pub use error::{Damaged, Result, StoreError};
pub use fs::{Disk, Entry, Fs, Stamp};
pub use health::Health;
pub use import::{Found, Imported, SourceKind, Unreadable, usual_places};
pub use key::{BadKey, Key, segment};
pub use listing::Listing;
pub use locks::SessionWriter;
pub use messages::{Page, Stretch, Window};
pub use store::{Options, Store};
pub use trash::Trashed;
