//! A tool server is added in the settings and called by the model.

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{close_settings, open_settings, open_with, project, send, until_answered};

const SERVER: &str = "[data-server=bench]";

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-server");

#[tokio::test]
async fn a_server_is_added_used_switched_off_and_removed() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = open_with(&model, &garden).await?;
    open_settings(&window, "mcp").await?;
    window.click("[data-testid=add-mcp]").await?;
    window.press("Enter").await?;
    window
        .wait_for("[data-testid=mcp-form] .settings-wrong")
        .await?;
    window
        .type_text("[data-testid=mcp-form] [placeholder=notes]", "bench")
        .await?;
    let command = format!("\"{PROGRAM}\"");
    window
        .type_text("[data-testid=mcp-form] [placeholder^=npx]", &command)
        .await?;
    window.press("Enter").await?;
    window
        .wait_for(&format!("{SERVER}[data-status=ready]"))
        .await?;
    window.wait_for_text(".mcp-status", "Ready").await?;
    window.screenshot("mcp-ready").await?;
    close_settings(&window).await?;

    model.reply([call("bench_echo", json!({ "text": "tulips" }))]);
    let answered = model.reply([text("It said tulips.")]);
    send(&window, "Ask the server").await?;
    until_answered(&window).await?;
    let results = format!("{:?}", answered.request());
    assert!(results.contains("tulips"), "{results}");

    open_settings(&window, "mcp").await?;
    window.click(&format!("{SERVER} .switch")).await?;
    window
        .wait_for(&format!("{SERVER}[data-status=off]"))
        .await?;
    let remove =
        "document.querySelector('[data-server=bench] [aria-label=\"Remove bench\"]').click()";
    window.value_of(remove, Value::Null).await?;
    let confirm = "[...document.querySelectorAll('[data-server=bench] .settings-actions button')]\
                   .find((one) => one.textContent.trim() === 'Remove')";
    window.wait_until("the question", confirm).await?;
    window
        .value_of(&format!("{confirm}.click()"), Value::Null)
        .await?;
    window.wait_gone(SERVER).await?;
    window.close().await
}
