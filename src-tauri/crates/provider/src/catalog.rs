//! Which providers and models there are, and the facts about each.
//!
//! The built-in part is data of this crate (`catalog/models.json`); the user's config and
//! servers found on this machine are laid over it. Nothing here does I/O.

mod data;
mod image;
mod overlay;

use std::{collections::BTreeMap, sync::LazyLock};

use lathe_protocol::ModelRef;
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::image::ImageLimits;
use crate::{model::ModelInfo, secret::ApiKey, wire::WireKind};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    providers: Vec<Provider>,
}

/// Somebody who serves models, and how to reach them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    pub id: String,
    pub name: String,
    pub wire: WireKind,
    /// Without a trailing slash; empty for a provider that is not reached over HTTP.
    pub base_url: String,
    /// Environment variables that may hold the key, in order.
    pub key_env: Vec<String>,
    /// Where a person gets a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_page: Option<String>,
    /// A server of the user's own, which wants no key as a rule.
    pub is_local: bool,
    /// Serves more models than are listed, so any id is worth a try.
    pub is_open: bool,
    pub origin: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
    /// Cheap and quick, for titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_model: Option<String>,
    pub models: Vec<Model>,
    /// What config says about reaching it; never shown.
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
    /// How long silence may last, where config says so.
    pub patience: Option<Patience>,
}

/// `timeout` of a provider's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    Millis(u64),
    Endless,
}

/// A header's value: it often carries a key, so it does not print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A model with what config wants sent along with every request to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    #[serde(flatten)]
    pub info: ModelInfo,
    /// Differs from its provider's where one address serves several APIs.
    #[serde(skip)]
    pub wire: Option<WireKind>,
    #[serde(skip)]
    pub base_url: Option<String>,
    #[serde(skip)]
    pub headers: Vec<(String, Secret)>,
    /// Fields of the wire's body.
    #[serde(skip)]
    pub options: Map<String, Value>,
    /// Variants that are body fields instead of a degree of effort the wire knows.
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
    #[error("There is no provider called {0}")]
    Provider(String),
    #[error("{provider} has no model called {model}{}", suggestion(.near))]
    Model {
        provider: String,
        model: String,
        near: Vec<String>,
    },
}

fn suggestion(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!(". Did you mean {}?", near.join(" or ")),
    }
}

impl Catalog {
    /// What the application knows without any config.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Catalog> = LazyLock::new(data::built_in);
        &BUILT_IN
    }

    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    pub fn provider(&self, id: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.id == id)
    }

    /// The model and who serves it. Of a provider that serves more than it lists, any id
    /// is taken at its word.
    pub fn find(&self, wanted: &ModelRef) -> Result<(&Provider, Model), UnknownModel> {
        let provider = self
            .provider(&wanted.provider_id)
            .ok_or_else(|| UnknownModel::Provider(wanted.provider_id.clone()))?;
        let id = &wanted.model_id;
        if let Some(model) = provider.model(id) {
            return Ok((provider, model.clone()));
        }
        if provider.is_open && !id.is_empty() {
            let info = ModelInfo::unknown(&provider.id, id);
            return Ok((provider, Model::new(info)));
        }
        Err(UnknownModel::Model {
            provider: provider.name.clone(),
            model: id.clone(),
            near: provider.near(id),
        })
    }

    /// The model for titles and other small jobs beside `model`.
    pub fn small_model(&self, model: &ModelRef) -> ModelRef {
        let small = self
            .provider(&model.provider_id)
            .and_then(|provider| provider.small_model.clone());
        ModelRef::new(
            model.provider_id.clone(),
            small.unwrap_or_else(|| model.model_id.clone()),
        )
    }

    /// Adds providers found on this machine. What config says about one of the same id
    /// stands; only models it does not list are added.
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
        // Otherwise nothing that is found could answer by itself.
        self.default_model = self.default_model.take().or(found.default_model);
        for model in found.models {
            if self.model(&model.info.id).is_none() {
                self.models.push(model);
            }
        }
    }

    /// Models whose id holds the wanted one or is held by it, for a typing mistake or a
    /// half-remembered name.
    fn near(&self, wanted: &str) -> Vec<String> {
        let folded = |id: &str| -> String {
            let letters = id.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|c| c.to_ascii_lowercase()).collect()
        };
        let wanted = folded(wanted);
        if wanted.is_empty() {
            return Vec::new();
        }
        self.models
            .iter()
            .map(|model| &model.info.id)
            .filter(|id| {
                let id = folded(id);
                id.contains(&wanted) || wanted.contains(&id)
            })
            .take(3)
            .cloned()
            .collect()
    }
}

/// `provider/model`, as people and config write it. The model's id may hold slashes.
pub fn parse_model_ref(text: &str) -> Option<ModelRef> {
    let (provider, model) = text.split_once('/')?;
    (!provider.is_empty() && !model.is_empty())
        .then(|| ModelRef::new(provider.to_owned(), model.to_owned()))
}

#[cfg(test)]
mod tests;
