//! Links open in the browser, paths in the editor.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{
    close_settings, open_as, open_settings, options, project, record_calls_of, send, until_answered,
};

#[tokio::test]
async fn a_match_opens_in_the_editor_of_the_settings_at_its_line() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut options = options(&model, &garden, json!("allow"))?;
    let programs = tempfile::tempdir()?;
    let called = record_calls_of(&mut options, &programs, "code")?;
    model.reply([call("grep", json!({ "pattern": "12 beds" }))]);
    model.reply([text("One line counts them.")]);
    let window = open_as(options, &garden).await?;
    open_settings(&window, "tools").await?;
    window
        .click_text(".settings-choice label", "Visual Studio Code")
        .await?;
    close_settings(&window).await?;

    send(&window, "Where are the beds counted?").await?;
    until_answered(&window).await?;
    window.click("[data-tool=grep] .card-head").await?;
    window.click_text(".match-line", "12 beds").await?;
    window.wait_for_file(&called, "src/main.rs:2").await?;
    let place = garden.path().join("src/main.rs");
    let calls = fs::read_to_string(&called)?;
    assert_eq!(calls, format!("--goto {}:2\n", place.display()));
    window.close().await
}

#[tokio::test]
async fn only_web_and_mail_links_open() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut options = options(&model, &garden, json!("allow"))?;
    let programs = tempfile::tempdir()?;
    let called = record_calls_of(&mut options, &programs, "xdg-open")?;
    model.reply([text(
        "[the docs](https://example.org/tulips?bed=1), [a trap](javascript:document.title='gone'), \
         [a file](file:///etc/passwd), [a letter](mailto:gardener@example.org)",
    )]);
    let window = open_as(options, &garden).await?;
    send(&window, "Where can I read on?").await?;
    until_answered(&window).await?;

    const FOLLOW: &str = "([...document.querySelectorAll('.assistant-message a')]\
                          .find((one) => one.textContent === given)?.click(), true)";
    for words in ["the docs", "a trap", "a file", "a letter"] {
        window.value_of(FOLLOW, json!(words)).await?;
    }
    window.wait_for_file(&called, "example.org").await?;
    window.wait_for_file(&called, "mailto:").await?;
    let mut calls: Vec<_> = fs::read_to_string(&called)?
        .lines()
        .map(str::to_owned)
        .collect();
    calls.sort();
    let expected = [
        "https://example.org/tulips?bed=1",
        "mailto:gardener@example.org",
    ];
    assert_eq!(calls, expected);
    let title = window.value_of("document.title", Value::Null).await?;
    assert_ne!(title, json!("gone"));
    window.close().await
}

#[tokio::test]
async fn a_pdf_that_the_agent_read_opens_with_the_system_viewer() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    fs::write(garden.path().join("guide.pdf"), "%PDF-1.4\n%%EOF\n")?;
    let mut options = options(&model, &garden, json!("allow"))?;
    let programs = tempfile::tempdir()?;
    let opened = record_calls_of(&mut options, &programs, "xdg-open")?;
    model.reply([call("read", json!({ "filePath": "guide.pdf" }))]);
    model.reply([text("Read.")]);
    let window = open_as(options, &garden).await?;
    send(&window, "Read the guide").await?;
    until_answered(&window).await?;
    window.click("[data-tool=read] .card-head").await?;
    window.click("[data-tool=read] .file-act").await?;
    window.wait_for_file(&opened, ".pdf").await?;
    window.close().await
}
