//! Takes the screenshot of the README: copy `target/screenshots/readme.png` to
//! `docs/screenshot.png` when the window has changed.

use std::fs;
use std::io;

use lathe_provider::Usage;
use lathe_test_support::fake_model::{FakeModel, call, reasoning, text, usage};
use lathe_test_support::window::WindowError;
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{new_session, open_with, run_action, send, until_answered};

const BEFORE: &str = "\
use std::time::Duration;

use crate::clock::{Clock, Day};

/// Opens the valves of a bed once a day, at its hour.
pub struct Watering<'a> {
    clock: &'a dyn Clock,
    hour: u32,
}

impl Watering<'_> {
    /// How long the valves stay open now; nothing while it is not time.
    pub fn due(&self) -> Option<Duration> {
        let now = self.clock.now();
        (now.hour() == self.hour).then_some(Duration::from_secs(600))
    }
}
";

const FIELD: (&str, &str) = (
    "    hour: u32,\n}\n",
    "    hour: u32,\n    last: Option<Day>,\n}\n",
);
const BODY: (&str, &str) = (
    "    pub fn due(&self) -> Option<Duration> {
        let now = self.clock.now();
        (now.hour() == self.hour).then_some(Duration::from_secs(600))
    }
",
    "    pub fn due(&mut self) -> Option<Duration> {
        let now = self.clock.now();
        // In autumn the same hour comes twice.
        if now.hour() != self.hour || self.last == Some(now.day()) {
            return None;
        }
        self.last = Some(now.day());
        Some(Duration::from_secs(600))
    }
",
);
const ANSWER: &str = "\
The hour alone decided, and on the last Sunday of October **it comes twice**. A bed now \
remembers the day on which it was watered:

- `Watering` keeps the `last` day; `due` answers once for each.
- A clock that is set back within the day changes nothing.

The README says so, too.";

/// In a folder of its own, so that two runs on one machine do not meet.
fn greenhouse(parent: &TempDir) -> io::Result<TempDir> {
    // Without random digits in its name, which is in the picture.
    let folder = tempfile::Builder::new()
        .prefix("greenhouse")
        .rand_bytes(0)
        .tempdir_in(parent)?;
    fs::create_dir(folder.path().join("src"))?;
    fs::write(folder.path().join("src/watering.rs"), BEFORE)?;
    let clock = "/// A day of the calendar.\npub struct Day(u32);\n";
    fs::write(folder.path().join("src/clock.rs"), clock)?;
    fs::write(
        folder.path().join("README.md"),
        "# Greenhouse\n\nWaters each bed once a day.\n",
    )?;
    Ok(folder)
}

#[tokio::test]
async fn the_screenshot_of_the_readme_is_taken() -> Result<(), WindowError> {
    let (model, parent) = (FakeModel::start().await, tempfile::tempdir()?);
    let folder = greenhouse(&parent)?;
    let window = open_with(&model, &folder).await?;
    window.resize(1280, 800).await?;
    run_action(&window, "theme dark").await?;
    window.click("[data-testid=model-picker]").await?;
    window
        .type_text("[data-testid=model-search]", "coder")
        .await?;
    window.press("Enter").await?;
    window
        .wait_for_text("[data-testid=model-picker]", "Coder")
        .await?;
    for (title, prompt) in [
        ("Name the beds after what grows", "Name them"),
        ("Frost warning by mail", "Warn"),
        ("Why the tests need a real valve", "Why?"),
    ] {
        model.title(title);
        model.reply([text("Done.")]);
        new_session(&window).await?;
        send(&window, prompt).await?;
        window.wait_for_text(".session-title", title).await?;
        until_answered(&window).await?;
    }

    let edit = |path: &str, (old, new): (&str, &str)| {
        let input = json!({ "filePath": path, "oldString": old, "newString": new });
        call("edit", input)
    };
    model.title("Water once when the clock goes back");
    model.reply([
        reasoning("**Looking for where the hour is decided**\n\nSomething must count the days."),
        call("grep", json!({ "pattern": "hour" })),
        call("read", json!({ "filePath": "src/watering.rs" })),
        call("read", json!({ "filePath": "src/clock.rs" })),
        call("read", json!({ "filePath": "README.md" })),
    ]);
    model.reply([edit("src/watering.rs", FIELD)]);
    model.reply([edit("src/watering.rs", BODY)]);
    let once = (
        "once a day.\n",
        "once a day, also when the clock goes back.\n",
    );
    model.reply([edit("README.md", once)]);
    let used = Usage {
        input: 1_840,
        output: 412,
        cache_read: 29_312,
        ..Usage::default()
    };
    model.reply([text(ANSWER), usage(used)]);
    new_session(&window).await?;
    send(
        &window,
        "In autumn the beds were watered twice in one night. Find out why, and make it once.",
    )
    .await?;
    window.wait_for_text(".session-title", "Water once").await?;
    until_answered(&window).await?;
    window
        .wait_for_text("[data-testid=review] .diff-line", "In autumn the same hour")
        .await?;
    // The mouse must not highlight anything.
    window.click(".title-bar-title").await?;
    window.screenshot("readme").await?;
    window.close().await
}
