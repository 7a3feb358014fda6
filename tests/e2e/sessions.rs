//! Creating, renaming, archiving and deleting sessions.

use lathe_test_support::fake_model::{FakeModel, Gate, hold, text};
use lathe_test_support::window::WindowError;

use crate::steps::{
    COMPOSER, CURRENT_SESSION, choose, current_session, new_session, open, open_settings,
    open_with, project, send, until_answered,
};

#[tokio::test]
async fn a_renamed_session_keeps_its_name_after_a_restart() -> Result<(), WindowError> {
    let garden = project()?;
    let mut window = open(&garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;

    window
        .click(&format!("{CURRENT_SESSION} .session-open"))
        .await?;
    window.press("F2").await?;
    window.wait_for("input.session-rename:focus").await?;
    window.press("Control+a").await?;
    window
        .type_text("input.session-rename", "Beds of 2026")
        .await?;
    window.press("Enter").await?;
    window
        .wait_for_text(".session-title", "Beds of 2026")
        .await?;

    window.restart().await?;
    window
        .wait_for_text(".session-title", "Beds of 2026")
        .await?;
    window.close().await
}

#[tokio::test]
async fn undo_restores_a_deleted_session() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Count the plants").await?;
    until_answered(&window).await?;
    let session = current_session(&window).await?;
    let row = format!(".session-row[data-session-id={session}]");

    window.click(&format!("{row} .session-open")).await?;
    window.press("Delete").await?;
    window.wait_gone(&row).await?;
    window.click("[data-testid=toast] button").await?;

    window.click(&format!("{row} .session-open")).await?;
    window
        .wait_for_text(".user-message", "Count the plants")
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_deleted_session_is_restored_from_the_settings_after_a_restart() -> Result<(), WindowError>
{
    let garden = project()?;
    let mut window = open(&garden).await?;
    send(&window, "Count the plants").await?;
    until_answered(&window).await?;
    let session = current_session(&window).await?;
    let row = format!(".session-row[data-session-id={session}]");
    window.click(&format!("{row} .session-open")).await?;
    window.press("Delete").await?;
    window.wait_gone(&row).await?;
    window.restart().await?;
    window.wait_for(&format!("{COMPOSER}:enabled")).await?;

    open_settings(&window, "data").await?;
    window.click("[data-testid=trash] button").await?;
    window.wait_gone("[data-testid=trash]").await?;
    window.screenshot("brought-back").await?;
    window.press("Escape").await?;
    window.click(&format!("{row} .session-open")).await?;
    window
        .wait_for_text(".user-message", "Count the plants")
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_session_is_archived_and_moved_out_of_the_archive() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Count the plants").await?;
    until_answered(&window).await?;
    let session = current_session(&window).await?;
    let row = format!(".session-row[data-session-id={session}]");
    let menu = format!("{row} .session-menu");

    choose(&window, &menu, "Archive").await?;
    window.wait_gone(&row).await?;
    window.wait_for_text("[data-testid=archived]", "1").await?;
    window.click("[data-testid=archived]").await?;
    window.wait_for(&row).await?;
    window.screenshot("archived").await?;
    choose(&window, &menu, "Unarchive").await?;
    window.wait_gone("[data-testid=archived]").await?;
    window.wait_for(&row).await?;
    window.close().await
}

#[tokio::test]
async fn a_session_is_found_by_its_title() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = open_with(&model, &garden).await?;
    for (title, prompt) in [("Watering the beds", "Dry?"), ("Names of roses", "Which?")] {
        model.title(title);
        model.reply([text("Yes.")]);
        new_session(&window).await?;
        send(&window, prompt).await?;
        window.wait_for_text(".session-title", title).await?;
        until_answered(&window).await?;
    }
    let titles = async || window.texts(".session-title").await;
    assert_eq!(titles().await?, ["Names of roses", "Watering the beds"]);

    let filter = "[data-testid=session-filter]";
    window.type_text(filter, "WATER").await?;
    window
        .wait_until_with(
            "one row",
            "document.querySelectorAll(given).length === 1",
            ".session-row".into(),
        )
        .await?;
    assert_eq!(titles().await?, ["Watering the beds"]);
    window.press("Escape").await?;
    window
        .wait_for_text(".session-title", "Names of roses")
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_session_that_answered_in_the_background_is_marked_unread() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let gate = Gate::closed();
    let answered = model.reply([hold(&gate), text("Twelve.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    let session = current_session(&window).await?;
    let row = format!(".session-row[data-session-id={session}]");
    answered.asked().await;
    new_session(&window).await?;
    gate.open();

    window
        .wait_for(&format!("{row} [data-mark=unread]"))
        .await?;
    window.click(&format!("{row} .session-open")).await?;
    window
        .wait_for_text(".assistant-message", "Twelve.")
        .await?;
    window
        .wait_gone(&format!("{row} [data-mark=unread]"))
        .await?;
    window.close().await
}
