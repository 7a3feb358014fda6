use axum::{
    Json, Router,
    routing::{get, post},
};
use serde_json::json;

use super::*;
use crate::{client::Timeouts, config::ModelConfig, demo::DemoPace, test_server::serve};

/// The address of a closed port.
fn closed_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

async fn discover_at(ollama: String, lm_studio: String, llama_cpp: String) -> Vec<Provider> {
    let at = |url: String| json!({"options": {"baseURL": url}});
    let config = json!({"provider": {
        "ollama": at(ollama), "lmstudio": at(lm_studio), "llama.cpp": at(llama_cpp),
    }});
    let (catalog, problems) = Catalog::built_in().with_config(&ModelConfig::read(&config));
    assert_eq!(problems, []);
    let client = ModelClient::new(Timeouts::default(), DemoPace::Instant);
    discover(&client, &catalog).await
}

#[tokio::test]
async fn each_server_is_found_with_its_models_and_their_capabilities() {
    let show = |Json(request): Json<Value>| async move {
        Json(match request["model"].as_str() {
            Some("qwen3:8b") => json!({
                "parameters": "stop \"x\"\nnum_ctx                        8192",
                "model_info": {"qwen3.context_length": 40_960},
                "capabilities": ["completion", "tools", "thinking"],
            }),
            _ => json!({
                "model_info": {"gemma.context_length": 131_072},
                "capabilities": ["completion", "vision"],
            }),
        })
    };
    let tags = Json(json!({"models": [
        {"name": "qwen3:8b"}, {"name": "gemma3:4b"}, {"name": "nomic-embed-text:latest"},
    ]}));
    let ollama = Router::new()
        .route("/api/tags", get(|| async { tags }))
        .route("/api/show", post(show));
    let listed = Json(json!({"data": [
        {"id": "a-vlm", "type": "vlm", "loaded_context_length": 4096, "max_context_length": 32_768},
        {"id": "vectors", "type": "embeddings"},
    ]}));
    let lm_studio = Router::new().route("/api/v0/models", get(|| async { listed }));
    let listed = Json(json!({"object": "list", "data": [
        {"id": "/models/smol.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}},
    ]}));
    let properties = Json(json!({
        "default_generation_settings": {"n_ctx": 2048}, "modalities": {"vision": true},
    }));
    let llama_cpp = Router::new()
        .route("/v1/models", get(|| async { listed }))
        .route("/props", get(|| async { properties }));

    let found = discover_at(
        serve(ollama).await,
        serve(lm_studio).await,
        serve(llama_cpp).await,
    )
    .await;

    let models: Vec<&ModelInfo> = found
        .iter()
        .flat_map(|provider| &provider.models)
        .map(|model| &model.info)
        .collect();
    insta::assert_json_snapshot!("found_models", models);
    assert!(
        found
            .iter()
            .all(|provider| provider.origin == Origin::Discovered)
    );
}

#[tokio::test]
async fn another_web_server_on_the_same_port_is_ignored() {
    let listed = Json(json!({"data": [{"id": "user", "owned_by": "me"}]}));
    let project = Router::new().route("/v1/models", get(|| async { listed }));
    let page = Router::new().fallback(|| async { "<html>" });
    let found = discover_at(serve(page).await, closed_port(), serve(project).await).await;
    assert_eq!(found, []);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_ignored() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    assert_eq!(discover_at(url, closed_port(), closed_port()).await, []);
}
