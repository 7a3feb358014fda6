//! Time: the side repository, diffs between trees, safe restore.
//!
//! A snapshot is a git tree in a repository of our own, under our data directory; the user's
//! `.git` is never written, and nothing of it is read but the names in its index and
//! `info/exclude`. No git is started or asked, so no hook, filter, fsmonitor or textconv of a
//! hostile repository can run. This crate knows nothing of sessions, messages or tools: who
//! takes a snapshot is a label to it.
//!
//! # Decisions
//!
//! - **Ignore rules decide, tracking overrules them**: what `.gitignore` files, `info/exclude`
//!   and the user's excludes file match is left out, unless the user's index tracks it. The
//!   same goes for files over 2 MiB.
//! - **Nested repositories are folders**: their files are taken by their own rules and their own
//!   index, with or without commits; their `.git` is not. So an agent's edit in a submodule can
//!   be taken back too.
//! - **What is left out is part of the snapshot**: also what is ignored, since a rule can
//!   change between two snapshots. Only a snapshot that covered a path can justify deleting it.
//! - **Bytes are kept as they are**: no line-ending conversion, no attributes. Of permissions
//!   only the executable bit is kept; a file that is written over keeps its others.
//!
//! # Why an own walk over gix's object crates
//!
//! Measured once on 50,000 files (200 MB) and a busy two-core machine, so rough; as multiples of
//! what git takes for the same:
//!
//! | | git2 0.21 | gix 0.90 | own |
//! | --- | --- | --- | --- |
//! | first snapshot, loose objects (git: loose too) | 1.3 | 0.7 | – |
//! | hashing alone, against git2 | 1 | 0.25 | gix |
//! | nothing changed: index, `add_all`, `write_tree` | 1.3 | has no such call | see below |
//! | join 50,000 objects into a pack, against git's first add | 2.4 | writes no deltas | copies |
//!
//! Looking at every file costs most of what git takes, whoever does it: the system calls alone
//! are 0.5 to 0.7 of git's processor time. Half of git's time is reached only by not looking,
//! so on Linux the tree is watched (`scan/watch.rs`), and looked at in full when that
//! cannot be trusted. Neither library helps with that, and both bring far more than trees and
//! packs. From gix come the hash (with collision detection), trees, pack reading and zlib; the
//! walk, the stat cache, the pack writer and the deltas along a path's versions are here.

mod abandoned;
mod diff;
mod error;
mod objects;
mod os;
mod path;
mod refs;
mod repo;
mod restore;
mod scan;
mod tree;
mod whole;

pub use abandoned::Abandoned;
pub use diff::{Change, ChangeKind};
pub use error::{Refused, Result, SnapshotError};
pub use path::{BadPath, RelPath};
pub use refs::SnapshotRef;
pub use repo::{Options, SideRepo, Skipped, Snapshot};
pub use restore::{
    Conflict, Hunk, HunkConflict, Move, Outcome, Plan, Step, hunks, shown_hunks, take_back,
};
pub use scan::Reason;
pub use tree::{Mode, TreeId};
