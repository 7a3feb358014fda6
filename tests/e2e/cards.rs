//! What a tool did, looked at closely.

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{COMPOSER, open_with, project, send, until_answered, wait_written};

async fn worked(model: &FakeModel, garden: &TempDir) -> Result<Window, WindowError> {
    let command = json!({ "command": "printf 'one\\ntwo\\n'", "description": "Say two lines" });
    model.reply([call("bash", command)]);
    let file = json!({ "filePath": "new.txt", "content": "tulips\n" });
    model.reply([call("write", file)]);
    model.reply([text("Done.")]);
    let window = open_with(model, garden).await?;
    send(&window, "Work").await?;
    until_answered(&window).await?;
    Ok(window)
}

/// Whether a card shows more than its head.
fn body(tool: &str) -> String {
    format!("[data-tool={tool}] .card-body")
}

fn head(tool: &str) -> String {
    format!("[data-tool={tool}] .card-head")
}

#[tokio::test]
async fn a_card_opens_with_what_was_done_and_closes_again() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = worked(&model, &garden).await?;
    window
        .wait_for("[data-tool=write][data-status=completed]")
        .await?;
    assert_eq!(window.count(&body("write")).await?, 0);

    window.click(&head("write")).await?;
    let added = format!("{} .diff-line[data-kind=add]", body("write"));
    window.wait_for_text(&added, "tulips").await?;
    window.screenshot("card-write").await?;
    window.press("Enter").await?;
    window.wait_gone(&body("write")).await?;
    window.press("Space").await?;
    window.wait_for_text(&added, "tulips").await?;
    window.close().await
}

#[tokio::test]
async fn what_a_step_used_shows_when_the_mouse_is_over_it() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = worked(&model, &garden).await?;
    const MARK: &str = ".step-line[data-reason=tool-calls]";
    let opacity = "getComputedStyle(document.querySelector(given)).opacity";
    window.hover(COMPOSER).await?;
    let hidden = format!("{opacity} === '0'");
    window
        .wait_until_with("a quiet mark", &hidden, json!(MARK))
        .await?;
    window.hover(&head("bash")).await?;
    let shown = format!("{opacity} === '1'");
    window
        .wait_until_with("the mark", &shown, json!(MARK))
        .await?;
    window.screenshot("step-mark").await?;
    let said = window.text(MARK).await?;
    assert!(said.contains("in") && said.contains("out"), "{said}");
    let title = window
        .value_of("document.querySelector(given).title", json!(MARK))
        .await?;
    assert!(
        title.as_str().unwrap_or_default().contains("cache"),
        "{title}"
    );
    window.close().await
}

#[tokio::test]
async fn a_command_and_its_output_are_copied() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = worked(&model, &garden).await?;
    if window.count(&body("bash")).await? == 0 {
        window.click(&head("bash")).await?;
    }
    window.wait_for_text(&body("bash"), "two").await?;
    window.screenshot("card-bash").await?;

    for (button, copied) in [
        ("Copy command", "printf 'one\\ntwo\\n'"),
        ("Copy output", "one\ntwo\n"),
    ] {
        window
            .click(&format!("{} [aria-label='{button}']", body("bash")))
            .await?;
        window
            .wait_for(&format!("{} [aria-label=Copied]", body("bash")))
            .await?;
        window.click(COMPOSER).await?;
        window.press("Control+a").await?;
        window.press("Control+v").await?;
        wait_written(&window, copied).await?;
        window
            .wait_gone(&format!("{} [aria-label=Copied]", body("bash")))
            .await?;
    }
    window.close().await
}
