//! Stores projects, sessions, messages and parts as JSON files that people and other programs can
//! read.
//!
//! A file is replaced as a whole or not at all. A damaged file is reported and its bytes are
//! copied to quarantine before anything replaces them. An id from outside cannot name a path
//! outside of the store. What a caller made durable survives a power cut.
//!
//! This crate knows the record types of [`lathe_protocol`] and the file system. It must not know
//! models, tools, permissions or windows, or what a session does with its records.
//!
//! ```text
//! {root}/storage/     the records: project, session, message, part, …, and `migration`
//! {root}/locks/       locks of the store and of sessions; each process's journal and temp file log
//! {root}/quarantine/  bytes of damaged records
//! {root}/trash/       removed sessions
//! {root}/staging/     copies that an import has to convert before it can read them
//! {root}/index/       derived data; may be deleted at any time
//! {root}/migrated/    files as they were before a migration changed them
//! {root}/ids          lower bound of new ids
//! ```
//!
//! [`Store`] is the asynchronous handle. Behind it, `storage` does the blocking work: `pending`
//! holds records that are in the journal and not in their files yet, `sync` makes files durable,
//! `replay` recovers the journals of killed processes.

mod atomic_file;
mod check;
mod error;
mod fs;
mod health;
mod id_floor;
mod import;
mod journal;
mod json_format;
mod key;
mod listing;
mod locks;
mod message_order;
mod messages;
mod migrate;
mod parallel;
mod sessions;
mod storage;
mod store;
mod temp_files;
mod trash;
mod validate;

pub use check::CheckReport;
pub use error::{Damaged, Result, StoreError};
pub use fs::{DirEntry, Disk, Fs, Metadata};
pub use health::Health;
pub use import::{FoundSource, ImportFrom, Imported, SourceKind, Unreadable, default_import_paths};
pub use key::{BadKey, Key, segment};
pub use lathe_import::{Control as ImportControl, Progress as ImportProgress};
pub use listing::Listing;
pub use locks::SessionWriter;
pub use messages::{Page, Window, WindowAnchor};
pub use store::{Options, Store, Trace};
pub use trash::Trashed;
