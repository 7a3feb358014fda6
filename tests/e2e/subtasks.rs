//! The session of a subtask.

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{ANSWER, open_with, project, send, until_answered};

#[tokio::test]
async fn the_session_of_a_subtask_is_opened_and_left_again() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let task = json!({
        "description": "Count the beds",
        "prompt": "Count every bed there is.",
        "subagent_type": "general",
    });
    model.reply([call("task", task)]);
    model.reply([text("I counted twelve.")]);
    model.reply([text("There are twelve beds.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "How many beds?").await?;
    until_answered(&window).await?;
    if window.count("[data-testid=open-task]").await? == 0 {
        window.click("[data-tool=task] .card-head").await?;
    }
    window.click("[data-testid=open-task]").await?;
    window.wait_for_text(ANSWER, "I counted twelve.").await?;
    window
        .wait_for_text(".user-message", "Count every bed")
        .await?;
    window.screenshot("task").await?;
    window.click(".task-bar").await?;
    window
        .wait_for_text(ANSWER, "There are twelve beds.")
        .await?;
    window.close().await
}
