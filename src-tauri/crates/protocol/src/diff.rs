//! What changed in one file, as stored in session diffs and turn summaries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::{Count, Extra};

/// Three shapes exist on disk: with `before` and `after`; the same with `status`; and with
/// `patch` instead of the two texts. All are read; a value is never turned into another shape.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct FileDiff {
    pub file: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub patch: Option<String>,
    pub additions: Count,
    pub deletions: Count,
    pub status: Option<FileStatus>,
    /// Where the file was before a rename.
    pub from: Option<String>,
    /// Not text: `before` and `after` are empty.
    pub binary: Option<bool>,
    /// Only the executable bit has changed.
    pub mode: Option<bool>,
    /// Too long to store: `before` and `after` are empty.
    pub folded: Option<bool>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    Added,
    Deleted,
    Modified,
    Renamed,
    #[serde(untagged)]
    #[ts(skip)]
    Other(String),
}
