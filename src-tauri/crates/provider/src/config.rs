//! What the user's config says about providers and models.
//!
//! The shape is that of the `provider`, `model`, `small_model`, `disabled_providers` and
//! `enabled_providers` keys of an `opencode.json`. Which files there are and how they are
//! merged is known elsewhere. One bad entry is left out and reported; it never takes the
//! others with it.

mod block;
mod options;
mod packages;
mod substitute;
mod text;

use std::fmt;

use lathe_protocol::ModelRef;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use self::options::{merge, to_body};
pub use self::{
    block::{ModelBlock, ProviderBlock, TierBlock},
    substitute::Substitution,
    text::{ConfigText, ConfigTextError},
};
use crate::catalog::parse_model_ref;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelConfig {
    /// In the order of the file.
    pub providers: Vec<(String, ProviderBlock)>,
    pub model: Option<ModelRef>,
    pub small_model: Option<ModelRef>,
    pub disabled: Vec<String>,
    /// When given, nothing else is offered.
    pub enabled: Option<Vec<String>>,
    pub problems: Vec<ConfigProblem>,
}

/// Something in the config that could not be used, for people to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigProblem {
    /// Keys down to the place, joined by dots.
    pub path: String,
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl ConfigProblem {
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

/// A project's config before the user trusts the project: it may say which model it likes
/// and which providers to leave alone, but nothing about how to reach one.
pub fn untrusted(mut config: Value) -> Value {
    if let Some(map) = config.as_object_mut() {
        map.shift_remove("provider");
    }
    config
}

impl ModelConfig {
    /// Reads the keys named above out of a whole config, ignoring all others.
    pub fn read(config: &Value) -> Self {
        let mut read = Self::default();
        read.model = read.model_ref(config, "model");
        read.small_model = read.model_ref(config, "small_model");
        read.disabled = read
            .optional(config, "disabled_providers")
            .unwrap_or_default();
        read.enabled = read.optional(config, "enabled_providers");
        let providers: Map<String, Value> = read.optional(config, "provider").unwrap_or_default();
        for (id, entry) in providers {
            match ProviderBlock::read(&id, entry, &mut read.problems) {
                Ok(block) => read.providers.push((id, block)),
                Err(problem) => read.problems.push(problem),
            }
        }
        read
    }

    fn model_ref(&mut self, config: &Value, key: &str) -> Option<ModelRef> {
        let text: String = self.optional(config, key)?;
        let parsed = parse_model_ref(&text);
        if parsed.is_none() {
            let message = format!("expected \"provider/model\", found {text:?}");
            self.problems.push(ConfigProblem::new(key, message));
        }
        parsed
    }

    fn optional<T: DeserializeOwned>(&mut self, config: &Value, key: &str) -> Option<T> {
        let value = config.get(key).filter(|value| !value.is_null())?;
        match typed(key, value.clone()) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }
}

/// Reads a value, and on failure says where under `path` the trouble is.
fn typed<T: DeserializeOwned>(path: &str, value: Value) -> Result<T, ConfigProblem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let path = match inner.as_str() {
            "." => path.to_owned(),
            inner => format!("{path}.{inner}"),
        };
        ConfigProblem::new(path, error.into_inner().to_string())
    })
}

#[cfg(test)]
mod tests;
