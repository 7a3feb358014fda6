//! Making, renaming and removing sessions.

use lathe_test_support::window::WindowError;

use crate::steps::{CURRENT_SESSION, current_session, open, project, send, until_answered};

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
async fn a_deleted_session_comes_back_when_undone() -> Result<(), WindowError> {
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
