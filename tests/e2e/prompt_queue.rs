//! Prompts that wait while the agent works.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{ANSWER, open_with, project, send, until_answered};

const QUEUED: &str = ".user-message[data-queued]";

#[tokio::test]
async fn waiting_prompts_can_be_edited_and_removed() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let command = "while [ ! -e go ]; do sleep 0.05; done";
    let input = json!({ "command": command, "description": "Wait for the sun" });
    model.reply([call("bash", input)]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Begin").await?;
    window
        .wait_for("[data-tool=bash][data-status=running]")
        .await?;

    send(&window, "Then water").await?;
    window.wait_for_text(QUEUED, "Then water").await?;
    window.click("[aria-label='Edit queued prompt']").await?;
    window.wait_for(".queued-editor textarea:focus").await?;
    window.press("Control+a").await?;
    window
        .type_text(".queued-editor textarea", "Then weed, see @README.md")
        .await?;
    window.screenshot("queued").await?;
    window.press("Enter").await?;
    window.wait_for_text(QUEUED, "Then weed").await?;
    send(&window, "And forget this").await?;
    window
        .click("[data-last] [aria-label='Remove queued prompt']")
        .await?;
    window
        .wait_until_with(
            "one that waits",
            "document.querySelectorAll(given).length === 1",
            json!(QUEUED),
        )
        .await?;

    let answered = model.reply([text("Weeded.")]);
    fs::write(garden.path().join("go"), "")?;
    window.wait_for_text(ANSWER, "Weeded.").await?;
    window.wait_gone(QUEUED).await?;
    let asked = answered.request().user_text();
    for (words, there) in [
        ("Then weed", true),
        ("Counts beds and plants", true),
        ("Then water", false),
        ("forget", false),
    ] {
        assert_eq!(asked.contains(words), there, "{words}: {asked}");
    }
    until_answered(&window).await?;
    window.close().await
}

#[tokio::test]
async fn a_prompt_that_waits_when_the_app_is_killed_is_marked_as_not_sent()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let input = json!({ "command": "sleep 600", "description": "Wait" });
    model.reply([call("bash", input)]);
    let mut window = open_with(&model, &garden).await?;
    send(&window, "Begin").await?;
    window
        .wait_for("[data-tool=bash][data-status=running]")
        .await?;
    send(&window, "Then water").await?;
    window.wait_for_text(QUEUED, "Then water").await?;
    assert_eq!(window.count(".unsent").await?, 0);

    window.crash_and_restart().await?;
    window
        .wait_for_text(".user-message[data-unsent]", "Then water")
        .await?;
    window.screenshot("not-sent").await?;
    let next = model.reply([text("Raked.")]);
    send(&window, "Rake").await?;
    window.wait_for_text(ANSWER, "Raked.").await?;
    let asked = next.request().user_text();
    assert!(
        asked.contains("Rake") && !asked.contains("water"),
        "{asked}"
    );

    let last = model.reply([text("Watered.")]);
    window.click_text(".unsent button", "Send").await?;
    window.wait_for_text(ANSWER, "Watered.").await?;
    assert!(last.request().prompt().contains("Then water"));
    window.close().await
}
