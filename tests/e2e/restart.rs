//! What the app restores after it was closed or killed.

use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{
    ANSWER, COMPOSER, current_session, name_of, open, project, send, until_answered, wait_written,
};

const THEME: &str = "document.documentElement.dataset.theme ?? 'system'";

#[tokio::test]
async fn a_restart_restores_project_session_text_theme_and_size() -> Result<(), WindowError> {
    let garden = project()?;
    let mut window = open(&garden).await?;
    window.resize(1111, 777).await?;
    window.click("[data-testid=theme-toggle]").await?;
    window.click("[data-testid=theme-toggle]").await?;
    window
        .wait_until("the dark theme", &format!("({THEME}) === 'dark'"))
        .await?;
    send(&window, "Remember the beds").await?;
    until_answered(&window).await?;
    let before = (current_session(&window).await?, window.text(ANSWER).await?);

    window.restart_with_args(vec![]).await?;

    window
        .wait_for_text(".title-bar-place", &name_of(&garden))
        .await?;
    window
        .wait_for_text(".user-message", "Remember the beds")
        .await?;
    let after = (current_session(&window).await?, window.text(ANSWER).await?);
    assert_eq!(after, before);
    assert_eq!(window.value_of(THEME, Value::Null).await?, "dark");
    assert_eq!(window.size().await?, (1111, 777));
    window.close().await
}

#[tokio::test]
async fn a_killed_app_restores_the_session_and_answers_the_next_prompt() -> Result<(), WindowError>
{
    let garden = project()?;
    let mut window = open(&garden).await?;
    send(&window, "Tell me all about plants").await?;
    let begun = "document.querySelector(given)?.textContent.trim().length > 20";
    window
        .wait_until_with("the first words", begun, json!(ANSWER))
        .await?;

    window.crash_and_restart().await?;

    window.wait_for(".session-row").await?;
    window.click(".session-row .session-open").await?;
    window
        .wait_for_text(".user-message", "Tell me all about plants")
        .await?;
    window.wait_for(&format!("{COMPOSER}:enabled")).await?;
    send(&window, "Go on").await?;
    until_answered(&window).await?;
    assert_eq!(window.count(".session-turn").await?, 2);
    window.close().await
}

#[tokio::test]
async fn a_killed_app_restores_unsent_drafts() -> Result<(), WindowError> {
    let garden = project()?;
    let mut window = open(&garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let first = current_session(&window).await?;
    window.type_text(COMPOSER, "And how many of them").await?;
    let drag = window.drag(&[garden.path().join("README.md")]).await?;
    window.drop_files(drag).await?;
    window
        .wait_for_text(".attachment-name", "README.md")
        .await?;
    window.click("[data-testid=new-session]").await?;
    wait_written(&window, "").await?;
    window.type_text(COMPOSER, "Something else").await?;
    window.wait_on_disk("drafts", "README.md").await?;
    window.wait_on_disk("drafts", "Something else").await?;
    let second = current_session(&window).await?;
    let place = window.data_dir().join("recent.json");
    let second = second.as_str().unwrap_or_default();
    window.wait_for_file(&place, second).await?;

    window.crash_and_restart().await?;

    wait_written(&window, "Something else").await?;
    let row = format!(".session-row[data-session-id={first}] .session-open");
    window.click(&row).await?;
    wait_written(&window, "And how many of them").await?;
    window
        .wait_for_text(".attachment-name", "README.md")
        .await?;

    window.type_text(COMPOSER, " are dry").await?;
    window.restart().await?;
    wait_written(&window, "And how many of them are dry").await?;
    send(&window, "?").await?;
    until_answered(&window).await?;
    window.restart().await?;
    window.wait_for_text(".user-message", "are dry?").await?;
    wait_written(&window, "").await?;
    window.close().await
}
