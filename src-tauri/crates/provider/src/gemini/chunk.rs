//! The JSON shape of a streamed chunk, with the fields that are used.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{decoder::Count, event::Usage};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk {
    #[serde(default, deserialize_with = "or_default")]
    pub candidates: Vec<Candidate>,
    pub prompt_feedback: Option<PromptFeedback>,
    pub usage_metadata: Option<RawUsage>,
    pub response_id: Option<String>,
    pub error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate {
    #[serde(default)]
    pub index: Count,
    pub content: Option<Content>,
    pub finish_reason: Option<String>,
    pub finish_message: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Content {
    #[serde(default, deserialize_with = "or_default")]
    pub parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    pub text: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub thought: bool,
    pub thought_signature: Option<String>,
    pub function_call: Option<FunctionCall>,
}

#[derive(Deserialize)]
pub(super) struct FunctionCall {
    pub id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    pub args: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFeedback {
    pub block_reason: Option<String>,
}

/// Each chunk has the counts so far.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawUsage {
    #[serde(default)]
    prompt_token_count: Count,
    #[serde(default)]
    tool_use_prompt_token_count: Count,
    #[serde(default)]
    cached_content_token_count: Count,
    #[serde(default)]
    candidates_token_count: Count,
    #[serde(default)]
    thoughts_token_count: Count,
}

impl RawUsage {
    /// A chunk may omit counts that have not changed.
    pub fn update(&mut self, newer: &Self) {
        let replace = |old: &mut Count, new: Count| {
            if new.0 > 0 {
                *old = new;
            }
        };
        replace(&mut self.prompt_token_count, newer.prompt_token_count);
        replace(
            &mut self.tool_use_prompt_token_count,
            newer.tool_use_prompt_token_count,
        );
        replace(
            &mut self.cached_content_token_count,
            newer.cached_content_token_count,
        );
        replace(
            &mut self.candidates_token_count,
            newer.candidates_token_count,
        );
        replace(&mut self.thoughts_token_count, newer.thoughts_token_count);
    }

    /// The API counts the prompt including its cached part, and the answer without thoughts.
    pub fn to_usage(self) -> Usage {
        let prompt = self
            .prompt_token_count
            .0
            .saturating_add(self.tool_use_prompt_token_count.0);
        let cached = self.cached_content_token_count.0;
        Usage {
            input: prompt.saturating_sub(cached),
            output: self.candidates_token_count.0,
            reasoning: self.thoughts_token_count.0,
            cache_read: cached,
            cache_write: 0,
        }
    }
}

/// Treats `null` as missing.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
