//! One entry of the `provider` block, with its models.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value};

use super::{ConfigProblem, deserialize, packages};
use crate::{
    catalog::{ConfiguredTimeout, Secret},
    secret::ApiKey,
    wire::WireKind,
};

/// The config of a provider; `None` keeps the catalog's value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderBlock {
    pub name: Option<String>,
    pub wire: Option<WireKind>,
    pub base_url: Option<String>,
    pub key: Option<ApiKey>,
    pub key_env: Option<Vec<String>>,
    pub headers: Vec<(String, Secret)>,
    pub timeout: Option<ConfiguredTimeout>,
    pub models: Vec<(String, ModelBlock)>,
    pub only_models: Option<Vec<String>>,
    pub without_models: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ModelBlock {
    /// The model's id in the provider's API.
    pub id: Option<String>,
    pub name: Option<String>,
    pub limit: Option<LimitBlock>,
    pub cost: Option<CostBlock>,
    pub modalities: Option<Modalities>,
    pub attachment: Option<bool>,
    pub reasoning: Option<bool>,
    pub tool_call: Option<bool>,
    pub interleaved: Option<Interleaved>,
    pub options: Map<String, Value>,
    #[serde(deserialize_with = "secret_headers")]
    pub headers: Vec<(String, Secret)>,
    /// In the order of the file.
    pub variants: Map<String, Value>,
    pub provider: Option<ModelProvider>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LimitBlock {
    pub context: Option<u64>,
    pub input: Option<u64>,
    pub output: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct CostBlock {
    #[serde(flatten)]
    pub base: TierBlock,
    pub context_over_200k: Option<TierBlock>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct TierBlock {
    #[serde(default)]
    pub input: Decimal,
    #[serde(default)]
    pub output: Decimal,
    pub cache_read: Option<Decimal>,
    pub cache_write: Option<Decimal>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Modalities {
    pub input: Vec<String>,
}

/// The field in which the model wants its earlier reasoning back, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interleaved(pub Option<String>);

impl<'de> Deserialize<'de> for Interleaved {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match (&value, value.get("field").and_then(Value::as_str)) {
            (Value::Bool(true), _) => Ok(Self(Some("reasoning_content".to_owned()))),
            (Value::Bool(false), _) => Ok(Self(None)),
            (_, Some(field)) => Ok(Self(Some(field.to_owned()))),
            _ => Err(D::Error::custom("expected true, false or a field")),
        }
    }
}

/// For a model that its provider serves over another API than its other models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ModelProvider {
    pub npm: Option<String>,
    pub wire: Option<WireKind>,
    pub api: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawProvider {
    npm: Option<String>,
    wire: Option<WireKind>,
    name: Option<String>,
    api: Option<String>,
    env: Option<Vec<String>>,
    options: RawOptions,
    models: Map<String, Value>,
    whitelist: Option<Vec<String>>,
    blacklist: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawOptions {
    #[serde(rename = "baseURL")]
    base_url: Option<String>,
    #[serde(rename = "apiKey")]
    api_key: Option<String>,
    #[serde(deserialize_with = "secret_headers")]
    headers: Vec<(String, Secret)>,
    #[serde(deserialize_with = "timeout")]
    timeout: Option<ConfiguredTimeout>,
    organization: Option<String>,
    project: Option<String>,
}

impl ProviderBlock {
    /// An invalid model is skipped and reported.
    pub(super) fn parse(
        id: &str,
        entry: Value,
        problems: &mut Vec<ConfigProblem>,
    ) -> Result<Self, ConfigProblem> {
        let path = format!("provider.{id}");
        let raw: RawProvider = deserialize(&path, entry)?;
        let wire = wire(&path, raw.wire, raw.npm.as_deref())?;
        let base_url = raw.options.base_url.clone().or(raw.api);
        let base_url = base_url.map(|url| checked_url(&path, &url)).transpose()?;
        let mut models = Vec::new();
        for (model, entry) in raw.models {
            match ModelBlock::parse(&format!("{path}.models.{model}"), entry) {
                Ok(block) => models.push((model, block)),
                Err(problem) => problems.push(problem),
            }
        }
        Ok(Self {
            name: raw.name,
            wire,
            base_url,
            key: raw.options.api_key.as_deref().and_then(ApiKey::new),
            key_env: raw.env,
            timeout: raw.options.timeout,
            headers: headers(raw.options),
            models,
            only_models: raw.whitelist,
            without_models: raw.blacklist,
        })
    }
}

impl ModelBlock {
    fn parse(path: &str, entry: Value) -> Result<Self, ConfigProblem> {
        let mut block: Self = deserialize(path, entry)?;
        let Some(provider) = &mut block.provider else {
            return Ok(block);
        };
        let own_path = format!("{path}.provider");
        provider.wire = wire(&own_path, provider.wire, provider.npm.as_deref())?;
        if let Some(url) = provider.api.take() {
            provider.api = Some(checked_url(path, &url)?);
        }
        Ok(block)
    }

    /// Whether the model accepts this kind of input; `None` if the config does not say.
    pub(crate) fn accepts(&self, kind: &str) -> Option<bool> {
        let listed = |modalities: &Modalities| modalities.input.iter().any(|input| input == kind);
        self.modalities.as_ref().map(listed).or(match kind {
            "image" => self.attachment,
            _ => None,
        })
    }
}

/// The wire, given directly or by the npm package that speaks it.
fn wire(
    path: &str,
    wire: Option<WireKind>,
    npm: Option<&str>,
) -> Result<Option<WireKind>, ConfigProblem> {
    let (None, Some(npm)) = (wire, npm) else {
        return Ok(wire);
    };
    let wire = packages::wire_for(npm).ok_or_else(|| {
        let message = format!("the API of {npm} is not one of those spoken here");
        ConfigProblem::new(format!("{path}.npm"), message)
    })?;
    Ok(Some(wire))
}

fn checked_url(path: &str, url: &str) -> Result<String, ConfigProblem> {
    let url = url.trim().trim_end_matches('/');
    let host = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .unwrap_or_default();
    if host.is_empty() || host.starts_with('/') {
        let message = format!("expected an http or https address, found {url:?}");
        return Err(ConfigProblem::new(
            format!("{path}.options.baseURL"),
            message,
        ));
    }
    Ok(url.to_owned())
}

fn timeout<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ConfiguredTimeout>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    match (&value, value.as_u64()) {
        (Value::Null | Value::Bool(true), _) => Ok(None),
        (Value::Bool(false), _) => Ok(Some(ConfiguredTimeout::Never)),
        (_, Some(millis)) => Ok(Some(ConfiguredTimeout::Millis(millis))),
        _ => Err(D::Error::custom("expected milliseconds or false")),
    }
}

fn headers(options: RawOptions) -> Vec<(String, Secret)> {
    let named = [
        ("openai-organization", options.organization),
        ("openai-project", options.project),
    ];
    let named = named
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), Secret(value?))));
    named.chain(options.headers).collect()
}

fn secret_headers<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, Secret)>, D::Error> {
    let map = Option::<BTreeMap<String, String>>::deserialize(deserializer)?;
    let headers = map.unwrap_or_default().into_iter();
    Ok(headers
        .map(|(name, value)| (name.to_ascii_lowercase(), Secret(value)))
        .collect())
}
