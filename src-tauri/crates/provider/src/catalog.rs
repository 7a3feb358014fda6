//! The known providers and models, and their properties.
//!
//! The built-in catalog is a file of this crate (`catalog/models.json`); the user's config and
//! the servers found on this machine are added on top. This module does no I/O.

mod built_in;
mod image_limits;
mod overlay;

use std::{collections::BTreeMap, sync::LazyLock};

use lathe_protocol::ModelRef;
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::image_limits::ImageLimits;
use crate::{model::ModelInfo, secret::ApiKey, wire::WireKind};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    providers: Vec<Provider>,
}

/// A service that offers models, and how to reach it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    pub id: String,
    pub name: String,
    pub wire: WireKind,
    /// Without a trailing slash; empty for a provider that is not reached over HTTP.
    pub base_url: String,
    /// Environment variables that may hold the key, in order of precedence.
    pub key_env: Vec<String>,
    /// The web page where a user gets a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_page: Option<String>,
    /// A server that the user runs, usually without a key.
    pub is_local: bool,
    /// Serves more models than are listed, so any model id is accepted.
    pub accepts_any_model: bool,
    pub origin: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
    /// A cheap and fast model, for titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_model: Option<String>,
    pub models: Vec<Model>,
    /// Never shown, because it may hold secrets.
    #[serde(skip)]
    pub access: Access,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    BuiltIn,
    Config,
    Discovered,
}

/// The part of a provider's config that may hold secrets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Access {
    pub key: Option<ApiKey>,
    pub headers: Vec<(String, Secret)>,
    /// `None` for the default timeouts.
    pub timeout: Option<ConfiguredTimeout>,
}

/// The `timeout` in a provider's options: how long a response may pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfiguredTimeout {
    Millis(u64),
    Never,
}

/// The value of a header. It often contains a key, so `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A model, and what the config adds to every request to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    #[serde(flatten)]
    pub info: ModelInfo,
    /// Set if the model is served over another API than the provider's other models.
    #[serde(skip)]
    pub wire: Option<WireKind>,
    #[serde(skip)]
    pub base_url: Option<String>,
    #[serde(skip)]
    pub headers: Vec<(String, Secret)>,
    /// Fields of the wire's body.
    #[serde(skip)]
    pub options: Map<String, Value>,
    /// Variants that are defined by body fields instead of a reasoning effort.
    #[serde(skip)]
    pub variant_options: BTreeMap<String, Map<String, Value>>,
}

impl Model {
    pub fn new(info: ModelInfo) -> Self {
        Self {
            info,
            wire: None,
            base_url: None,
            headers: Vec::new(),
            options: Map::new(),
            variant_options: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownModel {
    #[error("Unknown provider: {0}")]
    Provider(String),
    #[error("{provider} has no model called {model}{}", suggestion(.similar))]
    Model {
        provider: String,
        model: String,
        similar: Vec<String>,
    },
}

fn suggestion(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        ids => format!(". Did you mean {}?", ids.join(" or ")),
    }
}

impl Catalog {
    /// The catalog without any config.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Catalog> = LazyLock::new(built_in::parse);
        &BUILT_IN
    }

    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    pub fn provider(&self, id: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.id == id)
    }

    /// The model and its provider. For a provider that accepts any model, an unknown id gives
    /// a model with unknown properties.
    pub fn find(&self, wanted: &ModelRef) -> Result<(&Provider, Model), UnknownModel> {
        let provider = self
            .provider(&wanted.provider_id)
            .ok_or_else(|| UnknownModel::Provider(wanted.provider_id.clone()))?;
        let id = &wanted.model_id;
        if let Some(model) = provider.model(id) {
            return Ok((provider, model.clone()));
        }
        if provider.accepts_any_model && !id.is_empty() {
            let info = ModelInfo::unknown(&provider.id, id);
            return Ok((provider, Model::new(info)));
        }
        Err(UnknownModel::Model {
            provider: provider.name.clone(),
            model: id.clone(),
            similar: provider.similar_models(id),
        })
    }

    /// The model for titles and other small tasks in a session that uses `model`.
    pub fn small_model(&self, model: &ModelRef) -> ModelRef {
        let small = self
            .provider(&model.provider_id)
            .and_then(|provider| provider.small_model.clone());
        ModelRef::new(
            model.provider_id.clone(),
            small.unwrap_or_else(|| model.model_id.clone()),
        )
    }

    /// Adds providers found on this machine. A configured provider of the same id keeps its
    /// settings and gets the models that it does not list.
    pub fn add_discovered(&mut self, found: Vec<Provider>) {
        for provider in found {
            match self.provider_mut(&provider.id) {
                Some(known) => known.add_models(provider),
                None => self.providers.push(provider),
            }
        }
    }

    fn provider_mut(&mut self, id: &str) -> Option<&mut Provider> {
        self.providers.iter_mut().find(|provider| provider.id == id)
    }
}

impl Provider {
    pub fn model(&self, id: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.info.id == id)
    }

    fn add_models(&mut self, found: Self) {
        if self.origin == Origin::BuiltIn {
            self.origin = found.origin;
        }
        // Without a default model, a discovered server could not become the default.
        self.default_model = self.default_model.take().or(found.default_model);
        for model in found.models {
            if self.model(&model.info.id).is_none() {
                self.models.push(model);
            }
        }
    }

    /// Models whose id contains the wanted one or is contained in it, to suggest in an error.
    fn similar_models(&self, wanted: &str) -> Vec<String> {
        let normalized = |id: &str| -> String {
            let letters = id.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|c| c.to_ascii_lowercase()).collect()
        };
        let wanted = normalized(wanted);
        if wanted.is_empty() {
            return Vec::new();
        }
        self.models
            .iter()
            .map(|model| &model.info.id)
            .filter(|id| {
                let id = normalized(id);
                id.contains(&wanted) || wanted.contains(&id)
            })
            .take(3)
            .cloned()
            .collect()
    }
}

/// Parses `provider/model`. The model's id may contain slashes.
pub fn parse_model_ref(text: &str) -> Option<ModelRef> {
    let (provider, model) = text.split_once('/')?;
    (!provider.is_empty() && !model.is_empty())
        .then(|| ModelRef::new(provider.to_owned(), model.to_owned()))
}

#[cfg(test)]
mod tests;
