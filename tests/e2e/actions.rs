//! Actions by the palette, by their keys and by the menu bar.

use lathe_test_support::window::WindowError;

use crate::steps::{COMPOSER, open, project, send, until_answered, wait_written};

const PALETTE: &str = "[data-testid=palette-field]";

#[tokio::test]
async fn the_palette_runs_an_action_by_its_name() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;

    window.press("Control+k").await?;
    window.wait_for(&format!("{PALETTE}:focus")).await?;
    window.screenshot("palette").await?;
    window.type_text(PALETTE, "theme dark").await?;
    window.press("Enter").await?;

    window.wait_for(":root[data-theme=dark]").await?;
    window.wait_gone(PALETTE).await?;
    window.close().await
}

#[tokio::test]
async fn new_keys_for_an_action_work_at_once_and_after_a_restart() -> Result<(), WindowError> {
    let garden = project()?;
    let mut window = open(&garden).await?;
    let row = "[data-action=toggleSidebar] .shortcut-keys";

    window.press("Control+/").await?;
    window.click(row).await?;
    window.press("Control+e").await?;
    window.wait_for_text(row, "Ctrl+E").await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=settings]").await?;
    window.press("Control+e").await?;
    window.wait_gone("[data-testid=sidebar]").await?;

    window.restart().await?;
    window.wait_for(&format!("{COMPOSER}:enabled")).await?;
    window.press("Control+e").await?;
    window.wait_for("[data-testid=sidebar]").await?;
    window.close().await
}

#[tokio::test]
async fn ctrl_q_quits_and_ctrl_w_closes() -> Result<(), WindowError> {
    for keys in ["ctrl+q", "ctrl+w"] {
        let garden = project()?;
        let window = open(&garden).await?;
        window.end_by_keys(keys).await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_menu_bar_pastes_what_it_copied() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    window.type_text(COMPOSER, "beds").await?;
    // Edit is the second menu: Undo, Redo, Cut, Copy, Paste, Select all.
    let edit = |item: usize| {
        let mut keys = vec!["F10", "Right"];
        keys.extend(vec!["Down"; item]);
        keys.push("Return");
        keys
    };
    window.press_native(&edit(6)).await?;
    window
        .wait_until_with(
            "a selection",
            "document.querySelector(given).selectionEnd === 4 && document.querySelector(given).selectionStart === 0",
            COMPOSER.into(),
        )
        .await?;
    window.press_native(&edit(3)).await?;
    wait_written(&window, "").await?;
    window.press_native(&edit(5)).await?;
    window.press_native(&edit(5)).await?;
    wait_written(&window, "bedsbeds").await?;
    window.close().await
}

#[tokio::test]
async fn the_menu_bar_opens_with_its_key_and_runs_what_is_picked() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    window.wait_for(".session-turn").await?;

    // The first item of the first menu creates a session.
    window.press_native(&["F10", "Down", "Return"]).await?;

    window.wait_gone(".session-turn").await?;
    window.close().await
}
