//! A project's config before and after the project is trusted.

use std::fs;

use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{open, project};

const HOUSE: &str = "[data-testid=provider-house]";

#[tokio::test]
async fn a_provider_of_a_trusted_project_can_be_given_a_key() -> Result<(), WindowError> {
    let garden = project()?;
    let house = json!({
        "name": "House models",
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": "https://models.house.invalid/v1" },
        "models": { "m": {} },
    });
    let config = json!({ "provider": { "house": house } });
    fs::write(garden.path().join("lathe.json"), config.to_string())?;
    let window = open(&garden).await?;
    window.wait_for("[data-testid=trust-banner]").await?;
    window.screenshot("trust").await?;
    window.press("Control+,").await?;
    window.wait_for("[data-testid=provider-anthropic]").await?;
    assert_eq!(window.count(HOUSE).await?, 0, "not before it is trusted");
    window.press("Escape").await?;
    window.wait_gone("[data-testid=settings]").await?;

    window.click("[data-testid=trust-yes]").await?;
    window.wait_gone("[data-testid=trust-banner]").await?;
    window.press("Control+,").await?;
    window
        .type_text("[data-testid=key-input-house]", "sk-garden-1234")
        .await?;
    window.press("Enter").await?;
    window.wait_for(&format!("{HOUSE}[data-ready]")).await?;
    window.click("[data-testid=remove-key-house]").await?;
    window.wait_gone(&format!("{HOUSE}[data-ready]")).await?;
    window.close().await
}
