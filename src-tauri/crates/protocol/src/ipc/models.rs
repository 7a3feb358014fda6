//! Models and API keys, as the model picker and the settings page show them.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Count;
use crate::message::ModelRef;

/// All configured providers and their models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ModelList {
    pub providers: Vec<ProviderView>,
    /// The model that is used when the user has chosen none.
    pub default: ModelRef,
    /// Parts of the config that could not be used, described for the user.
    pub problems: Vec<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ProviderView {
    pub id: String,
    pub name: String,
    /// A server on this machine.
    pub local: bool,
    /// It can be used now: it has a key or needs none.
    pub ready: bool,
    pub needs_key: bool,
    pub key: Option<KeyView>,
    /// Environment variables that may hold the key.
    pub key_env: Vec<String>,
    /// The web page where the user gets a key.
    pub key_page: Option<String>,
    pub models: Vec<ModelView>,
}

/// An API key. Only its last characters are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct KeyView {
    pub hint: String,
    /// Such as `config`, `ANTHROPIC_API_KEY`, `keyring` or `file`.
    pub source: String,
    /// We store this key, so the user can remove it here.
    pub stored: bool,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ModelView {
    pub id: String,
    pub name: String,
    /// The size of the context in tokens; 0 if unknown.
    pub context: Count,
    pub output: Count,
    pub images: bool,
    pub pdf: bool,
    pub tools: bool,
    pub reasoning: bool,
    /// Levels of reasoning effort, weakest first.
    pub variants: Vec<String>,
    /// Absent if unknown, which does not mean free.
    pub price: Option<PriceView>,
}

/// US dollars per million tokens.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct PriceView {
    pub input: f64,
    pub output: f64,
    /// The price of input beyond 200,000 tokens.
    pub long_input: Option<f64>,
    pub long_output: Option<f64>,
}

/// The result of a connection test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ConnectionReport {
    pub ok: bool,
    /// One sentence to show to the user.
    pub message: String,
}
