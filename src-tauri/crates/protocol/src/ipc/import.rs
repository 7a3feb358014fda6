//! Import of another program's sessions.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Data on this machine that can be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportSource {
    pub path: String,
    pub kind: ImportKind,
    pub sessions: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ImportKind {
    Json,
    Sqlite,
    Codex,
    Claude,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportReport {
    /// The number of sessions that were added.
    pub added: usize,
    /// The number of sessions that existed already and were left unchanged.
    pub already: usize,
    /// The number of sessions that were imported before and got what was added since.
    #[serde(default)]
    pub grown: usize,
    pub unreadable: Vec<ImportUnreadable>,
    /// Records that are not part of a session here.
    #[serde(default)]
    pub left_out: Vec<ImportLeftOut>,
    /// The person stopped it. What was imported by then stays.
    #[serde(default)]
    pub stopped: bool,
}

/// Records of one type that were not imported for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportLeftOut {
    pub what: String,
    pub why: String,
    pub count: usize,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportProgress {
    /// Files or, of a database, sessions; and how many of them are done.
    pub files: usize,
    pub done: usize,
    pub sessions: usize,
    pub messages: usize,
}

/// Something that could not be imported, described for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportUnreadable {
    pub what: String,
    pub why: String,
}
