//! Who can answer and what `/` offers, as the composer shows them.

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
    /// As `#rrggbb`.
    pub color: Option<String>,
    pub model: Option<ModelRef>,
    pub steps: Option<Count>,
    pub built_in: bool,
    /// Who answers where nobody is named.
    pub default: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// A person talks to it.
    Primary,
    /// Another agent hands it work.
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
    /// What it takes after its name, such as `[file] [what]`.
    pub hint: Option<String>,
    pub built_in: bool,
}
