//! From "provider/model" to what the client needs: endpoint, facts and options.

use std::time::Duration;

use lathe_protocol::ModelRef;
use serde_json::{Map, Value};

use crate::{
    catalog::{Catalog, ImageLimits, Model, Patience, Provider, Secret, UnknownModel},
    client::{Endpoint, Timeouts},
    config::{ModelConfig, merge},
    keys::Keys,
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
    wire::WireKind,
};

/// Provider and model of the built-in one.
const DEMO: &str = "demo";

/// A model that can be asked.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub endpoint: Endpoint,
    pub model: ModelInfo,
    pub timeouts: Timeouts,
    pub images: ImageLimits,
    options: Map<String, Value>,
    variant_options: Vec<(String, Map<String, Value>)>,
}

/// Looks the model up and finds its key. A missing key is no failure here: the client says
/// so when it is asked, as an error that people can act upon.
pub async fn resolve(
    catalog: &Catalog,
    keys: &Keys,
    wanted: &ModelRef,
) -> Result<Resolved, UnknownModel> {
    let (provider, model) = catalog.find(wanted)?;
    let key = find_key(provider, keys).await;
    Ok(Resolved::new(provider, model, key))
}

/// The model to use when nobody has chosen one: the config's, else that of the first
/// provider with a key, else one found on this machine, else the built-in one. A model that
/// config names wrongly is not replaced by another: asking it says what is wrong.
pub async fn default_model(catalog: &Catalog, config: &ModelConfig, keys: &Keys) -> ModelRef {
    if let Some(wanted) = &config.model {
        return wanted.clone();
    }
    let providers = catalog.providers();
    let with_keys = keys.list(providers).await;
    let has_key = |provider: &Provider| with_keys.iter().any(|entry| entry.provider == provider.id);
    let remote = providers
        .iter()
        .find(|provider| provider.default_model.is_some() && has_key(provider));
    let local = || {
        let mut local = providers.iter();
        local.find(|provider| {
            provider.is_local && provider.wire != WireKind::Demo && provider.default_model.is_some()
        })
    };
    let chosen = remote.or_else(local).and_then(|provider| {
        Some(ModelRef::new(
            provider.id.clone(),
            provider.default_model.clone()?,
        ))
    });
    chosen.unwrap_or_else(|| ModelRef::new(DEMO.to_owned(), DEMO.to_owned()))
}

/// The endpoint of a provider without a model in mind.
pub async fn endpoint_of(provider: &Provider, keys: &Keys) -> Endpoint {
    endpoint(provider, find_key(provider, keys).await)
}

async fn find_key(provider: &Provider, keys: &Keys) -> Option<ApiKey> {
    if provider.wire == WireKind::Demo {
        return None;
    }
    keys.find(provider).await.map(|found| found.key)
}

impl Resolved {
    fn new(provider: &Provider, model: Model, key: Option<ApiKey>) -> Self {
        let mut endpoint = endpoint(provider, key);
        if let Some(wire) = model.wire {
            endpoint.wire = wire;
        }
        if let Some(url) = model.base_url {
            endpoint.base_url = url;
        }
        endpoint.headers.extend(plain(&model.headers));
        Self {
            images: ImageLimits::of(endpoint.wire),
            timeouts: timeouts(provider.access.patience),
            endpoint,
            options: model.options,
            variant_options: model.variant_options.into_iter().collect(),
            model: model.info,
        }
    }

    /// Fills in what depends on the model: its id, the reasoning variant and the options
    /// of the config. A variant the model does not have is left out.
    pub fn prepare(&self, request: &mut ModelRequest, variant: Option<&str>) {
        request.model.clone_from(&self.model.wire_id);
        let mut options = self.options.clone();
        let known = |name: &&str| self.model.variants.iter().any(|known| known == name);
        request.reasoning = None;
        if let Some(name) = variant.filter(known) {
            let own = self.variant_options.iter().find(|(known, _)| known == name);
            match own {
                Some((_, own)) => merge(&mut options, own),
                None => request.reasoning = Some(name.to_owned()),
            }
        }
        merge(&mut options, &request.options);
        request.options = options;
    }
}

fn endpoint(provider: &Provider, key: Option<ApiKey>) -> Endpoint {
    let headers = plain(&provider.access.headers);
    let signed_in = headers.iter().any(|(name, _)| carries_key(name));
    Endpoint {
        name: provider.name.clone(),
        wire: provider.wire,
        base_url: provider.base_url.clone(),
        key,
        needs_key: !provider.is_local && !provider.key_env.is_empty() && !signed_in,
        headers,
    }
}

fn carries_key(header: &str) -> bool {
    matches!(
        header,
        "authorization" | "x-api-key" | "api-key" | "x-goog-api-key"
    )
}

fn plain(headers: &[(String, Secret)]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), value.0.clone()))
        .collect()
}

fn timeouts(patience: Option<Patience>) -> Timeouts {
    const ENDLESS: Duration = Duration::from_secs(24 * 60 * 60);
    let silence = match patience {
        None => return Timeouts::default(),
        Some(Patience::Millis(millis)) => Duration::from_millis(millis.max(1)),
        Some(Patience::Endless) => ENDLESS,
    };
    Timeouts {
        first_byte: silence,
        idle: silence,
        ..Timeouts::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{
        catalog::parse_model_ref,
        keys::{Keyring, KeyringError},
    };

    struct NoKeyring;

    impl Keyring for NoKeyring {
        fn read(&self, _: &str) -> Result<Option<ApiKey>, KeyringError> {
            Ok(None)
        }
        fn write(&self, _: &str, _: &ApiKey) -> Result<(), KeyringError> {
            Ok(())
        }
        fn remove(&self, _: &str) -> Result<(), KeyringError> {
            Ok(())
        }
    }

    /// With one key in the environment, if any.
    fn keys(variable: &'static str) -> Keys {
        let patience = Duration::from_secs(60);
        let env = Box::new(move |name: &str| (name == variable).then(|| "k".to_owned()));
        let nowhere = std::path::Path::new("nowhere");
        Keys::with(nowhere, env, Arc::new(NoKeyring), patience)
    }

    async fn resolved(config: Value, wanted: &str) -> Resolved {
        let keys = keys("");
        let (catalog, problems) = Catalog::built_in().with_config(&ModelConfig::read(&config));
        assert_eq!(problems, []);
        let wanted = parse_model_ref(wanted).unwrap();
        resolve(&catalog, &keys, &wanted).await.unwrap()
    }

    #[tokio::test]
    async fn a_configured_model_is_reached_as_config_says() {
        let config = json!({"provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "https://mock.example/v1", "apiKey": "k", "headers": {"X-A": "1"}, "timeout": 1500},
            "models": {"m": {
                "id": "wire-m", "headers": {"X-B": "2"}, "options": {"seed": 7},
                "provider": {"npm": "@ai-sdk/anthropic", "api": "https://mock.example/anthropic"},
            }},
        }}});
        let resolved = resolved(config, "mock/m").await;
        let endpoint = &resolved.endpoint;
        assert_eq!(endpoint.wire, WireKind::Anthropic);
        assert_eq!(endpoint.base_url, "https://mock.example/anthropic");
        assert_eq!(endpoint.key, ApiKey::new("k"));
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(endpoint.headers, [header("x-a", "1"), header("x-b", "2")]);
        assert!(!endpoint.needs_key);
        assert_eq!(resolved.timeouts.idle, Duration::from_millis(1500));
        let mut request = ModelRequest::new("");
        resolved.prepare(&mut request, None);
        assert_eq!(request.model, "wire-m");
        assert_eq!(json!(request.options), json!({"seed": 7}));
    }

    #[tokio::test]
    async fn a_provider_without_a_key_is_known_to_need_one_and_a_local_server_is_not() {
        let needs =
            |id: &'static str| async move { resolved(json!({}), id).await.endpoint.needs_key };
        assert!(needs("anthropic/claude-opus-5").await);
        assert!(!needs("ollama/anything").await);
        assert!(!needs("demo/demo").await);
        let signed = json!({"provider": {"openai": {"options": {"headers": {"Authorization": "Bearer x"}}}}});
        assert!(!resolved(signed, "openai/gpt-5").await.endpoint.needs_key);
    }

    #[tokio::test]
    async fn a_variant_is_effort_or_options_and_an_unknown_one_is_nothing() {
        let variant = |id: &'static str, name: &'static str| async move {
            let mut request = ModelRequest::new("");
            resolved(json!({}), id)
                .await
                .prepare(&mut request, Some(name));
            (request.reasoning, json!(request.options))
        };
        let effort = Some("high".to_owned());
        assert_eq!(variant("openai/gpt-5", "high").await, (effort, json!({})));
        assert_eq!(
            variant("zai/glm-5", "none").await,
            (None, json!({"thinking": {"type": "disabled"}}))
        );
        assert_eq!(variant("openai/gpt-5", "gone").await, (None, json!({})));
    }

    #[tokio::test]
    async fn without_a_choice_the_first_usable_provider_answers_and_at_last_the_built_in() {
        let chosen = |config: Value, variable: &'static str| async move {
            let config = ModelConfig::read(&config);
            let (catalog, _) = Catalog::built_in().with_config(&config);
            let model = default_model(&catalog, &config, &keys(variable)).await;
            format!("{}/{}", model.provider_id, model.model_id)
        };
        assert_eq!(chosen(json!({}), "").await, "demo/demo");
        assert_eq!(
            chosen(json!({}), "MISTRAL_API_KEY").await,
            "mistral/devstral-latest"
        );
        let wanted = json!({"model": "openai/gpt-5"});
        assert_eq!(chosen(wanted, "MISTRAL_API_KEY").await, "openai/gpt-5");
        // Asked, it says that there is no such model; nobody else is asked in its place.
        let gone = json!({"model": "openai/gpt-1"});
        assert_eq!(chosen(gone, "MISTRAL_API_KEY").await, "openai/gpt-1");
        let local = json!({"provider": {"ollama": {"models": {"qwen3:8b": {}}}}});
        assert_eq!(chosen(local, "").await, "ollama/qwen3:8b");
    }
}
