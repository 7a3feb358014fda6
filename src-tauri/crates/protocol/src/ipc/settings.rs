//! What the settings pages and the menu bar exchange with the shell.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Damaged;
use crate::{Millis, SessionId};

/// One menu of the menu bar. The window defines the menus, because all actions are its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MenuView {
    pub label: String,
    pub items: Vec<MenuItemView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MenuItemView {
    Action {
        /// Sent back to the window when the item is chosen.
        id: String,
        label: String,
        /// A shortcut in tauri's form, such as `CmdOrCtrl+Shift+N`.
        keys: Option<String>,
        enabled: bool,
        /// Whether it has a check mark; none for an item that never has one.
        checked: Option<bool>,
        /// What the system does for it, if it is not the window's own.
        role: Option<MenuRole>,
    },
    Separator,
}

/// What an item of the menu bar does where the system has an item of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum MenuRole {
    About,
    Quit,
    CloseWindow,
    Minimize,
    Maximize,
    FullScreen,
    Hide,
    HideOthers,
    Undo,
    Redo,
    Cut,
    Copy,
    Paste,
    SelectAll,
}

/// Where our data is stored and how much space it takes.
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
    /// Full tool output that was truncated for the model, stored for a while.
    Output,
    /// The search index; it is rebuilt when it is missing.
    Index,
    /// Removed sessions.
    Trash,
    /// Damaged files.
    Quarantine,
    Other,
}

/// A removed session that can be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrashedSession {
    pub id: SessionId,
    pub title: String,
    /// The session's working directory.
    pub directory: String,
    pub removed: Millis,
}

/// The result of checking every stored file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DataReport {
    pub records: u64,
    pub damaged: Vec<Damaged>,
    /// Records without their session or message. They are harmless and left alone.
    pub orphans: u64,
    /// Files that are not records.
    pub strays: Vec<String>,
}
