//! Nothing is answered unseen, and no text is too long for the window.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{
    STOP, choose, close_settings, open_as, open_asking, open_settings, open_with, options, project,
    record_calls_of, send, until_answered, until_asked,
};

const REVIEW: &str = "[data-testid=review]";
const PERMISSION: &str = "[data-permission=true]";

#[tokio::test]
async fn a_permission_under_the_review_waits_until_it_is_seen() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Make it" }),
    )]);
    model.reply([text("It is made.")]);
    let window = open_asking(&model, &garden, json!({ "bash": "ask" })).await?;
    window.resize(900, 700).await?;
    send(&window, "Make it").await?;
    until_asked(&window).await?;

    window.press("Control+d").await?;
    window.wait_for("[data-testid=review-waiting]").await?;
    window.wait_for("main[inert]").await?;
    window.screenshot("permission-under-review").await?;
    window.press("Alt+1").await?;
    // Escape closes what is on top; the turn goes on.
    window.press("Escape").await?;
    window.wait_gone(REVIEW).await?;
    window.wait_for(PERMISSION).await?;
    window.wait_for(STOP).await?;
    assert!(!garden.path().join("made").exists());

    window.press("Alt+1").await?;
    until_answered(&window).await?;
    assert!(garden.path().join("made").exists());
    window.close().await
}

#[tokio::test]
async fn the_timeline_stays_wide_enough_to_read_beside_two_columns_of_changes()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let write = json!({ "filePath": "beds.txt", "content": "north\n".repeat(40) });
    model.reply([call("write", write)]);
    model.reply([text("It is written.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "List the beds").await?;
    until_answered(&window).await?;
    window.wait_for("[data-testid=review] [data-hunk]").await?;
    choose(&window, ".review-options", "Side by side").await?;
    for width in [1400, 1000] {
        window.resize(width, 700).await?;
        let timeline = "document.querySelector('.frame-main').getBoundingClientRect().width";
        let timeline = window.value_of(timeline, json!(null)).await?;
        assert!(timeline.as_f64() >= Some(400.0), "{timeline} at {width}");
    }
    window.screenshot("side-by-side-1000").await?;
    window.close().await
}

#[tokio::test]
async fn a_line_of_half_a_megabyte_is_drawn_in_part_and_shown_on_request() -> Result<(), WindowError>
{
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([text("rose ".repeat(100_000))]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Plant them all").await?;
    until_answered(&window).await?;
    window.wait_for("[data-testid=show-rest]").await?;
    let drawn = "document.querySelector('.assistant-message').textContent.length";
    let drawn = window.value_of(drawn, json!(null)).await?;
    assert!(
        drawn.as_u64().is_some_and(|length| length < 100_000),
        "{drawn}"
    );

    window.click("[data-testid=show-rest]").await?;
    window.wait_for_text(".whole-text-line", "rose").await?;
    let rows = window.count(".whole-text-line").await?;
    assert!(rows < 200, "{rows} of 250 rows are in the document");
    window.screenshot("show-the-rest").await?;
    window.close().await
}

#[tokio::test]
async fn a_mistake_in_a_config_file_is_shown_and_opens_in_the_editor_at_its_line()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let file = garden.path().join("lathe.json");
    let mistakes = "{\n  \"colour\": \"red\",\n  \"default_agent\": \"bulid\"\n}\n";
    fs::write(&file, mistakes)?;
    let mut options = options(&model, &garden, json!("allow"))?;
    let programs = tempfile::tempdir()?;
    let called = record_calls_of(&mut options, &programs, "code")?;
    let window = open_as(options, &garden).await?;
    open_settings(&window, "tools").await?;
    window
        .click_text(".settings-choice label", "Visual Studio Code")
        .await?;
    close_settings(&window).await?;

    window
        .wait_for_text("[data-testid=config-problems]", "lathe.json:2")
        .await?;
    window.click("[data-testid=theme-toggle]").await?;
    window.wait_for(":root[data-theme=light]").await?;
    window.screenshot("config-problems-light").await?;
    window.click("[data-testid=theme-toggle]").await?;
    window.wait_for(":root[data-theme=dark]").await?;
    window.screenshot("config-problems-dark").await?;

    window
        .click_text("[data-testid=config-problems] button", "lathe.json:2")
        .await?;
    window.wait_for_file(&called, "lathe.json:2").await?;
    let calls = fs::read_to_string(&called)?;
    assert_eq!(calls, format!("--goto {}:2\n", file.display()));

    // Mended in another window: the banner goes when this one gets the focus again.
    fs::write(&file, "{}\n")?;
    let focus = "(window.dispatchEvent(new Event('focus')), true)";
    window.value_of(focus, json!(null)).await?;
    window.wait_gone("[data-testid=config-problems]").await?;
    window.close().await
}
