//! The store as the rest of the program sees it.

// All of this is test code, also the functions that carry no `#[test]`.
#![allow(clippy::unwrap_used)]

mod basics;
mod damage;
mod faults;
mod fixtures;
mod floor;
mod flush;
mod import;
mod import_database;
mod import_older;
mod import_unreadable;
mod kept;
mod kill;
mod migrations;
mod paging;
mod power;
mod processes;
mod support;
mod trash;
