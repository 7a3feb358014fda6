//! Reads the sessions of other agents: bytes of their files in, our sessions, messages and parts
//! out, through a [`Writer`].
//!
//! A file is read twice. The first pass finds out which records belong together (an answer and its
//! lines, a call and its result, a turn that was taken back) and holds only where they are; the
//! second converts one message at a time. So the memory that is used depends on the number of
//! records of one session and on its largest message, not on the size of the files.
//!
//! Ids are derived from theirs, so that a second import writes the same records again. A record
//! that is not imported is counted with its type and the reason. Nothing in a file is executed, a
//! path in it is not opened, and permissions are not imported.
//!
//! Must not know where sessions are stored, turns, models or windows.

pub mod claude;
pub mod codex;
mod ids;
mod lines;
pub mod opencode;
mod report;
mod source;
mod tools;
mod transcript;
mod value;
mod writer;

pub use ids::is_imported;
pub use report::{Control, LeftOut, Problem, Progress, Report};
pub use source::{Program, find_at, import};
pub use writer::{IMPORTED, Known, Writer};
