//! The properties of a model that codecs, limits and prices need.
//!
//! The catalog fills them in; this module must not know where they come from.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The provider's id in the catalog, e.g. `openrouter`.
    pub provider: String,
    /// The model's id in the catalog.
    pub id: String,
    /// The model's id in the provider's API; usually the same.
    pub wire_id: String,
    pub name: String,
    pub limits: Limits,
    pub images: bool,
    pub pdf: bool,
    pub tools: bool,
    pub reasoning: bool,
    /// Reasoning variants that a user may choose from, weakest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// The field of an assistant message in which the model wants its earlier reasoning back
    /// (`reasoning_content`, `reasoning`, `reasoning_details`); only for Chat Completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_field: Option<String>,
    /// `None` if unknown, which is not the same as free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

impl ModelInfo {
    /// A model of which only the id is known: images and tools are allowed, and the server
    /// decides.
    pub fn unknown(provider: impl Into<String>, id: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            provider: provider.into(),
            wire_id: id.clone(),
            name: id.clone(),
            id,
            limits: Limits::default(),
            images: true,
            pdf: false,
            tools: true,
            reasoning: false,
            variants: Vec::new(),
            reasoning_field: None,
            prices: None,
        }
    }
}

/// The variants of a reasoning model that lists none.
pub(crate) fn common_variants() -> Vec<String> {
    ["low", "medium", "high"].map(str::to_owned).to_vec()
}

/// Token limits; 0 means unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub context: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    pub output: u64,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    pub base: PriceTier,
    /// Replaces `base` for a step whose input and cache reads exceed 200,000 tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_200k: Option<PriceTier>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceTier {
    pub input: Decimal,
    pub output: Decimal,
    #[serde(default)]
    pub cache_read: Decimal,
    #[serde(default)]
    pub cache_write: Decimal,
}
