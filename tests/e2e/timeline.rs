//! What a person does in the timeline and the composer besides sending prompts.

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{ANSWER, COMPOSER, open_with, project, send, until_answered, wait_written};

#[tokio::test]
async fn a_command_of_the_person_runs_without_a_question() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = open_with(&model, &garden).await?;
    send(&window, "!printf 'tul%s\\n' ips").await?;
    window
        .wait_for("[data-tool=bash][data-status=completed]")
        .await?;
    assert_eq!(window.count("[data-permission=true]").await?, 0);
    window.click("[data-tool=bash] .card-head").await?;
    window
        .wait_for_text("[data-tool=bash] .terminal", "tulips")
        .await?;
    window.screenshot("own-command").await?;
    window.close().await
}

#[tokio::test]
async fn formulas_and_diagrams_are_drawn() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let answer = "As $\\frac{a}{b}$:\n\n$$\\sum_{i=0}^n x_i$$\n\n```mermaid\ngraph TD\n A[Seed] --> B[Tulip]\n```\n";
    model.reply([text(answer)]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Draw").await?;
    until_answered(&window).await?;
    window.wait_for(&format!("{ANSWER} math mfrac")).await?;
    window
        .wait_for(&format!("{ANSWER} .math-display math"))
        .await?;
    let drawn = "[...document.querySelectorAll(given)].some((one) => one.complete && one.naturalWidth > 40)";
    window
        .wait_until_with("a diagram", drawn, json!(".diagram img"))
        .await?;
    window.screenshot("formulas-and-diagrams").await?;
    window.close().await
}

#[tokio::test]
async fn an_earlier_prompt_is_found_in_the_history_and_in_the_outline() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let story = "A paragraph about beds and what grows in them.\n\n".repeat(40);
    let window = open_with(&model, &garden).await?;
    for prompt in ["Plant tulips", "Plant roses", "Water them"] {
        model.reply([text(&story)]);
        send(&window, prompt).await?;
        until_answered(&window).await?;
    }

    window.click("[data-testid=outline]").await?;
    window.wait_for("[data-testid=outline-field]:focus").await?;
    window
        .type_text("[data-testid=outline-field]", "tulips")
        .await?;
    window
        .wait_for_text("[data-testid=outline-list] [role=option]", "Plant tulips")
        .await?;
    window.screenshot("outline").await?;
    window.press("Enter").await?;
    let top = "[...document.querySelectorAll('.user-message')].some((one) => one.textContent.includes('Plant tulips') && one.getBoundingClientRect().top > 0 && one.getBoundingClientRect().top < innerHeight)";
    window.wait_until("the first prompt", top).await?;

    window.click(COMPOSER).await?;
    window.press("Control+r").await?;
    window.wait_for("[data-testid=history-field]:focus").await?;
    window
        .type_text("[data-testid=history-field]", "roses")
        .await?;
    window.screenshot("prompt-history").await?;
    window.press("Enter").await?;
    wait_written(&window, "Plant roses").await?;
    window.close().await
}
