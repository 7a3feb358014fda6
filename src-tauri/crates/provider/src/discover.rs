//! Finds model servers on this machine by querying their usual ports.
//!
//! All are queried at once and with a short timeout, because most do not exist. No server is
//! started, and the only request is the one for the list of models.

mod llama_cpp;
mod lm_studio;
mod ollama;

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::{
    catalog::{Catalog, Model, Origin, Provider},
    client::{Endpoint, ModelClient},
    connection::{get, parse_model_list},
    model::{ModelInfo, PriceTier, Prices},
    wire::WireKind,
};

/// An existing server on this machine answers within a few milliseconds.
const TIMEOUT: Duration = Duration::from_millis(800);

/// The local servers in the catalog that answer, each with its models.
pub async fn discover(client: &ModelClient, catalog: &Catalog) -> Vec<Provider> {
    let local = catalog.providers().iter().filter(|provider| {
        provider.is_local && provider.accepts_any_model && provider.wire == WireKind::OpenaiChat
    });
    let queries = local.map(|provider| query(client, provider));
    join_all(queries).await.into_iter().flatten().collect()
}

async fn query(client: &ModelClient, provider: &Provider) -> Option<Provider> {
    let server = Server::new(client, provider);
    let mut models = match provider.id.as_str() {
        "ollama" => ollama::models(&server).await,
        "lmstudio" => lm_studio::models(&server).await,
        "llama.cpp" => llama_cpp::models(&server).await,
        _ => server.models().await,
    }?;
    models.iter_mut().for_each(set_free);
    let mut found = provider.clone();
    found.origin = Origin::Discovered;
    found.default_model = models.first().map(|model| model.id.clone());
    found.models = models.into_iter().map(Model::new).collect();
    Some(found)
}

fn set_free(model: &mut ModelInfo) {
    model.prices = Some(Prices {
        base: PriceTier::default(),
        over_200k: None,
    });
}

/// A server that may be running.
struct Server<'a> {
    client: &'a ModelClient,
    provider: &'a str,
    /// The OpenAI-compatible API; its base URL usually ends in `/v1`.
    compatible: Endpoint,
    /// The server's own API, without `/v1`.
    native: Endpoint,
}

impl<'a> Server<'a> {
    fn new(client: &'a ModelClient, provider: &'a Provider) -> Self {
        let compatible = Endpoint {
            name: provider.name.clone(),
            wire: provider.wire,
            base_url: provider.base_url.clone(),
            key: provider.access.key.clone(),
            needs_key: false,
            headers: Vec::new(),
        };
        let root = compatible.base_url.trim_end_matches("/v1").to_owned();
        let native = Endpoint {
            base_url: root,
            ..compatible.clone()
        };
        Self {
            client,
            provider: &provider.id,
            compatible,
            native,
        }
    }

    async fn models(&self) -> Option<Vec<ModelInfo>> {
        parse_model_list(self.provider, &self.list().await?)
    }

    /// The list from the compatible API.
    async fn list(&self) -> Option<Value> {
        get(self.client, &self.compatible, "/models", TIMEOUT)
            .await
            .ok()
    }

    /// A GET request to the server's own API.
    async fn get_native(&self, path: &str) -> Option<Value> {
        get(self.client, &self.native, path, TIMEOUT).await.ok()
    }
}

#[cfg(test)]
mod tests;
