//! What the settings pages and the menu bar say to the shell.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Damaged;
use crate::{Millis, SessionId};

/// One menu of the menu bar. The window says what is in it; it owns every action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MenuView {
    pub label: String,
    pub items: Vec<MenuItemView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MenuItemView {
    Action {
        /// Told back when it is chosen.
        id: String,
        label: String,
        /// As the platform spells shortcuts, such as `CmdOrCtrl+Shift+N`.
        keys: Option<String>,
    },
    Separator,
}

/// Where data lies and how much there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DataView {
    pub path: String,
    pub uses: Vec<DataUse>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DataUse {
    pub kind: DataKind,
    pub bytes: u64,
    pub files: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    Sessions,
    Snapshots,
    /// Tool output that was too long for the model, kept for a while.
    Output,
    /// Derived: made anew when it is missing.
    Index,
    /// Removed sessions.
    Trash,
    /// Damaged files, put aside.
    Quarantine,
    Other,
}

/// A removed session that can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrashedSession {
    pub id: SessionId,
    pub title: String,
    /// Where it worked.
    pub directory: String,
    pub removed: Millis,
}

/// What a look over every stored file found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DataReport {
    pub records: u64,
    pub damaged: Vec<Damaged>,
    /// Records whose session or message does not exist; normal, and left alone.
    pub orphans: u64,
    /// Files that are no records.
    pub strays: Vec<String>,
}
