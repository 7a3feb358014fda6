//! Notifications and the title when a session waits for an answer.

use lathe_test_support::fake_model::{FakeModel, Item, call, text};
use lathe_test_support::window::{Shown, WindowError};
use serde_json::json;

use crate::steps::{
    current_session, new_session, open, open_asking, project, send, until_answered, until_asked,
};

const PERMISSION: &str = "[data-permission=true]";

fn writes(file: &str) -> Item {
    call("write", json!({ "filePath": file, "content": "beds" }))
}

#[tokio::test]
async fn a_notification_opens_the_waiting_session() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.title("Sowing peas");
    let window = open_asking(&model, &garden, json!({ "edit": "ask" })).await?;
    let desktop = window.notifications().await?;

    // No notification is shown while the window has the focus.
    window.focus().await?;
    model.reply([writes("one.txt")]);
    send(&window, "Sow").await?;
    until_asked(&window).await?;
    window
        .wait_for_text(".session-row[data-current]", "Sowing peas")
        .await?;
    let waiting = current_session(&window).await?;
    model.reply([writes("two.txt")]);
    window.unfocus()?;
    window
        .click_text(&format!("{PERMISSION} button"), "Allow once")
        .await?;
    let shown = desktop.wait_for(1).await?;
    let expected = Shown {
        title: "Permission needed".into(),
        body: "Sowing peas".into(),
    };
    assert_eq!(shown, [expected]);

    new_session(&window).await?;
    assert_ne!(current_session(&window).await?, waiting);
    desktop.click().await?;
    window.wait_for_text(PERMISSION, "two.txt").await?;
    assert_eq!(current_session(&window).await?, waiting);

    window.focus().await?;
    model.reply([text("Sown.")]);
    until_asked(&window).await?;
    window.press("Alt+1").await?;
    until_answered(&window).await?;
    assert_eq!(desktop.shown().len(), 1);
    window.close().await
}

#[tokio::test]
async fn a_waiting_session_changes_the_title_and_a_key_opens_it() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Show me around: give me the tour").await?;
    window.wait_for("[data-permission=true]").await?;
    new_session(&window).await?;

    window
        .wait_until(
            "the title",
            "document.title === '(1) Lathe – Waiting for you'",
        )
        .await?;
    window
        .wait_for_text("[data-testid=waiting-badge]", "1")
        .await?;
    window.press("Control+j").await?;
    window.wait_for("[data-permission=true]").await?;
    window.close().await
}

#[tokio::test]
async fn a_reloaded_page_still_marks_the_waiting_session() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Show me around: give me the tour").await?;
    window.wait_for(PERMISSION).await?;
    let waiting = current_session(&window).await?;
    new_session(&window).await?;

    window.reload().await?;
    let mark = format!(".session-row[data-session-id={waiting}] [data-mark=waiting]");
    window.wait_for(&mark).await?;
    window
        .wait_until(
            "the title",
            "document.title === '(1) Lathe – Waiting for you'",
        )
        .await?;
    window.close().await
}
