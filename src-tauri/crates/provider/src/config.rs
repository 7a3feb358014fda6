//! The part of the user's config that concerns providers and models.
//!
//! The format is that of the `provider`, `model`, `small_model`, `disabled_providers` and
//! `enabled_providers` keys of an `opencode.json`. This module must not know which files there
//! are and how they are merged. An invalid entry is skipped and reported; the others still apply.

mod block;
mod jsonc;
mod options;
mod packages;
mod substitution;

use std::fmt;

use lathe_protocol::ModelRef;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use self::options::{merge, to_body};
pub use self::{
    block::{ModelBlock, ProviderBlock, TierBlock},
    jsonc::{JsoncError, parse_jsonc},
    substitution::Substitution,
};
use crate::catalog::parse_model_ref;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelConfig {
    /// In the order of the file.
    pub providers: Vec<(String, ProviderBlock)>,
    pub model: Option<ModelRef>,
    pub small_model: Option<ModelRef>,
    pub disabled: Vec<String>,
    /// If set, only these are offered.
    pub enabled: Option<Vec<String>>,
    pub problems: Vec<ConfigProblem>,
}

/// An invalid entry of the config, for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigProblem {
    /// The keys that lead to the entry, joined by dots.
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

impl ModelConfig {
    /// Reads these keys from a whole config and ignores all others.
    pub fn read(config: &Value) -> Self {
        let mut parsed = Self::default();
        parsed.model = parsed.model_ref(config, "model");
        parsed.small_model = parsed.model_ref(config, "small_model");
        parsed.disabled = parsed
            .optional(config, "disabled_providers")
            .unwrap_or_default();
        parsed.enabled = parsed.optional(config, "enabled_providers");
        let providers: Map<String, Value> = parsed.optional(config, "provider").unwrap_or_default();
        for (id, entry) in providers {
            match ProviderBlock::parse(&id, entry, &mut parsed.problems) {
                Ok(block) => parsed.providers.push((id, block)),
                Err(problem) => parsed.problems.push(problem),
            }
        }
        parsed
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
        match deserialize(key, value.clone()) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }
}

/// Deserializes a value; an error names the exact place below `path`.
fn deserialize<T: DeserializeOwned>(path: &str, value: Value) -> Result<T, ConfigProblem> {
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
