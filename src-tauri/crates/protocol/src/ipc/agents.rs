//! Agents and `/` commands, as the composer shows them.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Count;
use crate::message::ModelRef;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct AgentView {
    pub name: String,
    pub description: String,
    pub mode: AgentMode,
    /// In the form `#rrggbb`.
    pub color: Option<String>,
    pub model: Option<ModelRef>,
    pub steps: Option<Count>,
    pub built_in: bool,
    /// The agent that answers a prompt that names none.
    pub default: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// The user can choose it for a prompt.
    Primary,
    /// Only other agents use it, for subtasks.
    Subagent,
    All,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct CommandView {
    pub name: String,
    pub description: String,
    /// The arguments it takes, such as `[file] [what]`.
    pub hint: Option<String>,
    pub built_in: bool,
}
