//! A session of thousands of parts: opened at its end, scrolled, searched.

use lathe_test_support::side_by_side::generate;
use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{open, project, send, until_answered};

const MESSAGES: usize = 2_000;
const TIMELINE: &str = "document.querySelector('[data-testid=timeline]')";

/// A prompt with these words that is completely on screen.
const IN_VIEW: &str = "[...document.querySelectorAll('.user-message')].some((one) => {
  const box = one.getBoundingClientRect();
  return one.textContent.includes(given) && box.top >= 0 && box.bottom <= innerHeight;
})";

/// Records every scroll position from now on.
const WATCH_THE_PLACE: &str = "(window.places = [], (() => {
  const timeline = document.querySelector('[data-testid=timeline]');
  timeline.addEventListener('scroll', () => window.places.push(timeline.scrollTop));
})(), true)";

#[tokio::test]
async fn a_long_session_opens_at_its_end_loads_older_messages_and_finds_text_that_was_not_loaded()
-> Result<(), WindowError> {
    let garden = project()?;
    let mut window = open(&garden).await?;
    send(&window, "Hello").await?;
    until_answered(&window).await?;
    generate(window.data_dir(), garden.path(), 1, MESSAGES)
        .map_err(|error| WindowError::Native(error.to_string()))?;
    window.restart().await?;

    let row = "[...document.querySelectorAll('.session-row')]\
               .find((one) => one.textContent.includes('Session number 0'))";
    window.wait_until("the long session", row).await?;
    let open = format!("{row}.querySelector('button, [role=button], a')?.click() ?? {row}.click()");
    window.value_of(&open, Value::Null).await?;
    let newest = format!("Please look at file {}.", MESSAGES - 5);
    window.wait_for_text(".user-message", &newest).await?;
    let end =
        format!("{TIMELINE}.scrollHeight - {TIMELINE}.scrollTop - {TIMELINE}.clientHeight < 4");
    window.wait_until("its end", &end).await?;
    let nodes = window
        .value_of("document.querySelectorAll('*').length", Value::Null)
        .await?;
    assert!(
        nodes.as_u64() < Some(6_000),
        "{nodes} nodes for a screenful"
    );
    window.screenshot("long").await?;

    // Scrolls down to the new prompt, never past it and back: that would draw it twice.
    window.wait_until("a watch", WATCH_THE_PLACE).await?;
    send(&window, "Thank you").await?;
    window.wait_for("[data-last] .answer-failure").await?;
    window.wait_until("the new end", &end).await?;
    let places = window.value_of("window.places", Value::Null).await?;
    let places: Vec<_> = places.as_array().into_iter().flatten().collect();
    let places: Vec<_> = places.into_iter().filter_map(Value::as_f64).collect();
    assert!(places.is_sorted() && !places.is_empty(), "{places:?}");

    // Scrolls up until messages appear that were not loaded at first.
    let older = format!("Please look at file {}.", MESSAGES - 155);
    let found =
        format!("({TIMELINE}.scrollBy(0, -600), document.body.textContent.includes(given))");
    window
        .wait_until_with("older messages", &found, json!(older))
        .await?;

    window.press("Control+f").await?;
    window.wait_for("[data-testid=find-field]:focus").await?;
    window
        .type_text("[data-testid=find-field]", "look at file 15.")
        .await?;
    window
        .wait_until_with("the place that was never shown", IN_VIEW, json!("file 15."))
        .await?;
    window.close().await
}
