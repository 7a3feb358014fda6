//! MCP servers through the session core: programs and HTTP servers, working and failing.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod http_servers;
mod real_servers;
mod server_lifecycle;
mod tool_calls;

use std::time::Duration;

use lathe_protocol::ipc::{McpServerView, McpStatus};
use lathe_protocol::{Action, Event, Part, ToolPart, ToolState};
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::FakeModel;
use serde_json::{Value, json};

const WIRE: WireKind = WireKind::OpenaiChat;
const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-server");

/// A config with the test server as a local program, under the name `s`.
fn local() -> Value {
    json!({ "mcp": { "s": { "type": "local", "command": [PROGRAM] } } })
}

async fn app_with(model: &FakeModel, config: Value) -> TestApp {
    TestApp::with_config(model, WIRE, config).await
}

/// The same, with its tools allowed.
async fn app_that_allows_all(model: &FakeModel, config: Value) -> TestApp {
    app_with(model, config).await.rule("*", "*", Action::Allow)
}

/// Waits until the only server has this status.
async fn wait_for_status(app: &TestApp, status: McpStatus) -> McpServerView {
    let mut changes = app.sessions.mcp().changes();
    let waiting = async {
        loop {
            let mut servers = app.sessions.mcp().list();
            assert_eq!(servers.len(), 1);
            let server = servers.remove(0);
            if server.status == status {
                return server;
            }
            changes.changed().await.unwrap();
        }
    };
    let outcome = tokio::time::timeout(Duration::from_secs(60), waiting).await;
    outcome.unwrap_or_else(|_| panic!("it stays {:?}", app.sessions.mcp().list()))
}

async fn wait_until_ready(app: &TestApp) -> McpServerView {
    wait_for_status(app, McpStatus::Ready).await
}

async fn only_call(app: &TestApp) -> ToolPart {
    let messages = app.messages().await;
    let parts = messages.into_iter().flat_map(|message| message.parts);
    let mut tools: Vec<_> = parts
        .filter_map(|part| match part {
            Part::Tool(tool) => Some(tool),
            _ => None,
        })
        .collect();
    assert_eq!(tools.len(), 1);
    tools.remove(0)
}

/// The progress of a running call.
fn progress(event: &Event) -> Option<Value> {
    let Event::MessagePartUpdated(updated) = event else {
        return None;
    };
    match &updated.part {
        Part::Tool(tool) => match tool.state() {
            ToolState::Running(running) => running.metadata.as_ref()?.get("progress").cloned(),
            _ => None,
        },
        _ => None,
    }
}
