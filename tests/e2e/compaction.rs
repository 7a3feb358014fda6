//! A session is summed up.

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::window::WindowError;

use crate::steps::{ANSWER, open_with, project, send, until_answered};

#[tokio::test]
async fn a_session_is_summed_up_and_its_summary_can_be_read() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([text("Twelve.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;

    model.reply([text("We counted twelve beds.")]);
    window.click("[data-testid=context-meter]").await?;
    window.screenshot("context").await?;
    window.click("[data-testid=compact]").await?;
    window.click("[data-testid=read-summary]").await?;
    window
        .wait_for_text(".summary", "We counted twelve beds.")
        .await?;
    window.screenshot("summary").await?;
    let answered = model.reply([text("Still twelve.")]);
    send(&window, "And now?").await?;
    window.wait_for_text(ANSWER, "Still twelve.").await?;
    let asked = format!("{:?}", answered.request().texts);
    assert!(asked.contains("We counted twelve beds."), "{asked}");
    window.close().await
}
