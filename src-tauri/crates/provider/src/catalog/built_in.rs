//! The file with the built-in catalog, and its format.
//!
//! One line per model keeps changes reviewable. Where the price for reading or writing the
//! cache is missing, the price of input applies, so that such tokens are never free by mistake.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Access, Catalog, Model, Origin, Provider};
use crate::{
    model::{Limits, ModelInfo, PriceTier, Prices},
    wire::WireKind,
};

const FILE: &str = include_str!("models.json");

pub(super) fn parse() -> Catalog {
    match serde_json::from_str::<Vec<ProviderEntry>>(FILE) {
        Ok(entries) => Catalog {
            providers: entries.into_iter().map(Provider::from).collect(),
        },
        // Excluded by the tests. An empty catalog still works with a config.
        Err(error) => {
            tracing::error!(%error, "the built-in catalog cannot be read");
            Catalog::default()
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProviderEntry {
    id: String,
    name: String,
    wire: WireKind,
    url: String,
    env: Vec<String>,
    keys: Option<String>,
    #[serde(default)]
    local: bool,
    #[serde(default)]
    open: bool,
    default: Option<String>,
    small: Option<String>,
    #[serde(default)]
    models: Vec<ModelEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ModelEntry {
    id: String,
    name: String,
    limits: Limits,
    #[serde(default)]
    images: bool,
    #[serde(default)]
    pdf: bool,
    #[serde(default)]
    tools: bool,
    #[serde(default)]
    reasoning: bool,
    /// Weakest first. A variant with empty options is a reasoning effort of the wire.
    #[serde(default)]
    variants: Map<String, Value>,
    reasoning_field: Option<String>,
    prices: Option<PricesEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PricesEntry {
    base: TierEntry,
    over200k: Option<TierEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TierEntry {
    input: Decimal,
    output: Decimal,
    cache_read: Option<Decimal>,
    cache_write: Option<Decimal>,
}

impl From<ProviderEntry> for Provider {
    fn from(entry: ProviderEntry) -> Self {
        let models = entry
            .models
            .into_iter()
            .map(|model| model.into_model(&entry.id))
            .collect();
        Self {
            id: entry.id,
            name: entry.name,
            wire: entry.wire,
            base_url: entry.url,
            key_env: entry.env,
            key_page: entry.keys,
            is_local: entry.local,
            accepts_any_model: entry.open,
            origin: Origin::BuiltIn,
            default_model: entry.default,
            small_model: entry.small,
            models,
            access: Access::default(),
        }
    }
}

impl ModelEntry {
    fn into_model(self, provider: &str) -> Model {
        let info = ModelInfo {
            provider: provider.to_owned(),
            wire_id: self.id.clone(),
            id: self.id,
            name: self.name,
            limits: self.limits,
            images: self.images,
            pdf: self.pdf,
            tools: self.tools,
            reasoning: self.reasoning,
            variants: self.variants.keys().cloned().collect(),
            reasoning_field: self.reasoning_field,
            prices: self.prices.map(Prices::from),
        };
        let variant_options: BTreeMap<_, _> = self
            .variants
            .into_iter()
            .filter_map(|(name, options)| match options {
                Value::Object(options) if !options.is_empty() => Some((name, options)),
                _ => None,
            })
            .collect();
        Model {
            variant_options,
            ..Model::new(info)
        }
    }
}

impl From<PricesEntry> for Prices {
    fn from(entry: PricesEntry) -> Self {
        Self {
            base: entry.base.into(),
            over_200k: entry.over200k.map(PriceTier::from),
        }
    }
}

impl From<TierEntry> for PriceTier {
    fn from(entry: TierEntry) -> Self {
        Self {
            input: entry.input,
            output: entry.output,
            cache_read: entry.cache_read.unwrap_or(entry.input),
            cache_write: entry.cache_write.unwrap_or(entry.input),
        }
    }
}
