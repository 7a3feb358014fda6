//! What a model says, step by step, in one vocabulary for all wires.
//!
//! The names are the spec's. Events hold source text as it came; nothing here knows how it
//! is stored or drawn.

use std::sync::Arc;

use lathe_protocol::{CacheTokens, Count, Finish, TokenUsage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::ProviderError;

/// Facts that only the provider understands and wants back unchanged (signatures,
/// encrypted reasoning), under the provider family's name: `{"anthropic": {…}}`.
pub type Metadata = Map<String, Value>;

/// Names an open block of a stream. Cheap to clone: every delta carries one.
pub type BlockId = Arc<str>;

/// One thing that happened in a step.
///
/// A well-formed step is `start`, `start-step`, content, then either `finish-step` and
/// `finish`, or one `error` as its last event. A `-delta` only comes between the `-start`
/// and `-end` of its id. `tool-call` follows `tool-input-end` and holds the whole input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum StreamEvent {
    Start,
    StartStep,
    ReasoningStart {
        id: BlockId,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
    },
    ReasoningDelta {
        id: BlockId,
        text: String,
    },
    ReasoningEnd {
        id: BlockId,
        /// Replaces what the start said, key by key.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
    },
    TextStart {
        id: BlockId,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
    },
    TextDelta {
        id: BlockId,
        text: String,
    },
    TextEnd {
        id: BlockId,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
    },
    ToolInputStart {
        id: BlockId,
        name: String,
    },
    ToolInputDelta {
        id: BlockId,
        text: String,
    },
    ToolInputEnd {
        id: BlockId,
    },
    ToolCall {
        id: BlockId,
        name: String,
        /// The arguments exactly as the model wrote them; they need not be valid JSON.
        input: String,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        metadata: Metadata,
    },
    /// The provider ran this call itself; it must not be run here.
    ToolResult {
        id: BlockId,
        name: String,
        output: Value,
    },
    ToolError {
        id: BlockId,
        name: String,
        message: String,
    },
    FinishStep {
        reason: FinishReason,
        usage: Usage,
    },
    Error {
        error: ProviderError,
    },
    Finish,
}

/// Why a step ended, in the words that are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Error,
    Unknown,
}

/// Tokens of one step, counted the same way for every provider: the five counts never
/// overlap, so their sum is the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Fresh input: neither read from nor written to a cache.
    pub input: u64,
    /// Visible output, without reasoning where the provider reports that apart.
    pub output: u64,
    pub reasoning: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Usage {
    pub const fn total(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.reasoning)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// From counts that include their own details, as OpenAI and Gemini report them.
    /// A detail larger than its total (seen from compatible servers) counts as the total.
    pub const fn from_inclusive(
        input: u64,
        cache_read: u64,
        cache_write: u64,
        output: u64,
        reasoning: u64,
    ) -> Self {
        Self {
            input: input.saturating_sub(cache_read).saturating_sub(cache_write),
            output: output.saturating_sub(reasoning),
            reasoning,
            cache_read,
            cache_write,
        }
    }
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        let count = |tokens: u64| Count(i64::try_from(tokens).unwrap_or(i64::MAX));
        Self {
            input: count(usage.input),
            output: count(usage.output),
            reasoning: count(usage.reasoning),
            cache: CacheTokens {
                read: count(usage.cache_read),
                write: count(usage.cache_write),
                ..CacheTokens::default()
            },
            ..Self::default()
        }
    }
}

impl From<FinishReason> for Finish {
    fn from(reason: FinishReason) -> Self {
        match reason {
            FinishReason::Stop => Self::Stop,
            FinishReason::ToolCalls => Self::ToolCalls,
            FinishReason::Length => Self::Length,
            FinishReason::ContentFilter => Self::ContentFilter,
            FinishReason::Error => Self::Error,
            FinishReason::Unknown => Self::Unknown,
        }
    }
}
