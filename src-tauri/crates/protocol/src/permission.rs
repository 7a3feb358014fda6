//! Permission rules, and requests for permission.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::{MessageId, PermissionId, SessionId};
use crate::json::{Extra, Map};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Allow,
    Ask,
    Deny,
}

/// Both `permission` and `pattern` are wildcards. The last matching rule wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Rule {
    pub permission: String,
    pub pattern: String,
    pub action: Action,
}

pub type Ruleset = Vec<Rule>;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct PermissionRequest {
    pub id: PermissionId,
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    pub permission: String,
    pub patterns: Vec<String>,
    #[ts(type = "Record<string, unknown>")]
    pub metadata: Map,
    /// The patterns that "always" would allow; empty where "always" is not offered.
    pub always: Vec<String>,
    pub tool: Option<ToolRef>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// The tool call that a permission or question belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolRef {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "callID")]
    pub call_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum PermissionReply {
    Once,
    Always,
    Reject,
}
