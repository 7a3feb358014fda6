//! A session is shared as a page, exported to a file and imported again.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::steps::{
    open_as, open_with, options, project, record_calls_of, run_action, send, until_answered,
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
async fn a_session_is_shared_as_a_page_and_unshared() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = talked(&model, &garden).await?;
    let page = garden.path().join("shared.html");

    run_action(&window, "Share session").await?;
    window.wait_for("[data-testid=share-now]:focus").await?;
    window.screenshot("share").await?;
    window.click("[data-testid=share-now]").await?;
    window.pick_path("^Save page$", &page).await?;
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
    // The program with which the desktop opens files.
    let programs = tempfile::tempdir()?;
    let opened = record_calls_of(&mut options, &programs, "xdg-open")?;
    model.reply([text("There are twelve beds.")]);
    let window = open_as(options, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let page = garden.path().join("shared.html");

    run_action(&window, "Share session").await?;
    window.click("[data-testid=share-now]").await?;
    window.pick_path("^Save page$", &page).await?;
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
async fn a_session_is_exported_and_imported_again() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = talked(&model, &garden).await?;
    let file = garden.path().join("session.json");

    run_action(&window, "Export session").await?;
    window.pick_path("^Export session$", &file).await?;
    window.wait_for_text(TOAST, "exported").await?;
    let written: Value = serde_json::from_slice(&fs::read(&file)?).unwrap_or_default();
    assert!(written.to_string().contains("There are twelve beds."));

    window.press("Control+l").await?;
    run_action(&window, "Import session").await?;
    window.pick_path("^Import session$", &file).await?;
    window
        .wait_until(
            "a word on what was imported",
            "document.querySelectorAll('[data-testid=toast]').length > 1",
        )
        .await?;
    window.close().await
}
