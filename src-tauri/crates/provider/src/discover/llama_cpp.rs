//! llama.cpp's server, which shares its port with half of all web projects: only one that
//! says who it is counts.

use serde_json::Value;

use super::Server;
use crate::{connection::listed_models, model::ModelInfo};

pub(super) async fn models(server: &Server<'_>) -> Option<Vec<ModelInfo>> {
    let list = server.list().await?;
    let items = list.get("data")?.as_array()?;
    let is_ours = |item: &Value| {
        item.get("owned_by")
            .is_some_and(|owner| owner == "llamacpp")
    };
    if !items.iter().any(is_ours) {
        return None;
    }
    let mut models = listed_models(server.provider, &list)?;
    let properties = server.native("/props").await.unwrap_or_default();
    let context = properties.pointer("/default_generation_settings/n_ctx");
    let trained = |id: &str| {
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
            .or_else(|| trained(&model.id));
        model.limits.context = context.unwrap_or(0);
        model.images = vision.unwrap_or(false);
        // The id is often the path of the file.
        if let Some((_, file)) = model.id.rsplit_once(['/', '\\']) {
            model.name = file.trim_end_matches(".gguf").to_owned();
        }
    }
    Some(models)
}
