//! While it works: what waits, what is asked, what is tried again and what is handed on.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{
    ANSWER, COMPOSER, click_to_copy, open_with, project, send, until_answered, wait_written,
};

const QUEUED: &str = ".user-message[data-queued]";

#[tokio::test]
async fn prompts_that_wait_are_changed_and_removed_until_they_are_taken_up()
-> Result<(), WindowError> {
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
async fn a_question_is_answered_by_choice_or_in_own_words() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let options = json!([
        { "label": "Red", "description": "Like the barn" },
        { "label": "Blue", "description": "Like the gate" },
    ]);
    let question = |words: &str| {
        let one = json!({ "question": words, "header": "Colour", "options": options });
        call("question", json!({ "questions": [one] }))
    };
    model.reply([question("Which tulips?")]);
    let chosen = model.reply([question("Which roses?")]);
    let written = model.reply([text("Blue ones and yellow ones.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Plant flowers").await?;

    window
        .wait_for_text("[data-question=true]", "Which tulips?")
        .await?;
    window.screenshot("question").await?;
    window.click_saying(".question-option", "Blue").await?;
    window
        .click_saying("[data-question=true] .prompt-actions button", "Answer")
        .await?;
    window
        .wait_for_text("[data-question=true]", "Which roses?")
        .await?;
    window.press("Alt+9").await?;
    window.wait_for("[data-question=true] input:focus").await?;
    window
        .type_text("[data-question=true] .field", "Yellow, for once")
        .await?;
    window.press("Enter").await?;
    until_answered(&window).await?;
    assert_eq!(window.count("[data-question=true]").await?, 0);
    assert!(chosen.request().tool_output("question").contains("Blue"));
    let said = format!("{:?}", written.request().calls);
    assert!(said.contains("Yellow, for once"), "{said}");
    window.close().await
}

#[tokio::test]
async fn a_model_that_is_busy_is_asked_again_at_once_when_told_so() -> Result<(), WindowError> {
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

#[tokio::test]
async fn a_list_of_things_to_do_stands_beside_the_work() -> Result<(), WindowError> {
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
    window.close().await
}

#[tokio::test]
async fn a_task_is_looked_into_and_left_again() -> Result<(), WindowError> {
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

#[tokio::test]
async fn a_long_session_is_summed_up_and_the_summary_can_be_read() -> Result<(), WindowError> {
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

#[tokio::test]
async fn code_and_answers_are_copied() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let answer = "Try this:\n\n```rust\nplant(Tulip);\n```";
    model.reply([text(answer)]);
    let window = open_with(&model, &garden).await?;
    send(&window, "How?").await?;
    until_answered(&window).await?;
    let all = format!("{ANSWER} .part-copy");
    for (button, copied) in [(".copy-code", "plant(Tulip);\n"), (&all, answer)] {
        click_to_copy(&window, button).await?;
        window.click(COMPOSER).await?;
        window.press("Control+a").await?;
        window.press("Control+v").await?;
        wait_written(&window, copied).await?;
    }
    window.close().await
}
