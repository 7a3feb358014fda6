//! A session leaves the program: as a page, as a file; and its files are kept under a name.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::steps::{
    open_as, open_with, options, project, run_action, send, stand_in, until_answered,
};

const TOAST: &str = "[data-testid=toast]";

async fn talked(model: &FakeModel, garden: &TempDir) -> Result<Window, WindowError> {
    model.reply([text("There are twelve beds.")]);
    let window = open_with(model, garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    Ok(window)
}

#[tokio::test]
async fn a_session_is_shared_as_a_page_and_taken_back() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = talked(&model, &garden).await?;
    let page = garden.path().join("shared.html");

    run_action(&window, "Share session").await?;
    window.wait_for("[data-testid=share-now]:focus").await?;
    window.screenshot("share").await?;
    window.click("[data-testid=share-now]").await?;
    window.pick_path("^Share as a page$", &page).await?;
    window
        .wait_for_text("[data-testid=share-place]", "shared.html")
        .await?;
    window.screenshot("shared").await?;
    let written = fs::read_to_string(&page)?;
    assert!(written.contains("There are twelve beds."), "{written}");
    assert!(!written.contains("<script"), "{written}");

    window.click("[data-testid=unshare]").await?;
    window.wait_gone("[data-testid=share-dialog]").await?;
    window.wait_gone("[data-testid=shared]").await?;
    assert!(!page.exists());
    window.close().await
}

#[tokio::test]
async fn a_shared_page_opens_in_the_browser() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut options = options(&model, &garden, json!("allow"))?;
    // What the desktop opens things with.
    let programs = tempfile::tempdir()?;
    let opened = stand_in(&mut options, &programs, "xdg-open")?;
    model.reply([text("There are twelve beds.")]);
    let window = open_as(options, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let page = garden.path().join("shared.html");

    run_action(&window, "Share session").await?;
    window.click("[data-testid=share-now]").await?;
    window.pick_path("^Share as a page$", &page).await?;
    window
        .wait_for_text("[data-testid=share-place]", "shared.html")
        .await?;
    window
        .click("[data-testid=share-place] [aria-label=Open]")
        .await?;
    window.wait_for_file(&opened, "shared.html").await?;
    window.press("Escape").await?;
    window.close().await
}

#[tokio::test]
async fn a_session_is_saved_as_a_file_and_read_again() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = talked(&model, &garden).await?;
    let file = garden.path().join("session.json");

    run_action(&window, "Export session").await?;
    window.pick_path("^Export the session$", &file).await?;
    window.wait_for_text(TOAST, "was saved").await?;
    let written: Value = serde_json::from_slice(&fs::read(&file)?).unwrap_or_default();
    assert!(written.to_string().contains("There are twelve beds."));

    window.press("Control+l").await?;
    run_action(&window, "Import session").await?;
    window.pick_path("^Import a session$", &file).await?;
    window
        .wait_until(
            "a word on what was imported",
            "document.querySelectorAll('[data-testid=toast]').length > 1",
        )
        .await?;
    window.close().await
}

#[tokio::test]
async fn the_files_are_kept_under_a_name_and_brought_back() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = talked(&model, &garden).await?;
    let readme = garden.path().join("README.md");
    let before = fs::read_to_string(&readme)?;

    run_action(&window, "Keep a snapshot").await?;
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
    window.wait_for("[data-testid=review-undo]").await?;
    assert_eq!(fs::read_to_string(&readme)?, before);
    window.close().await
}
