//! The store as the rest of the program uses it.

// All of this is test code, also the functions that carry no `#[test]`.
#![allow(clippy::unwrap_used)]

mod damage;
mod disk_faults;
mod flush;
mod id_floor;
mod import;
mod import_again;
mod import_damaged;
mod import_database;
mod import_newer_database;
mod import_old_versions;
mod import_unreadable;
mod journal;
mod killed_process;
mod migrations;
mod opencode_trees;
mod paging;
mod power_cut;
mod records;
mod support;
mod trash;
mod two_processes;
