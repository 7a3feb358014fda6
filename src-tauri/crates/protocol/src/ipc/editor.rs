//! The program that opens a file when the user clicks on it.

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
    /// For a custom editor: a program and its arguments, with `{path}` and `{line}` in them.
    pub command: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum EditorKind {
    /// The system's default program for the file.
    #[default]
    System,
    VsCode,
    Zed,
    Neovim,
    Custom,
}
