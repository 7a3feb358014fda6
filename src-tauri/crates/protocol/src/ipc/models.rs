//! Models and keys, as the picker and the settings page show them.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Count;
use crate::message::ModelRef;

/// Everything one could talk to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ModelList {
    pub providers: Vec<ProviderView>,
    /// What answers when nobody chose.
    pub default: ModelRef,
    /// What in the config could not be used, for people to read.
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
    /// It can be asked now: it has a key, or needs none.
    pub ready: bool,
    pub needs_key: bool,
    pub key: Option<KeyView>,
    /// Environment variables that may hold the key.
    pub key_env: Vec<String>,
    /// Where a person gets a key.
    pub key_page: Option<String>,
    pub models: Vec<ModelView>,
}

/// A key is shown by its last characters only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct KeyView {
    pub hint: String,
    /// Such as `config`, `ANTHROPIC_API_KEY`, `keyring` or `file`.
    pub source: String,
    /// It is kept by us and can be removed here.
    pub stored: bool,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ModelView {
    pub id: String,
    pub name: String,
    /// Tokens it can hold; 0 where nobody knows.
    pub context: Count,
    pub output: Count,
    pub images: bool,
    pub pdf: bool,
    pub tools: bool,
    pub reasoning: bool,
    /// How hard it may think, weakest first.
    pub variants: Vec<String>,
    /// Nothing where nobody knows, which is not the same as free.
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
    /// Costs more past 200,000 tokens of input.
    pub long_input: Option<f64>,
    pub long_output: Option<f64>,
}

/// What came of testing a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ConnectionReport {
    pub ok: bool,
    /// One sentence for a person.
    pub message: String,
}
