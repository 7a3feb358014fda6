//! MCP servers over HTTP.

use lathe_protocol::ipc::McpStatus;
use lathe_test_support::app::{until, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::mcp_server::{HttpServer, McpServer};
use serde_json::{Value, json};

use super::{app_that_allows_all, app_with, progress, wait_for_status, wait_until_ready};

fn remote(server: &HttpServer, headers: Value) -> Value {
    json!({ "mcp": { "web": { "type": "remote", "url": server.url(), "headers": headers } } })
}

#[tokio::test]
async fn a_tool_over_http_is_called_with_the_headers_that_are_set() {
    let http = HttpServer::start(McpServer::new("Repeats."), Some("k1")).await;
    let model = FakeModel::start().await;
    model.reply([call("web_echo", json!({ "text": "hello" }))]);
    let second = model.reply([text("done")]);
    let config = remote(
        &http,
        json!({ "Authorization": "Bearer k1", "X-Team": "blue" }),
    );
    let app = app_that_allows_all(&model, config).await;
    app.ask("say hello").await;
    assert_eq!(second.request().tool_output("web_echo"), "hello");
    let headers = http.headers();
    assert!(headers.len() >= 3);
    assert!(
        headers
            .iter()
            .all(|one| one.get("x-team").map(String::as_str) == Some("blue")),
        "{headers:?}"
    );
}

#[tokio::test]
async fn without_its_key_a_server_says_what_it_needs_and_the_key_is_not_revealed() {
    let http = HttpServer::start(McpServer::new("Repeats."), Some("k1")).await;
    let model = FakeModel::start().await;
    let app = app_with(
        &model,
        remote(&http, json!({ "Authorization": "Bearer wrong-canary" })),
    )
    .await;
    let view = wait_for_status(&app, McpStatus::Failed).await;
    let error = view.error.clone().unwrap_or_default();
    assert!(error.contains("Authorization header"), "{error}");
    assert!(!json!(view).to_string().contains("wrong-canary"));
}

#[tokio::test]
async fn progress_arrives_over_http_and_an_abort_is_sent() {
    let http = HttpServer::start(McpServer::new("Repeats."), None).await;
    let model = FakeModel::start().await;
    model.reply([call("web_slow", json!({}))]);
    let app = app_that_allows_all(&model, remote(&http, json!({}))).await;
    let mut events = app.sessions.subscribe();
    app.send("take your time").await;
    until(&mut events, |event| progress(event).is_some()).await;
    app.sessions.abort(&app.session.id).await;
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.calls().await, ["web_slow: error"]);
    model.reply([call("web_heard", json!({}))]);
    let last = model.reply([text("once")]);
    app.ask("how often were you stopped?").await;
    assert_eq!(last.request().tool_output("web_heard"), "1");
}

#[tokio::test]
async fn a_missing_server_fails_and_so_does_one_that_disappears() {
    let http = HttpServer::start(McpServer::new("Repeats."), None).await;
    let model = FakeModel::start().await;
    model.reply([call("web_echo", json!({ "text": "hello" }))]);
    let second = model.reply([text("oh")]);
    let app = app_that_allows_all(&model, remote(&http, json!({}))).await;
    wait_until_ready(&app).await;
    http.stop();
    app.ask("say hello").await;
    let error = second.request().tool_error("web_echo").to_owned();
    assert!(error.contains("lost"), "{error}");
    wait_for_status(&app, McpStatus::Failed).await;

    app.sessions.mcp().restart("web").await.unwrap();
    let view = wait_for_status(&app, McpStatus::Failed).await;
    assert!(view.error.is_some());
}
