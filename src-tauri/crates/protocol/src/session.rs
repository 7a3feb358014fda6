//! A session: one line of work within a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::diff::FileDiff;
use crate::id::{MessageId, PartId, ProjectId, SessionId};
use crate::json::{Count, Extra, Millis};
use crate::permission::Ruleset;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct Session {
    pub id: SessionId,
    /// Early versions wrote no slug.
    pub slug: Option<String>,
    #[serde(rename = "projectID")]
    pub project_id: ProjectId,
    pub directory: String,
    #[serde(rename = "parentID")]
    pub parent_id: Option<SessionId>,
    /// The session that this one was forked from. `parentID` is only for subtasks.
    #[serde(rename = "forkedFrom")]
    pub forked_from: Option<ForkedFrom>,
    pub summary: Option<SessionSummary>,
    pub share: Option<Share>,
    pub title: String,
    pub version: String,
    pub time: SessionTime,
    pub permission: Option<Ruleset>,
    pub revert: Option<RevertState>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct ForkedFrom {
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The first message that was not copied; absent when all were.
    #[serde(rename = "messageID")]
    pub message_id: Option<MessageId>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct SessionSummary {
    #[serde(default)]
    pub additions: Count,
    #[serde(default)]
    pub deletions: Count,
    /// Early versions did not count files.
    pub files: Option<Count>,
    pub diffs: Option<Vec<FileDiff>>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Share {
    pub url: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct SessionTime {
    pub created: Millis,
    pub updated: Millis,
    pub compacting: Option<Millis>,
    pub archived: Option<Millis>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// A pending revert: the next prompt makes it final, `unrevert` undoes it.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct RevertState {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "partID")]
    pub part_id: Option<PartId>,
    pub snapshot: Option<String>,
    pub diff: Option<String>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}
