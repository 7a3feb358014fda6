//! The JSON shape of a chunk, parsed leniently.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor, value},
};
use serde_json::Value;
use smallvec::SmallVec;

use crate::{decoder::Count, event::Usage};

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub id: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub choices: Option<SmallVec<[Choice<'a>; 1]>>,
    #[serde(default)]
    pub usage: Option<RawUsage>,
    /// Groq puts the usage here.
    #[serde(default)]
    pub x_groq: Option<Groq>,
    #[serde(default)]
    pub error: Option<Value>,
    #[serde(borrow, default)]
    pub object: Option<Str<'a>>,
}

/// Borrowed where possible: serde copies the text of an `Option<Cow<str>>` on every chunk.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Str<'a>(#[serde(borrow)] pub Cow<'a, str>);

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub index: Option<u64>,
    /// `message` is sent by servers that answer in one piece although asked to stream.
    #[serde(borrow, default, alias = "message")]
    pub delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
pub(super) struct Delta<'a> {
    #[serde(default)]
    pub content: Text,
    #[serde(default)]
    pub reasoning_content: Text,
    #[serde(default)]
    pub reasoning: Text,
    #[serde(default)]
    pub reasoning_details: Option<Vec<Value>>,
    #[serde(default)]
    pub refusal: Text,
    #[serde(borrow, default)]
    pub tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(default)]
    pub index: Option<u64>,
    #[serde(borrow, default)]
    pub id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub function: Option<Function<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub name: Option<Cow<'a, str>>,
    #[serde(default)]
    pub arguments: Text,
}

#[derive(Deserialize)]
pub(super) struct Groq {
    #[serde(default)]
    pub usage: Option<RawUsage>,
}

#[derive(Deserialize, Default)]
pub(super) struct RawUsage {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    total_tokens: Count,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for cached tokens.
    #[serde(default)]
    prompt_cache_hit_tokens: Count,
}

#[derive(Deserialize, Default)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

#[derive(Deserialize, Default)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

impl RawUsage {
    pub(super) fn to_usage(&self) -> Usage {
        let prompt = self.prompt_tokens_details.as_ref();
        let completion = self.completion_tokens_details.as_ref();
        let cached = prompt.map_or(0, |details| details.cached_tokens.0);
        let written = prompt.map_or(0, |details| details.cache_write_tokens.0);
        let reasoning = completion.map_or(0, |details| details.reasoning_tokens.0);
        // xAI counts reasoning in addition to the completion, all others as a part of it. The
        // total shows which one it is.
        let separate = self.prompt_tokens.0 + self.completion_tokens.0 + reasoning;
        let output = if reasoning > 0 && self.total_tokens.0 == separate {
            self.completion_tokens.0 + reasoning
        } else {
            self.completion_tokens.0
        };
        let cached = cached.max(self.prompt_cache_hit_tokens.0);
        Usage::from_inclusive(self.prompt_tokens.0, cached, written, output, reasoning)
    }
}

/// A text in any form that servers send: a string, null, a list of parts, or JSON that should
/// have been a string.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Text {
    #[default]
    None,
    Plain(String),
    Parts(Vec<Value>),
    Json(Value),
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text::Plain(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Text, E> {
        Ok(Text::Plain(text))
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text::None)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Text, E> {
        Ok(Text::Json(flag.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Text, E> {
        Ok(Text::Json(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Text, E> {
        Ok(Text::Json(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Text, E> {
        Ok(Text::Json(number.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Text, A::Error> {
        Vec::deserialize(value::SeqAccessDeserializer::new(seq)).map(Text::Parts)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text, A::Error> {
        Value::deserialize(value::MapAccessDeserializer::new(map)).map(Text::Json)
    }
}
