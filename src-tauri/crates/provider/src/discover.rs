//! Model servers on this machine, found by asking their usual ports.
//!
//! Asked all at once and with little patience: most are not there. Nothing is started and
//! nothing is sent but the question which models there are.

mod llama_cpp;
mod lm_studio;
mod ollama;

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::{
    catalog::{Catalog, Model, Origin, Provider},
    client::{Endpoint, ModelClient},
    connection::{get, listed_models},
    model::{ModelInfo, PriceTier, Prices},
    wire::WireKind,
};

/// A server on this machine that is there answers in a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(800);

/// The local servers of the catalog that answer, each with its models.
pub async fn discover(client: &ModelClient, catalog: &Catalog) -> Vec<Provider> {
    let local = catalog.providers().iter().filter(|provider| {
        provider.is_local && provider.is_open && provider.wire == WireKind::OpenaiChat
    });
    let asked = local.map(|provider| ask(client, provider));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(client: &ModelClient, provider: &Provider) -> Option<Provider> {
    let server = Server::of(client, provider);
    let mut models = match provider.id.as_str() {
        "ollama" => ollama::models(&server).await,
        "lmstudio" => lm_studio::models(&server).await,
        "llama.cpp" => llama_cpp::models(&server).await,
        _ => server.models().await,
    }?;
    models.iter_mut().for_each(make_free);
    let mut found = provider.clone();
    found.origin = Origin::Discovered;
    found.default_model = models.first().map(|model| model.id.clone());
    found.models = models.into_iter().map(Model::new).collect();
    Some(found)
}

fn make_free(model: &mut ModelInfo) {
    model.prices = Some(Prices {
        base: PriceTier::default(),
        over_200k: None,
    });
}

/// One server that may be there.
struct Server<'a> {
    client: &'a ModelClient,
    provider: &'a str,
    /// Ends in `/v1` as a rule.
    compatible: Endpoint,
    /// The same without it, for the server's own API.
    native: Endpoint,
}

impl<'a> Server<'a> {
    fn of(client: &'a ModelClient, provider: &'a Provider) -> Self {
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
        listed_models(self.provider, &self.list().await?)
    }

    /// The list of the common API.
    async fn list(&self) -> Option<Value> {
        get(self.client, &self.compatible, "/models", PATIENCE)
            .await
            .ok()
    }

    /// Something of the server's own API.
    async fn native(&self, path: &str) -> Option<Value> {
        get(self.client, &self.native, path, PATIENCE).await.ok()
    }
}

#[cfg(test)]
mod tests;
