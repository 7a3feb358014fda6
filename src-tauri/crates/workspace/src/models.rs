//! The models that can be used, their providers and keys.

use std::sync::Arc;

use futures::stream::BoxStream;
use lathe_protocol::ModelRef;
pub use lathe_provider::ApiKey;
pub use lathe_provider::WireKind;
pub use lathe_provider::catalog::{Catalog, ImageLimits, Model, Provider};
use lathe_provider::client::ModelClient;
use lathe_provider::config::{ConfigProblem, ModelConfig};
use lathe_provider::connection::{ConnectionTest, test_connection};
use lathe_provider::cost::cost;
use lathe_provider::discover::discover;
pub use lathe_provider::keys::{KeyEntry, KeyError, KeySource, Keys};
use lathe_provider::resolve::{ResolvedModel, default_model, resolve, resolve_endpoint};
use lathe_provider::{
    ApiFailure, Limits, ModelInfo, ModelRequest, ProviderError, StreamEvent, Usage,
};
use parking_lot::{Mutex, RwLock};
pub use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub const DEMO: &str = "demo";

pub struct Models {
    client: ModelClient,
    keys: Keys,
    catalog: RwLock<Arc<Catalog>>,
    config: ModelConfig,
    /// The source of `config`, to compare it with another.
    value: Value,
    /// Model servers on this machine, discovered since the start.
    discovered: Mutex<Vec<Provider>>,
    problems: Vec<ConfigProblem>,
}

impl Models {
    pub fn new(client: ModelClient, keys: Keys, value: Value) -> Self {
        let config = ModelConfig::read(&value);
        let (catalog, problems) = Catalog::built_in().with_config(&config);
        let catalog = RwLock::new(Arc::new(catalog));
        Models {
            client,
            keys,
            catalog,
            config,
            value,
            discovered: Mutex::default(),
            problems,
        }
    }

    /// The same keys and discovered servers with another config; `self` if the config is equal.
    pub fn with_config(self: &Arc<Self>, value: Value) -> Arc<Self> {
        if self.value == value {
            return self.clone();
        }
        let models = Models::new(self.client.clone(), self.keys.clone(), value);
        models.add_discovered(self.discovered.lock().clone());
        Arc::new(models)
    }

    /// The number of discovered servers, to notice that a cached setup is out of date.
    pub fn discovered_count(&self) -> usize {
        self.discovered.lock().len()
    }

    fn add_discovered(&self, found: Vec<Provider>) {
        if !found.is_empty() {
            let mut catalog = Catalog::clone(&self.catalog());
            catalog.add_discovered(found.clone());
            *self.catalog.write() = Arc::new(catalog);
            self.discovered.lock().extend(found);
        }
    }

    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.read().clone()
    }

    /// Problems in the model config.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }

    /// The model to use when neither prompt nor agent names one.
    pub async fn default(&self) -> ModelRef {
        default_model(&self.catalog(), &self.config, &self.keys).await
    }

    pub async fn open(&self, wanted: &ModelRef) -> Result<OpenModel, ProviderError> {
        let resolved = resolve(&self.catalog(), &self.keys, wanted).await;
        let resolved = resolved
            .map_err(|unknown| ProviderError::Api(ApiFailure::malformed(unknown.to_string())))?;
        let client = self.client.with_timeouts(resolved.timeouts);
        Ok(OpenModel { resolved, client })
    }

    /// The context and output limits of a model; zeros where they are unknown.
    pub fn limits(&self, model: &ModelRef) -> Limits {
        let catalog = self.catalog();
        let found = catalog.find(model);
        found.map_or_else(|_| Limits::default(), |(_, model)| model.info.limits)
    }

    /// Discovers model servers on this machine and adds them to the catalog.
    pub async fn discover_local_servers(&self) {
        let found = discover(&self.client, &self.catalog()).await;
        self.add_discovered(found);
    }

    pub async fn keys(&self) -> Vec<KeyEntry> {
        self.keys.list(self.catalog().providers()).await
    }

    /// The values of all keys, so that they can be redacted.
    pub async fn secrets(&self) -> Vec<ApiKey> {
        let found = self.keys.find_all(self.catalog().providers()).await;
        found.into_iter().map(|(_, found)| found.key).collect()
    }

    pub async fn set_key(&self, provider: &str, key: ApiKey) -> Result<(), KeyError> {
        self.keys.set(provider, key).await.map(drop)
    }

    pub async fn remove_key(&self, provider: &str) -> Result<(), KeyError> {
        self.keys.remove(provider).await
    }

    /// Tests the connection to a provider with its stored key.
    pub async fn test(&self, provider: &str) -> Result<ConnectionTest, ProviderError> {
        let catalog = self.catalog();
        let Some(provider) = catalog.provider(provider) else {
            let message = format!("Unknown provider: {provider}");
            return Err(ProviderError::Api(ApiFailure::malformed(message)));
        };
        let endpoint = resolve_endpoint(provider, &self.keys).await;
        let model = provider.models.first().map(|model| &model.info);
        test_connection(&self.client, &provider.id, &endpoint, model).await
    }
}

/// A model with its endpoint and client, ready for requests.
pub struct OpenModel {
    resolved: ResolvedModel,
    client: ModelClient,
}

impl OpenModel {
    pub fn info(&self) -> &ModelInfo {
        &self.resolved.model
    }

    pub fn wire(&self) -> WireKind {
        self.resolved.endpoint.wire
    }

    pub fn images(&self) -> ImageLimits {
        self.resolved.images
    }

    /// Fills in the parameters that depend on the model.
    pub fn prepare(&self, request: &mut ModelRequest, variant: Option<&str>) {
        self.resolved.prepare(request, variant);
    }

    /// The JSON body that the provider would get; `None` for the built-in demo model.
    pub fn body(&self, request: &ModelRequest) -> Option<Value> {
        let codec = self.wire().codec()?;
        Some(codec.encode(request, self.info()).body.to_value())
    }

    pub fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> BoxStream<'static, StreamEvent> {
        let ResolvedModel {
            endpoint, model, ..
        } = &self.resolved;
        self.client.stream(endpoint, model, request, cancel)
    }

    /// In US dollars; zero where the price is unknown.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let prices = self.info().prices.as_ref();
        prices
            .and_then(|prices| cost(usage, prices).to_f64())
            .unwrap_or(0.0)
    }
}
