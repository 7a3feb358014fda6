//! An earlier prompt is edited and sent again.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{ANSWER, COMPOSER, open_with, project, send, until_answered, wait_written};

/// A turn that created a file, with its prompt being edited.
async fn edit_first_prompt(model: &FakeModel, garden: &TempDir) -> Result<Window, WindowError> {
    let input = json!({ "filePath": "new.txt", "content": "tulips\n" });
    model.reply([call("write", input)]);
    model.reply([text("There are tulips.")]);
    let window = open_with(model, garden).await?;
    send(&window, "Plant tulips").await?;
    until_answered(&window).await?;
    assert!(garden.path().join("new.txt").exists());

    window.click("[data-testid=edit-prompt]").await?;
    wait_written(&window, "Plant tulips").await?;
    window.press("Control+a").await?;
    window.type_text(COMPOSER, "Plant nothing yet").await?;
    window.screenshot("edit-prompt").await?;
    Ok(window)
}

async fn send_edited(model: &FakeModel, window: &Window) -> Result<(), WindowError> {
    let answered = model.reply([text("Nothing it is.")]);
    window.press("Enter").await?;
    window.wait_for_text(ANSWER, "Nothing it is.").await?;
    until_answered(window).await?;
    assert_eq!(window.count(".session-turn").await?, 1);
    let asked = answered.request().user_text();
    assert!(!asked.contains("tulips"), "{asked}");
    Ok(())
}

#[tokio::test]
async fn an_edited_prompt_reverts_its_answer_and_its_files() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = edit_first_prompt(&model, &garden).await?;
    send_edited(&model, &window).await?;
    assert!(!garden.path().join("new.txt").exists());
    window.close().await
}

#[tokio::test]
async fn an_edited_prompt_can_leave_the_files_as_they_are() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = edit_first_prompt(&model, &garden).await?;
    window.click(".edit-keep input").await?;
    window.wait_for_text(".edit-words", "changes stay").await?;
    window.click(COMPOSER).await?;
    send_edited(&model, &window).await?;
    assert_eq!(
        fs::read_to_string(garden.path().join("new.txt"))?,
        "tulips\n"
    );
    window.close().await
}
