//! Tool cards: opening, copying and finding.

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{
    COMPOSER, click_to_copy, open_with, project, send, until_answered, wait_written,
};

async fn worked(model: &FakeModel, garden: &TempDir) -> Result<Window, WindowError> {
    let command = json!({ "command": "printf 'one\\ntwo\\n'", "description": "Say two lines" });
    model.reply([call("bash", command)]);
    let file = json!({ "filePath": "new.txt", "content": "tulips\n" });
    model.reply([call("write", file)]);
    model.reply([text("Done.")]);
    let window = open_with(model, garden).await?;
    send(&window, "Work").await?;
    until_answered(&window).await?;
    Ok(window)
}

/// What an open card shows below its head.
fn body(tool: &str) -> String {
    format!("[data-tool={tool}] .card-body")
}

fn head(tool: &str) -> String {
    format!("[data-tool={tool}] .card-head")
}

#[tokio::test]
async fn a_card_opens_with_its_details_and_closes_again() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = worked(&model, &garden).await?;
    window
        .wait_for("[data-tool=write][data-status=completed]")
        .await?;
    assert_eq!(window.count(&body("write")).await?, 0);

    window.click(&head("write")).await?;
    let added = format!("{} .diff-line[data-kind=add]", body("write"));
    window.wait_for_text(&added, "tulips").await?;
    window.screenshot("card-write").await?;
    window.press("Enter").await?;
    window.wait_gone(&body("write")).await?;
    window.press("Space").await?;
    window.wait_for_text(&added, "tulips").await?;
    window.close().await
}

#[tokio::test]
async fn the_tokens_of_a_step_are_shown_under_the_mouse() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = worked(&model, &garden).await?;
    const MARK: &str = ".step-line";
    let opacity = "getComputedStyle(document.querySelector(given)).opacity";
    window.hover(COMPOSER).await?;
    let hidden = format!("{opacity} === '0'");
    window
        .wait_until_with("a quiet mark", &hidden, json!(MARK))
        .await?;
    window.hover(&head("bash")).await?;
    let shown = format!("{opacity} === '1'");
    window
        .wait_until_with("the mark", &shown, json!(MARK))
        .await?;
    window.screenshot("step-mark").await?;
    let said = window.text(MARK).await?;
    assert!(said.contains("in") && said.contains("out"), "{said}");
    let title = window
        .value_of("document.querySelector(given).title", json!(MARK))
        .await?;
    assert!(
        title.as_str().unwrap_or_default().contains("cache"),
        "{title}"
    );
    window.close().await
}

#[tokio::test]
async fn a_command_and_its_output_are_copied() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = worked(&model, &garden).await?;
    if window.count(&body("bash")).await? == 0 {
        window.click(&head("bash")).await?;
    }
    window.wait_for_text(&body("bash"), "two").await?;
    window.screenshot("card-bash").await?;

    for (button, copied) in [
        ("Copy command", "printf 'one\\ntwo\\n'"),
        ("Copy output", "one\ntwo\n"),
    ] {
        let button = format!("{} [aria-label='{button}']", body("bash"));
        click_to_copy(&window, &button).await?;
        window.click(COMPOSER).await?;
        window.press("Control+a").await?;
        window.press("Control+v").await?;
        wait_written(&window, copied).await?;
        window
            .wait_gone(&format!("{} [aria-label=Copied]", body("bash")))
            .await?;
    }
    window.close().await
}

const TOP: &str = "document.querySelector(given).getBoundingClientRect().top";

#[tokio::test]
async fn an_opened_card_stays_in_place_and_open_while_scrolling() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let story = "A paragraph about beds and what grows in them.\n\n".repeat(120);
    model.reply([text(story)]);
    let lines = "tulips\n".repeat(30);
    model.reply([call(
        "write",
        json!({ "filePath": "new.txt", "content": lines }),
    )]);
    model.reply([text("Done.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Tell me").await?;
    until_answered(&window).await?;
    send(&window, "Work").await?;
    until_answered(&window).await?;
    window.wait_for_text("[data-last]", "Done.").await?;

    let at = |head: String| window.value_of(TOP, json!(head));
    let before = at(head("write")).await?;
    window.click(&head("write")).await?;
    window
        .wait_for(&format!("{} .diff-line[data-kind=add]", body("write")))
        .await?;
    window.two_frames().await?;
    assert_eq!(
        at(head("write")).await?,
        before,
        "it moved under the pointer"
    );

    let scroll = |to: &'static str| {
        let timeline = "document.querySelector('[data-testid=timeline]')";
        format!("({timeline}.scrollTop = {to}, true)")
    };
    window.wait_until("the beginning", &scroll("0")).await?;
    window.wait_gone("[data-tool=write]").await?;
    window.wait_until("the end", &scroll("1e9")).await?;
    window.wait_for(&body("write")).await?;
    window.close().await
}

#[tokio::test]
async fn find_opens_the_folded_card_that_contains_the_match() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    for path in ["README.md", "src/main.rs", "README.md"] {
        model.reply([call("read", json!({ "filePath": path }))]);
    }
    model.reply([text("I have seen all of it.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Look around").await?;
    until_answered(&window).await?;
    window.wait_for("[data-run='3']").await?;
    assert_eq!(window.count("[data-tool=read]").await?, 0);

    window.press("Control+f").await?;
    window.wait_for("[data-testid=find-field]:focus").await?;
    window
        .type_text("[data-testid=find-field]", "12 beds")
        .await?;
    window
        .wait_for_text("[data-tool=read] .card-body", "12 beds")
        .await?;
    window.screenshot("find-in-card").await?;
    window.close().await
}
