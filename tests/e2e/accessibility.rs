//! axe, a checker for accessibility, finds nothing serious on the main screens.

use std::fs;
use std::path::Path;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};

use crate::steps::{choose, open, open_with, project, run_action, send, until_answered};

/// The violations that axe calls serious or critical, with the elements concerned.
const RUN: &str = "axe.run(document, { resultTypes: ['violations'] }).then((found) =>
  found.violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')))";

async fn check(window: &Window, screen: &str) -> Result<(), WindowError> {
    window.two_frames().await?;
    let waiting = format!("({RUN}).then((said) => arguments[arguments.length - 1](said))");
    let found = window.run(&waiting, json!([])).await?;
    assert_eq!(found, json!([]), "{screen}");
    Ok(())
}

/// Loads axe into the page.
async fn with_axe(window: Window) -> Result<Window, WindowError> {
    let checker =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/node_modules/axe-core/axe.min.js");
    let checker = fs::read_to_string(checker)?;
    let load = format!("{checker}; arguments[arguments.length - 1](typeof axe)");
    assert_eq!(window.run(&load, json!([])).await?, json!("object"));
    Ok(window)
}

#[tokio::test]
async fn axe_finds_nothing_serious_on_the_main_screens() -> Result<(), WindowError> {
    let garden = project()?;
    let window = with_axe(open(&garden).await?).await?;

    check(&window, "an empty session").await?;
    send(&window, "How many beds are there?").await?;
    until_answered(&window).await?;
    for theme in ["light", "dark"] {
        window
            .value_of(
                "document.documentElement.dataset.theme = given",
                json!(theme),
            )
            .await?;
        check(&window, &format!("an answer, {theme}")).await?;
    }
    send(&window, "Show me around: give me the tour").await?;
    window.wait_for("[data-permission=true]").await?;
    check(&window, "a permission").await?;
    window.press("Control+f").await?;
    window.type_text("[data-testid=find-field]", "beds").await?;
    check(&window, "the find bar").await?;
    window.press("Escape").await?;
    window.press("Control+Shift+f").await?;
    window
        .type_text("[data-testid=session-filter]", "beds")
        .await?;
    window.wait_for(".search-hit").await?;
    check(&window, "search results").await?;
    window.press("Control+k").await?;
    window.wait_for("[data-testid=palette-field]:focus").await?;
    check(&window, "the palette").await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=palette]").await?;
    window.press("Control+,").await?;
    window.wait_for("[data-testid=settings]").await?;
    let pages = "[...document.querySelectorAll('[role=tab]')].map((tab) => tab.dataset.testid)";
    let pages = window.value_of(pages, Value::Null).await?;
    for page in pages
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        window.click(&format!("[data-testid={page}]")).await?;
        window.screenshot(page).await?;
        check(&window, page).await?;
    }
    window.close().await
}

#[tokio::test]
async fn axe_finds_nothing_serious_in_the_review_and_in_dialogs() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let edit = json!({ "filePath": "README.md", "oldString": "beds", "newString": "rows" });
    let todo = json!({ "id": "1", "content": "Weed", "status": "pending", "priority": "high" });
    model.reply([call("read", json!({ "filePath": "README.md" }))]);
    model.reply([
        call("edit", edit),
        call("todowrite", json!({ "todos": [todo] })),
    ]);
    model.reply([text("It counts rows now.")]);
    let window = with_axe(open_with(&model, &garden).await?).await?;
    send(&window, "Count rows").await?;
    until_answered(&window).await?;
    window.wait_for("[data-testid=review] [data-hunk]").await?;

    for theme in ["light", "dark"] {
        run_action(&window, &format!("theme {theme}")).await?;
        check(&window, &format!("the review, {theme}")).await?;
        choose(&window, ".review-options", "Revert all").await?;
        window.wait_for("[data-testid=lines-confirm]").await?;
        check(&window, &format!("reverting all, {theme}")).await?;
        window.press("Escape").await?;
        window.wait_gone("[data-testid=lines-confirm]").await?;
        window.click("[data-testid=edit-prompt]").await?;
        window.wait_for("[data-testid=editing]").await?;
        check(&window, &format!("a prompt written anew, {theme}")).await?;
        window.click("[data-testid=editing] button").await?;
        for (action, dialog) in [("Share session", "share"), ("Take snapshot", "snapshot")] {
            let dialog = format!("[data-testid={dialog}-dialog]");
            run_action(&window, action).await?;
            window.wait_for(&dialog).await?;
            check(&window, &format!("{dialog}, {theme}")).await?;
            window.press("Escape").await?;
            window.wait_gone(&dialog).await?;
        }
    }
    window.close().await
}
