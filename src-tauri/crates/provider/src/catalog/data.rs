//! The built-in catalog's file and its shape.
//!
//! One line a model keeps changes reviewable. A price for reading or writing the cache
//! that is not given is the price of input: such tokens are never free by omission.

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

pub(super) fn built_in() -> Catalog {
    match serde_json::from_str::<Vec<ProviderEntry>>(FILE) {
        Ok(entries) => Catalog {
            providers: entries.into_iter().map(Provider::from).collect(),
        },
        // Cannot happen in a tree whose tests pass; an empty catalog still takes config.
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
    /// Weakest first. Empty options leave the variant's meaning to the wire.
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
            .map(|model| model.of_provider(&entry.id))
            .collect();
        Self {
            id: entry.id,
            name: entry.name,
            wire: entry.wire,
            base_url: entry.url,
            key_env: entry.env,
            key_page: entry.keys,
            is_local: entry.local,
            is_open: entry.open,
            origin: Origin::BuiltIn,
            default_model: entry.default,
            small_model: entry.small,
            models,
            access: Access::default(),
        }
    }
}

impl ModelEntry {
    fn of_provider(self, provider: &str) -> Model {
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
