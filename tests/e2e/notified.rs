//! Somebody is waited for and looks elsewhere: the desktop says so, and a click leads back.

use lathe_test_support::fake_model::{FakeModel, Item, call, text};
use lathe_test_support::window::{Shown, WindowError};
use serde_json::json;

use crate::steps::{
    current_session, new_session, open_asking, project, send, until_answered, until_asked,
};

const PERMISSION: &str = "[data-permission=true]";

fn writes(file: &str) -> Item {
    call("write", json!({ "filePath": file, "content": "beds" }))
}

#[tokio::test]
async fn a_notification_leads_to_the_session_that_waits() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.title("Sowing peas");
    let window = open_asking(&model, &garden, json!({ "edit": "ask" })).await?;
    let desktop = window.notifications().await?;

    // Who looks at the window needs no notification.
    window.look_at().await?;
    model.reply([writes("one.txt")]);
    send(&window, "Sow").await?;
    until_asked(&window).await?;
    window
        .wait_for_text(".session-row[data-current]", "Sowing peas")
        .await?;
    let waiting = current_session(&window).await?;
    model.reply([writes("two.txt")]);
    window.look_away()?;
    window
        .click_saying(&format!("{PERMISSION} button"), "Allow once")
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

    window.look_at().await?;
    model.reply([text("Sown.")]);
    until_asked(&window).await?;
    window.press("Alt+1").await?;
    until_answered(&window).await?;
    assert_eq!(desktop.shown().len(), 1);
    window.close().await
}
