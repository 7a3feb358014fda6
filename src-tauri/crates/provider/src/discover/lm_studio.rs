//! LM Studio. The list of its own API has more details than the compatible one.

use serde_json::Value;

use super::Server;
use crate::{connection::is_text_model, model::ModelInfo};

pub(super) async fn models(server: &Server<'_>) -> Option<Vec<ModelInfo>> {
    let list = server.get_native("/api/v0/models").await;
    let items = list.as_ref().and_then(|list| list.get("data")?.as_array());
    let Some(items) = items else {
        return server.models().await;
    };
    let models = items.iter().filter(|item| is_text_model(item));
    Some(
        models
            .filter_map(|item| parse_model(server, item))
            .collect(),
    )
}

fn parse_model(server: &Server<'_>, item: &Value) -> Option<ModelInfo> {
    let mut model = ModelInfo::unknown(server.provider, item.get("id")?.as_str()?);
    let number = |key: &str| item.get(key).and_then(Value::as_u64);
    let context = number("loaded_context_length").or(number("max_context_length"));
    model.limits.context = context.unwrap_or(0);
    if let Some(kind) = item.get("type").and_then(Value::as_str) {
        model.images = kind == "vlm";
    }
    Some(model)
}
