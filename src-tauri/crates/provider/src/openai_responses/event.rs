//! The JSON shape of streamed events, with the fields that are used.
//!
//! One flat shape for all events, so that the frequent ones (deltas) are parsed without
//! buffering.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{decoder::Count, event::Usage};

#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(default)]
    pub output_index: Count,
    /// Position in a message's content, or in raw reasoning.
    #[serde(default)]
    pub content_index: Count,
    #[serde(default)]
    pub summary_index: Count,
    #[serde(default)]
    pub delta: Text,
    pub item: Option<RawItem>,
    pub response: Option<RawResponse>,
}

#[derive(Deserialize, Default)]
pub(super) struct RawItem {
    #[serde(default, rename = "type")]
    pub kind: Text,
    #[serde(default)]
    pub id: Text,
    #[serde(default)]
    pub call_id: Text,
    #[serde(default)]
    pub name: Text,
    #[serde(default)]
    pub arguments: Text,
    #[serde(default)]
    pub encrypted_content: Text,
    /// Whether a message is commentary or the final answer; has to be sent back.
    #[serde(default)]
    pub phase: Text,
    #[serde(default, deserialize_with = "pieces")]
    pub content: Vec<Piece>,
    #[serde(default, deserialize_with = "pieces")]
    pub summary: Vec<Piece>,
}

#[derive(Deserialize, Default)]
pub(super) struct Piece {
    #[serde(default)]
    pub text: Text,
    #[serde(default)]
    pub refusal: Text,
}

impl Piece {
    pub fn into_text(self) -> String {
        if self.text.0.is_empty() {
            self.refusal.0
        } else {
            self.text.0
        }
    }
}

#[derive(Deserialize, Default)]
pub(super) struct RawResponse {
    pub usage: Option<RawUsage>,
    pub incomplete_details: Option<IncompleteDetails>,
    #[serde(default)]
    pub output: Option<Vec<RawItem>>,
}

#[derive(Deserialize, Default)]
pub(super) struct IncompleteDetails {
    #[serde(default)]
    pub reason: Text,
}

#[derive(Deserialize, Default)]
pub(super) struct RawUsage {
    #[serde(default)]
    input_tokens: Count,
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens: Count,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize, Default)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

#[derive(Deserialize, Default)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

impl RawUsage {
    pub fn to_usage(&self) -> Usage {
        let input = self.input_tokens_details.as_ref();
        let output = self.output_tokens_details.as_ref();
        Usage::from_inclusive(
            self.input_tokens.0,
            input.map_or(0, |details| details.cached_tokens.0),
            input.map_or(0, |details| details.cache_write_tokens.0),
            self.output_tokens.0,
            output.map_or(0, |details| details.reasoning_tokens.0),
        )
    }
}

/// A text. Any other JSON value counts as empty: one odd field must not end a stream.
#[derive(Default)]
pub(super) struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::String(text) => Self(text),
            _ => Self::default(),
        })
    }
}

/// Some servers send null or a string instead of the list.
fn pieces<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Piece>, D::Error> {
    let Value::Array(items) = Value::deserialize(deserializer)? else {
        return Ok(Vec::new());
    };
    let read = |item| serde_json::from_value(item).unwrap_or_default();
    Ok(items.into_iter().map(read).collect())
}
