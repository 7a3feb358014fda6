//! Comments of a person on changed lines.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Millis;

/// A comment, with where its lines are now.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ReviewComment {
    pub id: String,
    pub path: String,
    pub side: DiffSide,
    /// The numbers of its lines, from 1; where they were last, if they are gone.
    pub from: usize,
    pub to: usize,
    /// The lines as they were when the comment was written.
    pub quote: String,
    pub text: String,
    pub time: Millis,
    pub state: CommentState,
    /// When it was sent to the agent.
    pub sent: Option<Millis>,
    /// The lines were changed since.
    pub changed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NewComment {
    pub path: String,
    pub version: String,
    pub side: DiffSide,
    pub from: usize,
    pub to: usize,
    pub text: String,
}

/// A comment on a diff that waits for a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffComment {
    pub path: String,
    pub from: usize,
    pub to: usize,
    pub quote: String,
    pub text: String,
    /// The lines are those of the file before: they are no longer in it.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub removed: bool,
}

/// The names are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum DiffSide {
    Old,
    New,
}

/// The names are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum CommentState {
    Open,
    Resolved,
}
