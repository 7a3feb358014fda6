//! Which model answers, and how it is reached.

use futures::stream::BoxStream;
use lathe_protocol::ModelRef;
use lathe_provider::client::{Endpoint, ModelClient};
use lathe_provider::cost::cost;
use lathe_provider::{ModelInfo, ModelRequest, ProviderError, StreamEvent, Usage, WireKind};
use rust_decimal::prelude::ToPrimitive;
use tokio_util::sync::CancellationToken;

pub const DEMO: &str = "demo";

pub struct Models {
    client: ModelClient,
}

/// A model that can be asked.
pub struct OpenModel {
    pub info: ModelInfo,
    pub wire: WireKind,
    endpoint: Endpoint,
    client: ModelClient,
}

impl Models {
    pub fn new(client: ModelClient) -> Self {
        Models { client }
    }

    /// What answers when nobody chose.
    pub fn default(&self) -> ModelRef {
        ModelRef {
            provider_id: DEMO.to_owned(),
            model_id: DEMO.to_owned(),
        }
    }

    pub async fn open(&self, wanted: &ModelRef) -> Result<OpenModel, ProviderError> {
        let endpoint = Endpoint {
            name: "Demo".to_owned(),
            wire: WireKind::Demo,
            base_url: String::new(),
            key: None,
            needs_key: false,
            headers: Vec::new(),
        };
        let info = ModelInfo::unknown(&wanted.provider_id, &wanted.model_id);
        Ok(OpenModel {
            info,
            wire: WireKind::Demo,
            endpoint,
            client: self.client.clone(),
        })
    }
}

impl OpenModel {
    pub fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> BoxStream<'static, StreamEvent> {
        self.client
            .stream(&self.endpoint, &self.info, request, cancel)
    }

    /// In US dollars; nothing where the price is unknown.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let known = self
            .info
            .prices
            .as_ref()
            .and_then(|prices| cost(usage, prices).to_f64());
        known.unwrap_or(0.0)
    }
}
