//! Resolves "provider/model" to what the client needs: endpoint, model properties and options.

use std::time::Duration;

use lathe_protocol::ModelRef;
use serde_json::{Map, Value};

use crate::{
    catalog::{Catalog, ConfiguredTimeout, ImageLimits, Model, Provider, Secret, UnknownModel},
    client::{Endpoint, Timeouts},
    config::{ModelConfig, merge},
    keys::Keys,
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
    wire::WireKind,
};

/// The id of the built-in provider and of its model.
const DEMO: &str = "demo";

/// A model with everything needed to send a request to it.
#[derive(Debug, Clone)]
pub struct ResolvedModel {
    pub endpoint: Endpoint,
    pub model: ModelInfo,
    pub timeouts: Timeouts,
    pub images: ImageLimits,
    options: Map<String, Value>,
    variant_options: Vec<(String, Map<String, Value>)>,
}

/// Finds the model and its key. A missing key is not an error here: the client reports it when
/// the model is used, as an error that the user can act on.
pub async fn resolve(
    catalog: &Catalog,
    keys: &Keys,
    wanted: &ModelRef,
) -> Result<ResolvedModel, UnknownModel> {
    let (provider, model) = catalog.find(wanted)?;
    let key = find_key(provider, keys).await;
    Ok(ResolvedModel::new(provider, model, key))
}

/// The model to use when the user has chosen none: the config's, else that of the first provider
/// with a key, else one found on this machine, else the built-in one. An unknown model in the
/// config is not replaced by another one, so that using it reports the mistake.
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

/// The endpoint of a provider, independent of a model.
pub async fn resolve_endpoint(provider: &Provider, keys: &Keys) -> Endpoint {
    endpoint(provider, find_key(provider, keys).await)
}

async fn find_key(provider: &Provider, keys: &Keys) -> Option<ApiKey> {
    if provider.wire == WireKind::Demo {
        return None;
    }
    keys.find(provider).await.map(|found| found.key)
}

impl ResolvedModel {
    fn new(provider: &Provider, model: Model, key: Option<ApiKey>) -> Self {
        let mut endpoint = endpoint(provider, key);
        if let Some(wire) = model.wire {
            endpoint.wire = wire;
        }
        if let Some(url) = model.base_url {
            endpoint.base_url = url;
        }
        endpoint.headers.extend(expose(&model.headers));
        Self {
            images: ImageLimits::for_wire(endpoint.wire),
            timeouts: timeouts(provider.access.timeout),
            endpoint,
            options: model.options,
            variant_options: model.variant_options.into_iter().collect(),
            model: model.info,
        }
    }

    /// Sets the fields that depend on the model: its id, the reasoning variant and the options
    /// of the config. A variant that the model does not have is ignored.
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
    let headers = expose(&provider.access.headers);
    let has_key_header = headers.iter().any(|(name, _)| is_key_header(name));
    Endpoint {
        name: provider.name.clone(),
        wire: provider.wire,
        base_url: provider.base_url.clone(),
        key,
        needs_key: !provider.is_local && !provider.key_env.is_empty() && !has_key_header,
        headers,
    }
}

fn is_key_header(header: &str) -> bool {
    matches!(
        header,
        "authorization" | "x-api-key" | "api-key" | "x-goog-api-key"
    )
}

fn expose(headers: &[(String, Secret)]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), value.0.clone()))
        .collect()
}

fn timeouts(configured: Option<ConfiguredTimeout>) -> Timeouts {
    const ONE_DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let limit = match configured {
        None => return Timeouts::default(),
        Some(ConfiguredTimeout::Millis(millis)) => Duration::from_millis(millis.max(1)),
        Some(ConfiguredTimeout::Never) => ONE_DAY,
    };
    Timeouts {
        first_byte: limit,
        idle: limit,
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

    /// With a key in this environment variable.
    fn keys(variable: &'static str) -> Keys {
        let timeout = Duration::from_secs(60);
        let env = Box::new(move |name: &str| (name == variable).then(|| "k".to_owned()));
        let nowhere = std::path::Path::new("nowhere");
        Keys::with(nowhere, env, Arc::new(NoKeyring), timeout)
    }

    async fn resolved(config: Value, wanted: &str) -> ResolvedModel {
        let keys = keys("");
        let (catalog, problems) = Catalog::built_in().with_config(&ModelConfig::read(&config));
        assert_eq!(problems, []);
        let wanted = parse_model_ref(wanted).unwrap();
        resolve(&catalog, &keys, &wanted).await.unwrap()
    }

    #[tokio::test]
    async fn a_configured_model_has_the_endpoint_and_options_of_the_config() {
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
    async fn a_remote_provider_needs_a_key_and_a_local_server_does_not() {
        let needs =
            |id: &'static str| async move { resolved(json!({}), id).await.endpoint.needs_key };
        assert!(needs("anthropic/claude-opus-5").await);
        assert!(!needs("ollama/anything").await);
        assert!(!needs("demo/demo").await);
        let signed = json!({"provider": {"openai": {"options": {"headers": {"Authorization": "Bearer x"}}}}});
        assert!(!resolved(signed, "openai/gpt-5").await.endpoint.needs_key);
    }

    #[tokio::test]
    async fn a_variant_is_an_effort_or_options_and_an_unknown_one_is_ignored() {
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
    async fn the_default_is_the_first_usable_provider_and_at_last_the_built_in_model() {
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
        // An unknown model is not replaced: using it reports that it does not exist.
        let unknown = json!({"model": "openai/gpt-1"});
        assert_eq!(chosen(unknown, "MISTRAL_API_KEY").await, "openai/gpt-1");
        let local = json!({"provider": {"ollama": {"models": {"qwen3:8b": {}}}}});
        assert_eq!(chosen(local, "").await, "ollama/qwen3:8b");
    }
}
