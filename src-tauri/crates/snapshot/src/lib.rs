//! Time: the side repository, diffs between trees, safe restore.

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

pub use diff::{Change, ChangeKind};
pub use error::{Refused, Result, SnapshotError};
pub use path::{BadPath, RelPath};
pub use refs::SnapshotRef;
pub use repo::{Options, SideRepo, Skipped, Snapshot};
pub use restore::{Conflict, Hunk, HunkConflict, Outcome, Plan, Step, hunks, take_back};
pub use scan::Reason;
pub use tree::{Mode, TreeId};
