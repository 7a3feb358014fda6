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
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportReport {
    /// The number of sessions that were added.
    pub added: usize,
    /// The number of sessions that existed already and were left unchanged.
    pub already: usize,
    pub unreadable: Vec<ImportUnreadable>,
}

/// Something that could not be imported, described for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportUnreadable {
    pub what: String,
    pub why: String,
}
