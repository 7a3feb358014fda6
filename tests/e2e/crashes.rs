//! A page whose process ends says so, and nothing is lost.
//!
//! The driver loses its page with that process, so these windows are used without one: the title
//! says which page is shown.

use lathe_test_support::fake_model::{FakeModel, Gate, hold, text};
use lathe_test_support::window::{UndrivenApp, WindowError};
use serde_json::json;

use crate::steps::{current_session, open, options, project, send, until_answered};

const CRASHED: &str = "The window crashed";
const TITLE: &str = "^Beds and roses.*Lathe$";

/// An app whose model has begun its first answer and holds the rest back.
async fn open_with_half_an_answer(
    model: &FakeModel,
    gate: &Gate,
) -> Result<(UndrivenApp, tempfile::TempDir), WindowError> {
    let garden = project()?;
    model.title("Beds and roses");
    let begun = model.reply([text("Half of it"), hold(gate), text(" and the rest.")]);
    let app = UndrivenApp::start(options(model, &garden, json!("allow"))?).await?;
    app.write_draft("Plant the roses").await?;
    app.send_draft("Plant the roses").await?;
    begun.asked().await;
    app.wait_for_title(TITLE).await?;
    Ok((app, garden))
}

#[tokio::test]
async fn a_crashed_page_offers_to_reload_and_the_turn_and_the_draft_are_there()
-> Result<(), WindowError> {
    let (model, gate) = (FakeModel::start().await, Gate::closed());
    let (app, _garden) = open_with_half_an_answer(&model, &gate).await?;
    app.write_draft("Then water them").await?;

    app.kill_page()?;
    app.wait_for_title(CRASHED).await?;
    let next = model.reply([text("They are wet.")]);
    gate.open();
    // The only thing on the page has the focus.
    app.press_until_title("Return", TITLE).await?;
    app.send_draft("Then water them").await?;

    let request = next.asked().await;
    let sent = request.body.to_string();
    for words in [
        "Plant the roses",
        "Half of it and the rest.",
        "Then water them",
    ] {
        assert!(sent.contains(words), "{words:?} is not in {sent}");
    }
    Ok(())
}

#[tokio::test]
async fn a_window_that_crashes_again_asks_before_it_loads_anything() -> Result<(), WindowError> {
    let (model, gate) = (FakeModel::start().await, Gate::closed());
    let (app, _garden) = open_with_half_an_answer(&model, &gate).await?;
    app.kill_page()?;
    app.wait_for_title(CRASHED).await?;

    app.kill_page()?;
    app.confirm_dialog("Lathe crashed again").await?;

    app.wait_for_title(CRASHED).await?;
    app.press_until_title("Return", TITLE).await
}

#[tokio::test]
async fn the_page_after_a_crash_is_legible_and_leads_back_to_the_session() -> Result<(), WindowError>
{
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Plant the roses").await?;
    until_answered(&window).await?;
    let session = current_session(&window).await?;
    let leave = "(location.href = '/crashed.html', true)";
    window.value_of(leave, json!(null)).await?;
    window
        .wait_for_text(
            "[data-state=window-crashed]",
            "Your sessions and drafts are saved",
        )
        .await?;
    window.screenshot("window-crashed").await?;
    window.click("[data-testid=reload-window]").await?;
    assert_eq!(current_session(&window).await?, session);
    window.close().await
}
