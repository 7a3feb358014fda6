//! Bringing over what another program keeps.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Something on this machine that could be imported.
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
    /// Sessions that are new here.
    pub added: usize,
    /// Sessions that were here before and stay as they are.
    pub already: usize,
    pub unreadable: Vec<ImportUnreadable>,
}

/// Something that could not be brought over, for people to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportUnreadable {
    pub what: String,
    pub why: String,
}
