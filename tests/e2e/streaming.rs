//! A long answer streams in while the person reads above it.

use lathe_test_support::fake_model::{FakeModel, Gate, hold, pause, text};
use lathe_test_support::window::WindowError;
use serde_json::{Value, json};

use crate::steps::{STOP, open_with, project, send, until_answered};

const DELTAS: usize = 2_000;

/// Records in every frame where the first visible paragraph is and how high each finished block
/// is.
const WATCH: &str = "(() => {
  const list = document.querySelector('[data-testid=timeline]');
  const top = list.getBoundingClientRect().top;
  const blocks = () => [...document.querySelectorAll('.assistant-message [data-part=text] p')];
  const mark = blocks().find((one) => one.getBoundingClientRect().top > top + 40);
  window.seen = { places: new Set(), heights: new Map(), shifts: 0, mark: mark?.textContent };
  const height = (one) => Math.round(one.getBoundingClientRect().height * 100);
  (function look() {
    if (window.seenEnough) return;
    window.seen.places.add(Math.round(mark.getBoundingClientRect().top * 100));
    blocks().slice(0, -1).forEach((one, at) => {
      const before = window.seen.heights.get(at + one.textContent);
      if (before !== undefined && before !== height(one)) window.seen.shifts += 1;
      window.seen.heights.set(at + one.textContent, height(one));
    });
    requestAnimationFrame(look);
  })();
  return mark !== undefined;
})()";

/// Deltas that make paragraphs, lists, tables and code blocks.
fn words(at: usize) -> String {
    match at % 40 {
        0 => format!("\n\nParagraph {at} begins "),
        13 => "`some code` ".to_owned(),
        20 => "\n\n- a point ".to_owned(),
        21 => "of **weight**\n- another ".to_owned(),
        26 => "\n\n```rust\nfn main() {\n".to_owned(),
        28 => "}\n```\n\n".to_owned(),
        30 => "\n\n| a | b |\n| - | - |\n".to_owned(),
        31 => "| 1 | 2 |\n".to_owned(),
        32 => "\n\nand ".to_owned(),
        other => format!("word{other} "),
    }
}

#[tokio::test]
async fn streaming_does_not_move_the_text_that_is_being_read() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let first: String = (0..1_000).map(words).collect();
    model.reply([text(first)]);
    // Enough to scroll; the rest is sent after the test has scrolled up.
    let gate = Gate::closed();
    let mut deltas: Vec<_> = (0..400).map(|at| text(words(at))).collect();
    deltas.push(hold(&gate));
    for at in 0..DELTAS {
        deltas.push(text(words(at)));
        if at % 10 == 0 {
            deltas.push(pause(10));
        }
    }
    model.reply(deltas);
    let window = open_with(&model, &garden).await?;
    send(&window, "Begin").await?;
    until_answered(&window).await?;
    send(&window, "Go on").await?;
    window.wait_for(STOP).await?;
    let grown = "[...document.querySelectorAll('.session-turn')].pop()\
                 .querySelectorAll('.assistant-message [data-part=text] p').length > 4";
    window.wait_until("a few paragraphs", grown).await?;
    let up = "document.querySelector('[data-testid=timeline]').scrollBy(0, -900)";
    window.value_of(up, Value::Null).await?;
    window.wait_for("[data-testid=jump-to-latest]").await?;
    window.two_frames().await?;
    assert_eq!(window.value_of(WATCH, Value::Null).await?, json!(true));
    gate.open();

    until_answered(&window).await?;
    let seen = "(window.seenEnough = true, \
                { places: window.seen.places.size, shifts: window.seen.shifts })";
    let seen = window.value_of(seen, Value::Null).await?;
    assert_eq!(seen, json!({ "places": 1, "shifts": 0 }));

    window.click("[data-testid=jump-to-latest]").await?;
    window
        .wait_until(
            "the end on screen",
            "(() => { const list = document.querySelector('[data-testid=timeline]'); \
             return list.scrollHeight - list.scrollTop - list.clientHeight < 2; })()",
        )
        .await?;
    window.close().await
}
