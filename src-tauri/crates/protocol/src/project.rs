//! A project: the codebase that a session works on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::ProjectId;
use crate::json::{Extra, Millis};

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct Project {
    pub id: ProjectId,
    pub worktree: String,
    pub vcs: Option<String>,
    pub name: Option<String>,
    pub time: ProjectTime,
    pub sandboxes: Option<Vec<String>>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct ProjectTime {
    pub created: Millis,
    pub updated: Option<Millis>,
    pub initialized: Option<Millis>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}
