//! The pickers for model, reasoning variant and agent.

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::window::WindowError;

use crate::steps::{COMPOSER, choose, open_with, project, send, until_answered};

const AGENT: &str = "[data-testid=agent-picker]";
const MODEL: &str = "[data-testid=model-picker]";
const VARIANT: &str = "[data-testid=variant-picker]";
const SEARCH: &str = "[data-testid=model-search]";

#[tokio::test]
async fn the_picked_model_variant_and_agent_are_used_and_remembered() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut window = open_with(&model, &garden).await?;
    assert_eq!(window.count(VARIANT).await?, 0, "this one has none");

    window.click(MODEL).await?;
    window.wait_for(&format!("{SEARCH}:focus")).await?;
    window.type_text(SEARCH, "coder").await?;
    window.screenshot("models").await?;
    window.press("Enter").await?;
    window.wait_for_text(MODEL, "Coder 30B").await?;
    choose(&window, VARIANT, "High").await?;
    window.wait_for_text(VARIANT, "High").await?;
    choose(&window, AGENT, "plan").await?;
    window.wait_for_text(AGENT, "plan").await?;

    let answered = model.reply([text("A plan.")]);
    send(&window, "Think").await?;
    until_answered(&window).await?;
    let request = answered.request();
    assert_eq!(request.body["model"], "big");
    assert_eq!(request.body["reasoning_effort"], "high");
    let said = request.user_text().to_lowercase();
    assert!(said.contains("plan mode"), "{said}");

    window.restart().await?;
    window.wait_for_text(MODEL, "Coder 30B").await?;
    window.wait_for_text(VARIANT, "High").await?;
    window.wait_for_text(AGENT, "plan").await?;
    window.close().await
}

#[tokio::test]
async fn tab_switches_the_agent_and_f6_leaves_the_composer() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = open_with(&model, &garden).await?;
    window.wait_for(&format!("{COMPOSER}:focus")).await?;
    window.wait_for_text(AGENT, "build").await?;
    window.press("Tab").await?;
    window.wait_for_text(AGENT, "plan").await?;
    window.press("Shift+Tab").await?;
    window.wait_for_text(AGENT, "build").await?;
    window.wait_for(&format!("{COMPOSER}:focus")).await?;
    window.press("F6").await?;
    window.wait_gone(&format!("{COMPOSER}:focus")).await?;
    window.press("Shift+F6").await?;
    window.wait_for(&format!("{COMPOSER}:focus")).await?;
    // After Escape, Tab moves the focus, unless a turn is running.
    window.press("Escape").await?;
    window.press("Tab").await?;
    window.wait_gone(&format!("{COMPOSER}:focus")).await?;
    window.close().await
}
