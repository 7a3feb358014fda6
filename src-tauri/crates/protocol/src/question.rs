//! Questions that the agent asks the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::{QuestionId, SessionId};
use crate::json::Extra;
use crate::permission::ToolRef;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct QuestionRequest {
    pub id: QuestionId,
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    pub questions: Vec<Question>,
    pub tool: Option<ToolRef>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct Question {
    pub question: String,
    /// At most 30 characters.
    pub header: String,
    pub options: Vec<QuestionOption>,
    /// The user may choose several options.
    pub multiple: Option<bool>,
    /// The user may type an answer of their own. Allowed unless this is `false`.
    pub custom: Option<bool>,
    #[serde(flatten)]
    #[ts(skip)]
    #[schemars(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionOption {
    pub label: String,
    pub description: String,
}
