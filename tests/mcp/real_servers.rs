//! MCP servers from the npm registry. Only with `LATHE_REAL_MCP=1` (`cargo xtask test
//! --real-mcp`), because they are downloaded.

use serde_json::{Value, json};

use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, call, text};

use super::{app_that_allows_all, wait_until_ready};

fn wanted() -> bool {
    std::env::var_os("LATHE_REAL_MCP").is_some()
}

fn npx(package: &str, arguments: &[&str]) -> Value {
    let command: Vec<_> = ["npx", "-y", package]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    json!({ "mcp": { "real": { "type": "local", "command": command, "timeout": 120_000 } } })
}

/// Calls one tool and returns the result that the model gets.
async fn call_tool(app: &TestApp, model: &FakeModel, tool: &str, input: Value) -> String {
    model.reply([call(tool, input)]);
    let second = model.reply([text("done")]);
    app.ask("go").await;
    second.request().tool_output(tool).to_owned()
}

#[tokio::test]
async fn server_everything_answers() {
    if !wanted() {
        return;
    }
    let model = FakeModel::start().await;
    let app =
        app_that_allows_all(&model, npx("@modelcontextprotocol/server-everything", &[])).await;
    let view = wait_until_ready(&app).await;
    assert!(view.tools.len() >= 5, "{:?}", view.tools);
    let echo = call_tool(&app, &model, "real_echo", json!({ "message": "hello" })).await;
    assert!(echo.contains("hello"), "{echo}");
    let resources = app.sessions.mcp().resources(&app.project.id).await;
    assert!(!resources.is_empty());
    let uri = &resources[0].uri;
    app.sessions
        .mcp()
        .read(&app.project.id, "real", uri)
        .await
        .unwrap();
    app.sessions.close().await;
}

#[tokio::test]
async fn server_filesystem_reads_a_file() {
    if !wanted() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let file = root.join("a file.txt");
    std::fs::write(&file, "thirty-one").unwrap();
    let model = FakeModel::start().await;
    let server = npx(
        "@modelcontextprotocol/server-filesystem",
        &[&root.to_string_lossy()],
    );
    let app = app_that_allows_all(&model, server).await;
    wait_until_ready(&app).await;
    let read = call_tool(&app, &model, "real_read_text_file", json!({ "path": file })).await;
    assert_eq!(read, "thirty-one");
    app.sessions.close().await;
}
