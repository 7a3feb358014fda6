//! Ollama: the list of models, then a request per model for its capabilities.

use futures::future::join_all;
use serde_json::{Value, json};

use super::{Server, TIMEOUT};
use crate::{
    connection::is_text_model,
    model::{ModelInfo, common_variants},
};

/// How many models are queried for details; few users have more.
const MAX_DETAILED: usize = 40;

pub(super) async fn models(server: &Server<'_>) -> Option<Vec<ModelInfo>> {
    let list = server.get_native("/api/tags").await?;
    let names = list.get("models")?.as_array()?;
    let mut models: Vec<ModelInfo> = names
        .iter()
        .filter(|item| is_text_model(item))
        .filter_map(|item| item.get("name")?.as_str())
        .map(|name| ModelInfo::unknown(server.provider, name))
        .collect();
    let requests = models
        .iter()
        .take(MAX_DETAILED)
        .map(|model| fetch_details(server, &model.id));
    let details = join_all(requests).await;
    for (model, details) in models.iter_mut().zip(details) {
        if let Some(details) = details {
            apply_details(model, &details);
        }
    }
    Some(models)
}

async fn fetch_details(server: &Server<'_>, name: &str) -> Option<Value> {
    let url = format!("{}/api/show", server.native.base_url);
    let http = server.client.http_for(&url).ok()?;
    let request = http
        .post(url)
        .json(&json!({ "model": name }))
        .timeout(TIMEOUT);
    request.send().await.ok()?.json().await.ok()
}

fn apply_details(model: &mut ModelInfo, details: &Value) {
    let configured = details
        .get("parameters")
        .and_then(Value::as_str)
        .and_then(configured_context);
    let trained = details
        .get("model_info")
        .and_then(Value::as_object)
        .and_then(|info| {
            let mut entries = info.iter();
            let (_, length) = entries.find(|(key, _)| key.ends_with(".context_length"))?;
            length.as_u64()
        });
    // The server uses the configured context, even if the model was trained for more.
    model.limits.context = configured.or(trained).unwrap_or(0);
    if let Some(capabilities) = details.get("capabilities").and_then(Value::as_array) {
        let has = |name: &str| capabilities.iter().any(|known| known == name);
        model.tools = has("tools");
        model.images = has("vision");
        model.reasoning = has("thinking");
        if model.reasoning {
            model.variants = common_variants();
        }
    }
}

/// The value of a line like `num_ctx 8192`.
fn configured_context(parameters: &str) -> Option<u64> {
    parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == "num_ctx").then(|| words.next()?.parse().ok())?
    })
}
