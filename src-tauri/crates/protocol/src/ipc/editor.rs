//! Which program opens a file that somebody clicks on.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields)]
pub struct EditorChoice {
    #[ts(as = "EditorKind")]
    pub kind: EditorKind,
    /// For a custom one: a program and its arguments, with `{path}` and `{line}` in them.
    pub command: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum EditorKind {
    /// Whatever the system opens such a file with.
    #[default]
    System,
    VsCode,
    Zed,
    Neovim,
    Custom,
}
