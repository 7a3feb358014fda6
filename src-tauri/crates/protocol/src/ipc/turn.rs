//! What the window is told about the turn under way.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Millis;
use crate::message::{Message, ModelRef};

/// How full the model's context is, in tokens. Zero limits mean that nobody knows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextUse {
    /// What the newest step took.
    pub used: u64,
    /// What may be taken before the session is summed up.
    pub usable: u64,
    /// The model's whole context.
    pub limit: u64,
    /// The next step sums the session up first.
    pub will_compact: bool,
}

/// Whom the newest prompt of a session went to, wherever in the session one looks.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct LastUse {
    /// When that prompt was sent: only a newer one takes its place.
    pub created: Millis,
    pub agent: Option<String>,
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
}

impl LastUse {
    /// An answer knows its agent and its model too; how hard it thought, only its prompt does.
    pub fn of(message: &Message) -> Self {
        match message {
            Message::User(prompt) => LastUse {
                created: prompt.time.created,
                agent: prompt.agent.clone(),
                model: prompt.model.clone(),
                variant: prompt.variant.clone(),
            },
            Message::Assistant(answer) => LastUse {
                created: answer.time.created,
                agent: answer.agent.clone().or_else(|| answer.mode.clone()),
                model: Some(ModelRef::new(&answer.provider_id, &answer.model_id)),
                variant: None,
            },
        }
    }
}
