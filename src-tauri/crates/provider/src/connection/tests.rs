use axum::{
    Json, Router,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use super::*;
use crate::{
    client::Timeouts, demo::DemoPace, error::FailureCause, secret::ApiKey, test_server::serve,
};

fn client() -> ModelClient {
    ModelClient::new(Timeouts::default(), DemoPace::Instant)
}

fn endpoint(base_url: String, wire: WireKind) -> Endpoint {
    Endpoint {
        name: "Mock".to_owned(),
        wire,
        base_url,
        key: ApiKey::new("sk-canary-0123456789"),
        needs_key: true,
        headers: vec![("x-team".to_owned(), "blue".to_owned())],
    }
}

async fn test(
    endpoint: &Endpoint,
    model: Option<&ModelInfo>,
) -> Result<ConnectionTest, ProviderError> {
    test_connection(&client(), "mock", endpoint, model).await
}

#[tokio::test]
async fn a_valid_key_lists_the_models() {
    let guarded = |request: Request| async move {
        let header = |name: &str| request.headers().get(name).cloned();
        assert_eq!(header("x-team").unwrap(), "blue");
        assert_eq!(header("anthropic-version").unwrap(), "2023-06-01");
        match header("x-api-key") {
            Some(key) if key == "sk-canary-0123456789" => {
                Json(json!({"data": [{"id": "m"}]})).into_response()
            }
            _ => StatusCode::UNAUTHORIZED.into_response(),
        }
    };
    let url = serve(Router::new().route("/v1/models", get(guarded))).await;
    let good = endpoint(url.clone(), WireKind::Anthropic);
    assert_eq!(
        test(&good, None).await,
        Ok(ConnectionTest {
            models: vec![ModelInfo::unknown("mock", "m")]
        })
    );
    let mut bad = endpoint(url, WireKind::Anthropic);
    bad.key = ApiKey::new("wrong");
    let refused = test(&bad, None).await;
    assert!(
        matches!(refused, Err(ProviderError::Auth { .. })),
        "{refused:?}"
    );
    bad.key = None;
    let missing = test(&bad, None).await;
    assert!(
        matches!(missing, Err(ProviderError::Auth { .. })),
        "{missing:?}"
    );
}

#[tokio::test]
async fn an_echoed_key_is_redacted() {
    let echo = |request: Request| async move {
        let key = request.headers()["authorization"]
            .to_str()
            .unwrap()
            .to_owned();
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("no such key: {key}"),
        )
            .into_response()
    };
    let url = serve(Router::new().route("/v1/models", get(echo))).await;
    let error = test(&endpoint(url, WireKind::OpenaiChat), None)
        .await
        .unwrap_err();
    let printed = format!("{error:?} {error}");
    assert!(
        printed.contains("[redacted]") && !printed.contains("canary"),
        "{printed}"
    );
}

#[tokio::test]
async fn a_server_that_cannot_list_models_is_asked_for_a_token() {
    let answer = || async {
        let chunk = r#"data: {"choices":[{"delta":{"content":"H"},"finish_reason":"length"}]}"#;
        Response::new(format!("{chunk}\n\ndata: [DONE]\n\n"))
    };
    let url = serve(Router::new().route("/v1/chat/completions", post(answer))).await;
    let endpoint = endpoint(url, WireKind::OpenaiChat);
    let model = ModelInfo::unknown("mock", "m");
    let empty = ConnectionTest { models: Vec::new() };
    assert_eq!(test(&endpoint, Some(&model)).await, Ok(empty));
    assert!(test(&endpoint, None).await.is_err());
}

#[tokio::test]
async fn a_closed_port_is_a_connection_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let error = test(&endpoint(url, WireKind::Gemini), None)
        .await
        .unwrap_err();
    let ProviderError::Api(failure) = error else {
        panic!("an API error: {error:?}");
    };
    assert_eq!(failure.cause, FailureCause::Connection);
}
