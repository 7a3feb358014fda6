//! Around the timeline: finding, the palette, settings, and being told that someone waits.

use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{COMPOSER, new_session, open, project, send, until_answered};

const FIND: &str = "[data-testid=find-field]";
const FILTER: &str = "[data-testid=session-filter]";
const PALETTE: &str = "[data-testid=palette-field]";

/// A part whose middle is on screen.
const IN_VIEW: &str = "[...document.querySelectorAll('.user-message')].some((one) => {
  const box = one.getBoundingClientRect();
  return one.textContent.includes(given) && box.top >= 0 && box.bottom <= innerHeight;
})";

#[tokio::test]
async fn words_of_another_session_are_found_and_opened() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Where do the artichokes grow?").await?;
    until_answered(&window).await?;
    new_session(&window).await?;

    window.press("Control+Shift+f").await?;
    window.wait_for(&format!("{FILTER}:focus")).await?;
    window.type_text(FILTER, "articho").await?;
    window.wait_for_text(".search-hit mark", "articho").await?;
    window.screenshot("search").await?;
    window.click(".search-hit").await?;

    window
        .wait_until_with("the prompt in view", IN_VIEW, json!("artichokes"))
        .await?;
    window.close().await
}

#[tokio::test]
async fn find_in_session_counts_marks_and_walks() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "pumpkin one").await?;
    until_answered(&window).await?;
    send(&window, "pumpkin two").await?;
    until_answered(&window).await?;

    window.press("Control+f").await?;
    window.wait_for(&format!("{FIND}:focus")).await?;
    window.type_text(FIND, "PUMPKIN").await?;
    let counted = "/^\\d+ of \\d+$/.test(document.querySelector(given)?.textContent ?? '')";
    window
        .wait_until_with("a count", counted, json!("[data-testid=find-count]"))
        .await?;
    let marks =
        "CSS.highlights.get('find')?.size >= 2 && CSS.highlights.get('find-here')?.size === 1";
    window.wait_until("marks in the text", marks).await?;
    window.screenshot("find").await?;
    let moved = "[document.documentElement, document.body, document.querySelector('.frame')]\
                 .some((one) => one.scrollTop !== 0)";
    assert_eq!(window.value_of(moved, Value::Null).await?, false);
    window.press("Enter").await?;
    window
        .wait_until_with("the first place", IN_VIEW, json!("pumpkin one"))
        .await?;
    window.screenshot("found").await?;
    window.press("Escape").await?;
    window.wait_gone(FIND).await?;
    window.close().await
}

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
async fn zoom_grows_the_page_and_is_remembered() -> Result<(), WindowError> {
    let garden = project()?;
    let mut window = open(&garden).await?;
    let wide = window.value_of("innerWidth", Value::Null).await?;
    window.press("Control+=").await?;
    window.press("Control+=").await?;
    window
        .wait_until_with("a narrower page", "innerWidth < given * 0.9", wide.clone())
        .await?;
    window.restart().await?;
    window
        .wait_until_with("a narrower page", "innerWidth < given * 0.9", wide)
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_session_that_waits_is_in_the_title_and_a_key_leads_there() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Show me around: give me the tour").await?;
    window.wait_for("[data-permission=true]").await?;
    new_session(&window).await?;

    window
        .wait_until("the title", "document.title === '(1) Lathe — needs you'")
        .await?;
    window
        .wait_for_text("[data-testid=waiting-badge]", "1")
        .await?;
    window.press("Control+j").await?;
    window.wait_for("[data-permission=true]").await?;
    window.close().await
}

#[tokio::test]
async fn the_menu_bar_opens_with_its_key_and_runs_what_is_picked() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    window.wait_for(".session-turn").await?;

    // The first menu is the session's, and its first item begins another one.
    window.strike(&["F10", "Down", "Return"]).await?;

    window.wait_gone(".session-turn").await?;
    window.close().await
}
