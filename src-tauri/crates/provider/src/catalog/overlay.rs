//! Applies the user's config to the catalog.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::{Access, Catalog, Model, Origin, Provider};
use crate::{
    config::{ConfigProblem, ModelBlock, ModelConfig, ProviderBlock, TierBlock, to_body},
    model::{ModelInfo, PriceTier, Prices, common_variants},
    wire::WireKind,
};

impl Catalog {
    /// The catalog with the config applied, and the config entries that could not be used.
    pub fn with_config(&self, config: &ModelConfig) -> (Self, Vec<ConfigProblem>) {
        let mut catalog = self.clone();
        let mut problems = config.problems.clone();
        for (id, block) in &config.providers {
            match catalog.provider_mut(id) {
                Some(known) => known.overlay(block),
                None => match Provider::from_config(id, block) {
                    Ok(provider) => catalog.providers.push(provider),
                    Err(problem) => problems.push(problem),
                },
            }
        }
        if let Some(small) = &config.small_model
            && let Some(provider) = catalog.provider_mut(&small.provider_id)
        {
            provider.small_model = Some(small.model_id.clone());
        }
        catalog.providers.retain(|provider| {
            let enabled = config.enabled.as_ref();
            enabled.is_none_or(|ids| ids.contains(&provider.id))
                && !config.disabled.contains(&provider.id)
        });
        (catalog, problems)
    }
}

impl Provider {
    fn from_config(id: &str, block: &ProviderBlock) -> Result<Self, ConfigProblem> {
        let path = format!("provider.{id}");
        let wire = block.wire.ok_or_else(|| {
            let message = "a new provider needs `npm` or `wire`, to know which API it speaks";
            ConfigProblem::new(&path, message)
        })?;
        let base_url = block.base_url.as_deref().or(default_url(wire));
        let base_url = base_url
            .ok_or_else(|| ConfigProblem::new(&path, "a new provider needs `options.baseURL`"))?;
        let mut provider = Self {
            id: id.to_owned(),
            name: id.to_owned(),
            wire,
            base_url: base_url.to_owned(),
            key_env: Vec::new(),
            key_page: None,
            is_local: is_loopback(base_url),
            accepts_any_model: block.models.is_empty(),
            origin: Origin::Config,
            default_model: None,
            small_model: None,
            models: Vec::new(),
            access: Access::default(),
        };
        provider.overlay(block);
        Ok(provider)
    }

    fn overlay(&mut self, block: &ProviderBlock) {
        set(&mut self.name, &block.name);
        set(&mut self.wire, &block.wire);
        set(&mut self.base_url, &block.base_url);
        set(&mut self.key_env, &block.key_env);
        if block.base_url.is_some() {
            // A known local server stays local when it runs on another machine of the network.
            self.is_local |= is_loopback(&self.base_url);
        }
        if block.key.is_some() {
            self.access.key.clone_from(&block.key);
        }
        self.access.headers.extend(block.headers.iter().cloned());
        if block.timeout.is_some() {
            self.access.timeout = block.timeout;
        }
        for (id, block) in &block.models {
            self.overlay_model(id, block);
        }
        self.models.retain(|model| {
            let id = &model.info.id;
            let only = block.only_models.as_ref();
            only.is_none_or(|ids| ids.contains(id)) && !block.without_models.contains(id)
        });
        if self.default_model.is_none() {
            self.default_model = self.models.first().map(|model| model.info.id.clone());
        }
    }

    fn overlay_model(&mut self, id: &str, block: &ModelBlock) {
        let wire = self.wire;
        if let Some(known) = self.models.iter_mut().find(|model| model.info.id == id) {
            known.overlay(block, wire);
            return;
        }
        // A second entry for a known model (for example with other options) copies its properties.
        let known = block.id.as_deref().and_then(|wire_id| self.model(wire_id));
        let mut model = match known {
            Some(known) => known.clone(),
            None => Model::new(ModelInfo::unknown(&self.id, id)),
        };
        model.info.id = id.to_owned();
        model.overlay(block, wire);
        self.models.push(model);
    }
}

impl Model {
    fn overlay(&mut self, block: &ModelBlock, provider_wire: WireKind) {
        if let Some(own) = &block.provider {
            self.wire = own.wire.or(self.wire);
            self.base_url = own.api.clone().or(self.base_url.take());
        }
        let wire = self.wire.unwrap_or(provider_wire);
        self.info.overlay(block);
        self.headers.extend(block.headers.iter().cloned());
        crate::config::merge(&mut self.options, &to_body(wire, &block.options));
        for (name, options) in &block.variants {
            self.overlay_variant(name, options, wire);
        }
        if self.info.reasoning && self.info.variants.is_empty() && block.variants.is_empty() {
            self.info.variants = common_variants();
        }
    }

    fn overlay_variant(&mut self, name: &str, options: &Value, wire: WireKind) {
        let mut options = options.as_object().cloned().unwrap_or_default();
        let disabled = options.shift_remove("disabled") == Some(Value::Bool(true));
        self.info
            .variants
            .retain(|known| known != name || !disabled);
        if disabled {
            self.variant_options.remove(name);
            return;
        }
        if !self.info.variants.iter().any(|known| known == name) {
            self.info.variants.push(name.to_owned());
        }
        let body: Map<String, Value> = to_body(wire, &options);
        if !body.is_empty() {
            self.variant_options.insert(name.to_owned(), body);
        }
    }
}

impl ModelInfo {
    fn overlay(&mut self, block: &ModelBlock) {
        set(&mut self.wire_id, &block.id);
        set(&mut self.name, &block.name);
        set(&mut self.images, &block.accepts("image"));
        set(&mut self.pdf, &block.accepts("pdf"));
        set(&mut self.tools, &block.tool_call);
        set(&mut self.reasoning, &block.reasoning);
        if let Some(limit) = &block.limit {
            set(&mut self.limits.context, &limit.context);
            set(&mut self.limits.output, &limit.output);
            if limit.input.is_some() || limit.context.is_some() {
                self.limits.input = limit.input;
            }
        }
        if let Some(cost) = &block.cost {
            self.prices = Some(Prices {
                base: tier(&cost.base),
                over_200k: cost.context_over_200k.as_ref().map(tier),
            });
        }
        if let Some(interleaved) = &block.interleaved {
            self.reasoning_field.clone_from(&interleaved.0);
        }
        if !self.reasoning {
            self.variants.clear();
        }
    }
}

fn set<T: Clone>(field: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

fn tier(block: &TierBlock) -> PriceTier {
    PriceTier {
        input: block.input,
        output: block.output,
        cache_read: block.cache_read.unwrap_or(block.input),
        cache_write: block.cache_write.unwrap_or(block.input),
    }
}

fn default_url(wire: WireKind) -> Option<&'static str> {
    let id = match wire {
        WireKind::Anthropic => "anthropic",
        WireKind::OpenaiResponses => "openai",
        WireKind::Gemini => "google",
        WireKind::Demo => return Some(""),
        WireKind::OpenaiChat => return None,
    };
    let provider = Catalog::built_in().provider(id)?;
    Some(&provider.base_url)
}

fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address = name.parse::<IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
