//! The agent's task list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Extra;

/// `status` and `priority` are plain text because models invent values, and a list with one
/// unknown value is still worth showing.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct Todo {
    pub content: String,
    pub status: String,
    pub priority: Option<String>,
    pub id: Option<String>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}
