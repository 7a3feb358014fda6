//! The events of a step, in one form for all wires.
//!
//! The names are those of the specification. Events hold the text as it arrived; this module
//! must not know how it is stored or drawn.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::ProviderError;

/// Opaque data that the provider wants back unchanged (signatures, encrypted reasoning), under
/// the name of the provider family: `{"anthropic": {…}}`.
pub type Metadata = Map<String, Value>;

/// Metadata with these entries under `family`; empty values are left out.
pub(crate) fn family_metadata<const N: usize>(
    family: &str,
    entries: [(&str, String); N],
) -> Metadata {
    let entries: Map<String, Value> = entries
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), Value::String(value)))
        .collect();
    let mut metadata = Metadata::new();
    if !entries.is_empty() {
        metadata.insert(family.to_owned(), Value::Object(entries));
    }
    metadata
}

/// Identifies a block within a stream. Cheap to clone, because every delta carries one.
pub type BlockId = Arc<str>;

/// One event of a step.
///
/// A well-formed step is `start`, `start-step`, content, then either `finish-step` and
/// `finish`, or one `error` as its last event. A `-delta` occurs only between the `-start`
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
        /// Replaces the metadata of the start, key by key.
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
        /// The arguments exactly as the model wrote them, possibly invalid JSON.
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

/// Why a step ended.
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

/// Token counts of one step, in the same way for every provider: the five counts never
/// overlap, so their sum is the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Input that was neither read from nor written to a cache.
    pub input: u64,
    /// Output without reasoning, where the provider reports that separately.
    pub output: u64,
    pub reasoning: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Usage {
    /// From counts that include their details, as OpenAI reports them. Some compatible servers
    /// report a detail larger than its total; the remainder is then 0.
    pub(crate) const fn from_inclusive(
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
