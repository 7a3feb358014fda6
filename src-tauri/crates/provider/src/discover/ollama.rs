//! Ollama: its list, then what each model can do.

use futures::future::join_all;
use serde_json::{Value, json};

use super::{PATIENCE, Server};
use crate::{connection::is_for_text, model::ModelInfo};

/// More models than anybody picks from; the rest are listed without details.
const DETAILED: usize = 40;

pub(super) async fn models(server: &Server<'_>) -> Option<Vec<ModelInfo>> {
    let list = server.native("/api/tags").await?;
    let names = list.get("models")?.as_array()?;
    let mut models: Vec<ModelInfo> = names
        .iter()
        .filter(|item| is_for_text(item))
        .filter_map(|item| item.get("name")?.as_str())
        .map(|name| ModelInfo::unknown(server.provider, name))
        .collect();
    let asked = models
        .iter()
        .take(DETAILED)
        .map(|model| show(server, &model.id));
    let details = join_all(asked).await;
    for (model, details) in models.iter_mut().zip(details) {
        if let Some(details) = details {
            describe(model, &details);
        }
    }
    Some(models)
}

async fn show(server: &Server<'_>, name: &str) -> Option<Value> {
    let url = format!("{}/api/show", server.native.base_url);
    let http = server.client.http_for(&url).ok()?;
    let asked = http
        .post(url)
        .json(&json!({ "model": name }))
        .timeout(PATIENCE);
    asked.send().await.ok()?.json().await.ok()
}

fn describe(model: &mut ModelInfo, details: &Value) {
    let chosen = details
        .get("parameters")
        .and_then(Value::as_str)
        .and_then(chosen_context);
    let trained = details
        .get("model_info")
        .and_then(Value::as_object)
        .and_then(|info| {
            let mut facts = info.iter();
            let (_, length) = facts.find(|(key, _)| key.ends_with(".context_length"))?;
            length.as_u64()
        });
    // What the server was told to keep counts, not what the model could.
    model.limits.context = chosen.or(trained).unwrap_or(0);
    if let Some(can) = details.get("capabilities").and_then(Value::as_array) {
        let can = |name: &str| can.iter().any(|known| known == name);
        model.tools = can("tools");
        model.images = can("vision");
        model.reasoning = can("thinking");
        if model.reasoning {
            model.variants = ["low", "medium", "high"].map(str::to_owned).to_vec();
        }
    }
}

/// `num_ctx 8192` among the lines of parameters.
fn chosen_context(parameters: &str) -> Option<u64> {
    parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == "num_ctx").then(|| words.next()?.parse().ok())?
    })
}
