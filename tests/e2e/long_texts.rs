//! PROMISES 31: no text is so long that the window stops for a moment, neither while it streams nor
//! when it is stored. The rest of it is shown on request.
//!
//! How long the frames take depends on the machine, so that they are printed: run this with
//! `--nocapture` on a quiet one. What is tested is what keeps them short: how much is drawn.

use std::time::{Duration, Instant};

use lathe_test_support::fake_model::{FakeModel, Gate, hold, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};

use crate::steps::{
    COMPOSER, CURRENT_SESSION, STOP, click_to_copy, new_session, open_with, project, send,
};

/// No message has more elements on the page, nor more letters.
const MOST_DRAWN: [u64; 2] = [10_000, 200_000];
/// An answer that has not come by then never comes.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a model may say, and the words that are drawn of it at once.
fn long_texts() -> [(&'static str, String, &'static str); 7] {
    let row = format!("|{}\n", " cell |".repeat(100));
    let rule = format!("|{}\n", " --- |".repeat(100));
    let table = format!("{row}{rule}{}", row.repeat(2_000));
    [
        (
            "a block of 5 MB",
            "rose bush\n".repeat(500_000),
            "rose bush",
        ),
        ("a line of 5 MB", "rose ".repeat(1_000_000), "rose rose"),
        (
            "a table of 2,000 rows and 100 columns",
            table.clone(),
            "cell",
        ),
        (
            "a table behind what looks like a fence",
            format!("```ls```\n\n{table}"),
            "cell",
        ),
        (
            "170,000 short paragraphs",
            "rose\n\n".repeat(170_000),
            "rose",
        ),
        (
            "10,000 nested levels",
            format!("{}rose", "> ".repeat(10_000)),
            "It is long",
        ),
        ("900,000 entities", "&amp;".repeat(900_000), "&&&"),
    ]
}

/// Notes the longest time between two frames from now on.
const WATCH: &str = "(() => {
  window.longest = 0;
  window.watching = (window.watching ?? 0) + 1;
  const [mine, begun] = [window.watching, performance.now()];
  let last = begun;
  const frame = () => {
    if (mine !== window.watching) return;
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  return true;
})()";

async fn watch(window: &Window) -> Result<(), WindowError> {
    window.value_of(WATCH, Value::Null).await.map(drop)
}

/// The longest frame since [`watch`], until what has changed is drawn.
async fn longest_frame(window: &Window) -> Result<f64, WindowError> {
    window.two_frames().await?;
    let longest = window.value_of("window.longest", Value::Null).await?;
    Ok(longest.as_f64().unwrap_or(f64::INFINITY))
}

/// A long answer takes longer than other things that tests wait for.
async fn until_the_end(window: &Window) -> Result<(), WindowError> {
    let (over, limit) = (
        format!("!document.querySelector('{STOP}')"),
        Instant::now() + PATIENCE,
    );
    while let Err(error) = window.wait_until("the end", &over).await {
        if Instant::now() > limit {
            return Err(error);
        }
    }
    Ok(())
}

/// How many elements and letters the page has of the messages.
async fn drawn(window: &Window) -> Result<[u64; 2], WindowError> {
    let count = "(() => {
      const all = [...document.querySelectorAll('.assistant-message')];
      const sum = (of) => all.reduce((total, one) => total + of(one), 0);
      return [sum((one) => one.querySelectorAll('*').length), sum((one) => one.textContent.length)];
    })()";
    let found = window.value_of(count, Value::Null).await?;
    Ok([0, 1].map(|at| found[at].as_u64().unwrap_or(u64::MAX)))
}

async fn until_drawn(window: &Window, words: &str) -> Result<(), WindowError> {
    window.wait_for_text(".assistant-message", words).await
}

#[tokio::test]
async fn no_long_text_stops_the_window_while_it_streams_or_when_it_is_opened()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = open_with(&model, &garden).await?;
    let mut too_much = Vec::new();
    let mut note = |what: String, took: f64, drawn: [u64; 2]| {
        println!("{what}: the longest frame took {took:.0} ms; {drawn:?} drawn");
        if drawn[0] > MOST_DRAWN[0] || drawn[1] > MOST_DRAWN[1] {
            too_much.push(format!("{what}: {drawn:?}"));
        }
    };
    for (name, long, words) in long_texts() {
        let gate = Gate::closed();
        let begun = model.reply([text("It is long.\n\n"), hold(&gate), text(long)]);
        send(&window, &format!("Say {name}")).await?;
        begun.asked().await;
        until_drawn(&window, "It is long").await?;
        watch(&window).await?;
        gate.open();
        until_the_end(&window).await?;
        until_drawn(&window, words).await?;
        let took = longest_frame(&window).await?;
        note(format!("{name}, streamed"), took, drawn(&window).await?);

        window.wait_for(CURRENT_SESSION).await?;
        let id = "document.querySelector(given).dataset.sessionId";
        let id = window.value_of(id, json!(CURRENT_SESSION)).await?;
        let row = format!(
            "[data-session-id={}] .session-open",
            id.as_str().unwrap_or_default()
        );
        new_session(&window).await?;
        watch(&window).await?;
        window.click(&row).await?;
        until_drawn(&window, words).await?;
        let took = longest_frame(&window).await?;
        note(format!("{name}, stored"), took, drawn(&window).await?);

        if window.count("[data-testid=show-rest]").await? > 0 {
            watch(&window).await?;
            window.click("[data-testid=show-rest]").await?;
            window.wait_for(".whole-text-line").await?;
            let took = longest_frame(&window).await?;
            note(format!("the rest of {name}"), took, drawn(&window).await?);
            window.screenshot("the-rest-of-a-long-text").await?;
        }
        new_session(&window).await?;
    }
    assert_eq!(too_much, [""; 0]);
    window.close().await
}

#[tokio::test]
async fn a_text_that_is_drawn_in_part_is_copied_whole() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let long = "rose ".repeat(10_000);
    model.reply([text(format!("{long}and the last one"))]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Plant them all").await?;
    until_the_end(&window).await?;
    window.wait_for("[data-testid=show-rest]").await?;
    click_to_copy(&window, ".assistant-message .part-copy").await?;
    window.click(COMPOSER).await?;
    window.press("Control+v").await?;
    // A text of this length is attached instead of written into the composer.
    window
        .wait_for_text(".attachment-name", "Pasted text.txt")
        .await?;
    let answered = model.reply([text("So many.")]);
    send(&window, "Count them").await?;
    let request = answered.asked().await.body.to_string();
    assert!(
        request.matches("and the last one").count() == 2,
        "the answer and the copy of it"
    );
    window.close().await
}
