//! Search over all sessions, and find within one.

use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{new_session, open, project, send, until_answered};

const FIND: &str = "[data-testid=find-field]";
const FILTER: &str = "[data-testid=session-filter]";

/// A prompt with these words that is completely on screen.
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
async fn find_in_a_session_counts_and_marks_matches_and_moves_between_them()
-> Result<(), WindowError> {
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
