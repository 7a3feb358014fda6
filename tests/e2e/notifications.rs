//! Notifications and the title when a session waits for an answer.

use lathe_test_support::fake_model::{FakeModel, Item, call, text};
use lathe_test_support::window::{Shown, WindowError};
use serde_json::json;

use crate::steps::{
    close_settings, current_session, new_session, open, open_asking, open_settings, open_with,
    project, send, until_answered, until_asked,
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
        sound: None,
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
async fn the_end_and_the_failure_of_a_turn_are_notified_with_a_sound_only_if_wanted()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.title("Sowing peas");
    model.reply([text("Sown.")]);
    let window = open_with(&model, &garden).await?;
    window.focus().await?;
    let desktop = window.notifications().await?;
    send(&window, "Sow").await?;
    until_answered(&window).await?;
    window
        .wait_for_text(".session-row[data-current]", "Sowing peas")
        .await?;
    assert_eq!(desktop.shown(), []);

    window.unfocus()?;
    model.reply([text("Watered.")]);
    send(&window, "Water").await?;
    let notice = |title: &str, sound: Option<&str>| Shown {
        title: title.into(),
        body: "Sowing peas".into(),
        sound: sound.map(str::to_owned),
    };
    assert_eq!(desktop.wait_for(1).await?, [notice("Finished", None)]);

    open_settings(&window, "appearance").await?;
    window.click("[data-testid=setting-notifySound]").await?;
    close_settings(&window).await?;
    window.wait_on_disk("", "\"notifySound\": true").await?;
    model.refuse(400, &[], "The can is empty");
    send(&window, "Water again").await?;
    let both = [
        notice("Finished", None),
        notice("Failed", Some("message-new-instant")),
    ];
    assert_eq!(desktop.wait_for(2).await?, both);
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
