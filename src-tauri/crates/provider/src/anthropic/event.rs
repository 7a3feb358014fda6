//! The JSON shapes of Messages API events.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::{decoder::Count, event::Usage};

/// One flat shape for all events, so that the frequent ones are parsed without buffering.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(default)]
    pub index: u64,
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub content_block: Option<ContentBlock<'a>>,
    pub message: Option<MessageStart>,
    pub usage: Option<RawUsage>,
}

#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    pub text: Option<String>,
    pub thinking: Option<String>,
    pub signature: Option<String>,
    pub partial_json: Option<String>,
    #[serde(borrow)]
    pub stop_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    pub id: Option<String>,
    pub name: Option<String>,
    pub input: Option<Value>,
    pub text: Option<String>,
    pub thinking: Option<String>,
    pub signature: Option<String>,
    pub data: Option<String>,
    pub tool_use_id: Option<String>,
    pub content: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct MessageStart {
    pub usage: Option<RawUsage>,
}

/// Counts are cumulative: a count in a later event replaces the earlier one.
#[derive(Deserialize, Default)]
pub(super) struct RawUsage {
    input_tokens: Option<Count>,
    output_tokens: Option<Count>,
    cache_creation_input_tokens: Option<Count>,
    cache_read_input_tokens: Option<Count>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize, Default)]
struct OutputDetails {
    thinking_tokens: Option<Count>,
}

impl RawUsage {
    pub(super) fn update(&mut self, newer: Option<Self>) {
        let Some(newer) = newer else { return };
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens = newer
            .cache_creation_input_tokens
            .or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = newer
            .cache_read_input_tokens
            .or(self.cache_read_input_tokens);
        if newer.output_tokens_details.is_some() {
            self.output_tokens_details = newer.output_tokens_details;
        }
    }

    /// The API counts input without the cached tokens, and output including the thinking.
    pub(super) fn to_usage(&self) -> Usage {
        let count = |count: Option<Count>| count.unwrap_or_default().0;
        let details = self.output_tokens_details.as_ref();
        let reasoning = count(details.and_then(|details| details.thinking_tokens));
        Usage {
            input: count(self.input_tokens),
            output: count(self.output_tokens).saturating_sub(reasoning),
            reasoning,
            cache_read: count(self.cache_read_input_tokens),
            cache_write: count(self.cache_creation_input_tokens),
        }
    }
}
