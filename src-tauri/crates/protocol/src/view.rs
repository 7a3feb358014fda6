//! What the `render` crate produces for the UI: HTML blocks, diffs and coloured lines.
//!
//! None of this is stored: storage holds source, and rendering can be redone.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A change to a list of HTML blocks: keep the first `keep`, replace the rest with `blocks`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BlockUpdate {
    pub keep: usize,
    pub blocks: Vec<String>,
}

/// A run of characters in one style. `text` is the exact source text; the browser puts it into
/// a text node, never into HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    pub text: String,
    /// One of the syntax classes of the `render` crate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub class: Option<String>,
    /// Set on the words that differ inside a changed line.
    #[serde(default, skip_serializing_if = "is_false")]
    #[ts(as = "Option<bool>", optional)]
    pub mark: bool,
    /// What to draw instead of `text` where that would be invisible or misleading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub shown: Option<String>,
}

/// The diff of one file, ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileDiffView {
    pub path: String,
    /// The path before a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub old_path: Option<String>,
    pub status: DiffStatus,
    pub additions: usize,
    pub deletions: usize,
    /// Empty while the diff is folded.
    pub hunks: Vec<DiffHunk>,
    /// Why the hunks are sent only on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub folded: Option<FoldReason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DiffStatus {
    Added,
    Deleted,
    Modified,
    Renamed,
    Binary,
    Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FoldReason {
    LockFile,
    Generated,
    Minified,
    TooLong,
}

/// Changed lines with the context around them. Line numbers start at 1; a side without lines
/// starts at the line before it, as in a unified diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
    /// The function or section that contains the hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub heading: Option<String>,
    pub lines: Vec<DiffLine>,
}

/// A line of a diff by its numbers, from 1, without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffRow {
    pub kind: DiffLineKind,
    pub old: Option<usize>,
    pub new: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    pub kind: DiffLineKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub old: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub new: Option<usize>,
    pub spans: Vec<Span>,
    /// Set on the last line of a file that does not end with a line break.
    #[serde(default, skip_serializing_if = "is_false")]
    #[ts(as = "Option<bool>", optional)]
    pub no_newline: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DiffLineKind {
    Context,
    Add,
    Del,
}

fn is_false(value: &bool) -> bool {
    !*value
}
