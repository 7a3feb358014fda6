//! Questions of the agent.

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{open_with, project, send, until_answered};

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
    window.click_text(".question-option", "Blue").await?;
    window
        .click_text("[data-question=true] .prompt-actions button", "Answer")
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
