//! A prompt, its answer, and stopping it.

use lathe_test_support::fake_model::{FakeModel, pause, text};
use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{ANSWER, COMPOSER, STOP, open, open_with, project, send, until_answered};

/// Records every length of the answer while it streams, and whether the stop button was there.
const WATCH: &str = "(() => {
  window.lengths = new Set();
  window.stoppable = false;
  new MutationObserver(() => {
    const answer = document.querySelector(given[0]);
    if (answer) window.lengths.add(answer.textContent.length);
    if (document.querySelector(given[1])) window.stoppable = true;
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
  return true;
})()";

#[tokio::test]
async fn an_answer_streams_in_as_rendered_markdown() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    window.value_of(WATCH, json!([ANSWER, STOP])).await?;

    send(&window, "How many beds are there?").await?;
    until_answered(&window).await?;

    let stoppable = window.value_of("window.stoppable", Value::Null).await?;
    assert_eq!(stoppable, true, "there was no way to stop the answer");
    let lengths = window.value_of("window.lengths.size", Value::Null).await?;
    assert!(
        lengths.as_u64() > Some(5),
        "the answer came in {lengths} pieces"
    );
    window.wait_for(&format!("{ANSWER} p")).await?;
    window
        .wait_for(".assistant-message [data-part=reasoning]")
        .await?;
    assert_eq!(window.count(".session-turn").await?, 1);
    window.close().await
}

#[tokio::test]
async fn escape_stops_an_answer_and_the_session_continues() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    // Far longer than the test: the answer cannot end before it is stopped.
    model.reply((0..6_000).flat_map(|at| [text(format!("bed {at} ")), pause(10)]));
    model.reply([text("Plants grow in beds.")]);
    let window = open_with(&model, &garden).await?;

    send(&window, "Tell me all about beds").await?;
    let begun = "document.querySelector(given)?.textContent.trim().length > 0";
    window
        .wait_until_with("the first words", begun, json!(ANSWER))
        .await?;
    window.press("Escape").await?;
    window.wait_gone(STOP).await?;
    window.wait_for("[data-error=MessageAbortedError]").await?;
    let stopped = window.text(ANSWER).await?;

    send(&window, "And of plants?").await?;
    until_answered(&window).await?;

    assert_eq!(
        window.text(ANSWER).await?,
        stopped,
        "the stopped answer went on growing"
    );
    assert_eq!(window.count(".session-turn").await?, 2);
    window.close().await
}

#[tokio::test]
async fn shift_enter_starts_a_new_line_and_sends_nothing() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;

    window.type_text(COMPOSER, "one").await?;
    window.press("Shift+Enter").await?;
    window.type_text(COMPOSER, "two").await?;

    let text = window
        .value_of("document.querySelector(given).value", json!(COMPOSER))
        .await?;
    assert_eq!(text, "one\ntwo");
    assert_eq!(window.count(".session-turn").await?, 0);
    window.close().await
}
