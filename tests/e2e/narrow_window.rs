//! A narrow window: nothing is cut off, and the page does not scroll sideways.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};

use crate::steps::{new_session, open_with, project, run_action, send, until_answered};

const TITLE: &str =
    "Why the irrigation of the north-eastern beds starts two hours late in every second week";

/// The classes of all elements that extend beyond the right edge of the window.
const OUTSIDE: &str = "[...new Set([...document.querySelectorAll('body *')]
  .filter((one) => {
    const box = one.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || box.right <= innerWidth + 1) return false;
    // Content of an element that scrolls can be reached.
    for (let up = one.parentElement; up && up !== document.body; up = up.parentElement) {
      if (getComputedStyle(up).overflowX !== 'visible') return false;
    }
    return true;
  })
  .map((one) => one.className || one.tagName))]";

async fn look(window: &Window, name: &str) -> Result<(), WindowError> {
    window.screenshot(name).await?;
    let outside = window.value_of(OUTSIDE, Value::Null).await?;
    assert_eq!(outside, json!([]), "{name}");
    let wide = "document.scrollingElement.scrollWidth - innerWidth";
    assert_eq!(window.value_of(wide, Value::Null).await?, 0, "{name}");
    Ok(())
}

async fn tour(window: &Window, suffix: &str) -> Result<(), WindowError> {
    look(window, &format!("session-{suffix}")).await?;
    window.press("Control+d").await?;
    window.wait_for("[data-testid=review] [data-hunk]").await?;
    look(window, &format!("review-{suffix}")).await?;
    window.press("Control+d").await?;
    window.wait_gone("[data-testid=review]").await?;
    for (action, dialog) in [("Share session", "share"), ("Take snapshot", "snapshot")] {
        run_action(window, action).await?;
        window
            .wait_for(&format!("[data-testid={dialog}-dialog]"))
            .await?;
        look(window, &format!("{dialog}-{suffix}")).await?;
        window.press("Escape").await?;
        window
            .wait_gone(&format!("[data-testid={dialog}-dialog]"))
            .await?;
    }
    window.press("Control+k").await?;
    window.wait_for("[data-testid=palette-field]:focus").await?;
    look(window, &format!("palette-{suffix}")).await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=palette-field]").await?;
    window.press("Control+,").await?;
    for page in [
        "providers",
        "permissions",
        "agents",
        "mcp",
        "appearance",
        "tools",
        "data",
        "shortcuts",
    ] {
        window
            .click(&format!("[data-testid=settings-{page}]"))
            .await?;
        look(window, &format!("settings-{page}-{suffix}")).await?;
    }
    window.press("Escape").await?;
    window.wait_gone("[data-testid=settings]").await
}

#[tokio::test]
async fn nothing_is_cut_off_in_a_narrow_window() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let beds = "north\nnorth-east\neast\n".repeat(8);
    fs::write(garden.path().join("beds.txt"), &beds)?;
    model.title(TITLE);
    model.reply([call("read", json!({ "filePath": "beds.txt" }))]);
    let long = "https://example.org/".to_owned() + &"irrigation/".repeat(20);
    let edit = json!({ "filePath": "beds.txt", "oldString": beds, "newString": format!("{beds}{long}\n") });
    model.reply([call("edit", edit)]);
    let answer = format!(
        "It is the **timer**.\n\n| bed | hours | why |\n| --- | --- | --- |\n| north | 2 | the timer counts weeks from the year's first day |\n\n```rust\nlet weeks = irrigation::weeks_since(first_day, today).map(|weeks| weeks % 2 == 0).unwrap_or_default();\n```\n\nSee {long}"
    );
    model.reply([text(answer)]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Why is it late?").await?;
    until_answered(&window).await?;
    window.wait_for_text(".session-title", "irrigation").await?;
    if window.count("[data-testid=review]").await? > 0 {
        window.press("Control+d").await?;
    }

    for (width, height) in [(700, 800), (480, 640)] {
        window.resize(width, height).await?;
        for theme in ["light", "dark"] {
            run_action(&window, &format!("theme {theme}")).await?;
            tour(&window, &format!("{width}-{theme}")).await?;
        }
    }
    window.click("[data-testid=show-sidebar]").await?;
    window.wait_for("[data-testid=sidebar]").await?;
    look(&window, "sidebar-480-dark").await?;
    window.press("Escape").await?;
    new_session(&window).await?;
    look(&window, "empty-480-dark").await?;
    window.close().await
}
