//! llama.cpp's server. Its port is a common one for web projects, so the server must identify
//! itself.

use serde_json::Value;

use super::Server;
use crate::{connection::parse_model_list, model::ModelInfo};

pub(super) async fn models(server: &Server<'_>) -> Option<Vec<ModelInfo>> {
    let list = server.list().await?;
    let items = list.get("data")?.as_array()?;
    let is_llama_cpp = |item: &Value| {
        item.get("owned_by")
            .is_some_and(|owner| owner == "llamacpp")
    };
    if !items.iter().any(is_llama_cpp) {
        return None;
    }
    let mut models = parse_model_list(server.provider, &list)?;
    let properties = server.get_native("/props").await.unwrap_or_default();
    let context = properties.pointer("/default_generation_settings/n_ctx");
    let training_context = |id: &str| {
        let item = items
            .iter()
            .find(|item| item.get("id").is_some_and(|known| known == id))?;
        item.pointer("/meta/n_ctx_train")?.as_u64()
    };
    let vision = properties
        .pointer("/modalities/vision")
        .and_then(Value::as_bool);
    for model in &mut models {
        let context = context
            .and_then(Value::as_u64)
            .or_else(|| training_context(&model.id));
        model.limits.context = context.unwrap_or(0);
        model.images = vision.unwrap_or(false);
        // The id is often the path of the file.
        if let Some((_, file)) = model.id.rsplit_once(['/', '\\']) {
            model.name = file.trim_end_matches(".gguf").to_owned();
        }
    }
    Some(models)
}
