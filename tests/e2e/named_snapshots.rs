//! The project's files are saved under a name and restored.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{open_with, project, run_action, send, until_answered};

#[tokio::test]
async fn a_named_snapshot_is_saved_and_restored() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([text("There are twelve beds.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let readme = garden.path().join("README.md");
    let before = fs::read_to_string(&readme)?;

    run_action(&window, "Take snapshot").await?;
    window.wait_for("[data-testid=snapshot-name]:focus").await?;
    window
        .type_text("[data-testid=snapshot-name]", "Before the rewrite")
        .await?;
    window.screenshot("snapshot").await?;
    window.press("Enter").await?;
    window.wait_gone("[data-testid=snapshot-dialog]").await?;
    window
        .wait_for_text(".snapshot", "Before the rewrite")
        .await?;

    let input = json!({ "filePath": "README.md", "content": "# Empty\n" });
    model.reply([call("read", json!({ "filePath": "README.md" }))]);
    model.reply([call("write", input)]);
    model.reply([text("It is empty now.")]);
    send(&window, "Empty the README").await?;
    until_answered(&window).await?;
    assert_ne!(fs::read_to_string(&readme)?, before);

    window.click("[data-testid=restore-snapshot]").await?;
    window.wait_for("[data-testid=review-confirm]").await?;
    window.screenshot("snapshot-restore").await?;
    window.click("[data-testid=confirm-take-back]").await?;
    window.wait_for("[data-testid=review-undo]:enabled").await?;
    assert_eq!(fs::read_to_string(&readme)?, before);
    window.close().await
}
