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
    /// Everything that the call needs and that is not allowed yet. The fields above repeat the
    /// most important one, for clients that know only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PermissionNeed>>", optional)]
    pub needs: Vec<PermissionNeed>,
    /// Parts of a command that deserve a second look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<CommandDanger>>", optional)]
    pub dangers: Vec<CommandDanger>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// One thing that a call needs and that a person is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PermissionNeed {
    pub permission: String,
    pub patterns: Vec<String>,
    /// Why it is asked, as sentences.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// The patterns that "always" would allow; empty where it is asked every time.
    #[serde(default)]
    pub always: Vec<String>,
}

/// A part of a command that can do lasting harm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CommandDanger {
    /// As it stands in the command.
    pub text: String,
    pub why: String,
}

/// How much happens without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// Rules decide, and what they do not allow is asked.
    #[default]
    Ask,
    /// Commands run in a sandbox and files of the project are edited without a question.
    Auto,
    /// Everything that no rule denies, without a sandbox.
    Full,
}

/// Why a tool call ended without a result although nothing in it failed. Stored under
/// [`CallOutcome::KEY`] in the metadata of the error state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// A rule or a person refused it.
    Denied,
    /// It was never started, because the step ended before its turn came.
    NotRun,
    /// It was running when the person stopped the turn.
    Stopped,
}

impl CallOutcome {
    pub const KEY: &'static str = "outcome";

    pub fn as_str(self) -> &'static str {
        match self {
            CallOutcome::Denied => "denied",
            CallOutcome::NotRun => "not_run",
            CallOutcome::Stopped => "stopped",
        }
    }
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
    /// Until the program ends, in this session and the tasks it starts.
    Session,
    Always,
    Reject,
}
