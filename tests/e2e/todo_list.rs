//! The agent's list of tasks above the composer.

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{open_with, project, send, until_answered};

#[tokio::test]
async fn the_todo_list_is_shown_above_the_composer_until_all_is_done() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let todo = |id: &str, content: &str, status: &str| json!({ "id": id, "content": content, "status": status, "priority": "medium" });
    let todos = [
        todo("1", "Dig the bed", "completed"),
        todo("2", "Plant the tulips", "in_progress"),
        todo("3", "Water them", "pending"),
    ];
    model.reply([call("todowrite", json!({ "todos": todos }))]);
    model.reply([text("Halfway.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Make a bed").await?;
    until_answered(&window).await?;
    window.wait_for("[data-testid=todos]").await?;
    assert_eq!(
        window.texts(".todo .todo-words").await?,
        ["Dig the bed", "Plant the tulips", "Water them"]
    );
    window.wait_for_text(".todos-progress", "1").await?;
    window.screenshot("todos").await?;
    window.click(".todos-head").await?;
    window.wait_gone(".todos-list").await?;

    let done = [
        todo("1", "Dig the bed", "completed"),
        todo("2", "Plant the tulips", "completed"),
        todo("3", "Water them", "cancelled"),
    ];
    model.reply([call("todowrite", json!({ "todos": done }))]);
    model.reply([text("All done.")]);
    send(&window, "Go on").await?;
    window.wait_gone("[data-testid=todos]").await?;
    window.close().await
}
