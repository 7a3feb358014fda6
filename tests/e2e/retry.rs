//! A provider that is busy, and trying again at once.

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::window::WindowError;

use crate::steps::{ANSWER, open_with, project, send, until_answered};

#[tokio::test]
async fn a_busy_provider_is_retried_at_once_on_request() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.refuse(529, &[("retry-after", "600")], "Too many gardeners");
    model.reply([text("Twelve.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    window
        .wait_for_text(".retry-reason", "Too many gardeners")
        .await?;
    window.screenshot("retry").await?;
    window.click("[data-testid=retry-now]").await?;
    until_answered(&window).await?;
    window.wait_for_text(ANSWER, "Twelve.").await?;
    window.close().await
}
