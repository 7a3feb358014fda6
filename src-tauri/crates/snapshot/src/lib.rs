//! Snapshots of a work tree: taking them, comparing them and restoring files from them.
//!
//! A snapshot is a git tree in a repository of our own (the side repository) below our data
//! directory. The user's `.git` is never written, and only the names in its index and
//! `info/exclude` are read from it. No git program is started, so no hook, filter, fsmonitor or
//! textconv of a hostile repository can run.
//!
//! This crate must not know sessions, messages or tools: the owner of a snapshot is a label.
//!
//! # Decisions
//!
//! - **Tracked files override ignore rules**: a path that `.gitignore` files, `info/exclude` or
//!   the user's excludes file match is left out, unless the user's index tracks it. The same
//!   holds for files over 2 MiB.
//! - **Nested repositories are folders**: their files are taken by their own rules and their own
//!   index, with or without commits; their `.git` is not. So an agent's edit in a submodule can
//!   be reverted too.
//! - **A snapshot lists what it leaves out**, ignored paths included, because a rule can change
//!   between two snapshots. Only a snapshot that covered a path can justify deleting it.
//! - **Bytes are stored unchanged**: no line-ending conversion, no attributes. Permissions and
//!   empty folders are part of a tree. Hard links and extended attributes are kept beside it: they
//!   are no change by themselves, and a restore of the file brings them back.
//! - **A restore is final when its owner says so**: until then a record of it is kept, and
//!   [`SideRepo::recover`] rolls it back after a kill.
//! - **Single paths anywhere** are kept as images: trees with these paths only, in the repository of
//!   the project or in one for everything else ([`SideRepo::open_for_images`]).
//!
//! # Why our own directory walk on top of gix's object crates
//!
//! Measured once on 50,000 files (200 MB) on a busy two-core machine, so the numbers are rough.
//! They are multiples of the time that git takes for the same:
//!
//! | | git2 0.21 | gix 0.90 | own |
//! | --- | --- | --- | --- |
//! | first snapshot, loose objects (git: loose too) | 1.3 | 0.7 | – |
//! | hashing alone, against git2 | 1 | 0.25 | gix |
//! | nothing changed: index, `add_all`, `write_tree` | 1.3 | has no such call | see below |
//! | join 50,000 objects into a pack, against git's first add | 2.4 | writes no deltas | copies |
//!
//! Most of the time is spent on examining every file, with any implementation: the system calls
//! alone take 0.5 to 0.7 of git's processor time. Less than half of git's time is possible only
//! without examining every file. So on Linux the tree is watched (`scan/watch.rs`), and scanned
//! in full when the watch cannot be trusted. Neither library helps with that, and both bring far
//! more than trees and packs. We use gix for hashes (with collision detection), trees, pack
//! reading and zlib; the walk, the stat cache, the pack writer and the deltas between versions
//! of a path are our own.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod abandoned;
mod blob;
mod coverage;
mod diff;
mod error;
mod extras;
mod fields;
mod images;
mod moved;
mod objects;
mod os;
mod path;
mod refs;
mod repo;
mod restore;
mod room;
mod roots;
mod scan;
mod temporary_files;
mod tree;

pub use abandoned::AbandonedRepo;
pub use blob::{blob_id, deflate};
pub use coverage::{Coverage, TreeCoverage};
pub use diff::{Change, ChangeKind};
pub use error::{Refused, Result, SnapshotError, in_units};
pub use images::{FileContent, FileImage};
pub use path::{BadPath, RelPath};
pub use refs::SnapshotRef;
pub use repo::{Options, SideRepo, Skipped, Snapshot};
pub use restore::{
    Conflict, OpenRound, Outcome, PathRestore, Plan, Recovered, RestoreAction, Round,
};
pub use scan::Reason;
pub use tree::{Mode, TreeId};
