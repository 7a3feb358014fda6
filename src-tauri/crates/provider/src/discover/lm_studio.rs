//! LM Studio: its own list says more than the common one.

use serde_json::Value;

use super::Server;
use crate::{connection::is_for_text, model::ModelInfo};

pub(super) async fn models(server: &Server<'_>) -> Option<Vec<ModelInfo>> {
    let own = server.native("/api/v0/models").await;
    let described = own.as_ref().and_then(|list| list.get("data")?.as_array());
    let Some(described) = described else {
        return server.models().await;
    };
    let models = described.iter().filter(|item| is_for_text(item));
    Some(models.filter_map(|item| describe(server, item)).collect())
}

fn describe(server: &Server<'_>, item: &Value) -> Option<ModelInfo> {
    let mut model = ModelInfo::unknown(server.provider, item.get("id")?.as_str()?);
    let number = |key: &str| item.get(key).and_then(Value::as_u64);
    let context = number("loaded_context_length").or(number("max_context_length"));
    model.limits.context = context.unwrap_or(0);
    if let Some(kind) = item.get("type").and_then(Value::as_str) {
        model.images = kind == "vlm";
    }
    Some(model)
}
