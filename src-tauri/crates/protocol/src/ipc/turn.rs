//! Context usage, and the agent and model of the last prompt.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Millis;
use crate::message::{Message, ModelRef};

/// How full the model's context is, in tokens. A limit of zero is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextUse {
    /// The size of the context after the newest step.
    pub used: u64,
    /// The size at which the session is compacted.
    pub usable: u64,
    /// The size of the model's context.
    pub limit: u64,
    /// The next step compacts the session first.
    pub will_compact: bool,
}

/// The agent and model of the newest prompt of a session, also if that prompt is not loaded.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct LastUse {
    /// When that prompt was sent. Only a newer prompt replaces this value.
    pub created: Millis,
    pub agent: Option<String>,
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
}

impl LastUse {
    /// An answer has an agent and a model too; the variant is stored with prompts only.
    pub fn from_message(message: &Message) -> Self {
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
