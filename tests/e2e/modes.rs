//! How much happens without a question: modes, one dialog per call, and what became of each call.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::outside;
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;

use crate::steps::{
    choose, open_as, open_asking, options, project, send, until_answered, until_asked,
};

const MODE: &str = "[data-testid=mode-picker]";
const PROMPT: &str = "[data-permission=true]";
const ALL: &str = "[data-permission=all]";

/// In both themes, wide and narrow, as a person would look at it.
async fn pictures(window: &Window, name: &str) -> Result<(), WindowError> {
    for (theme, width, height) in [
        ("light", 1440, 900),
        ("light", 900, 800),
        ("dark", 900, 800),
        ("dark", 1440, 900),
    ] {
        window.resize(width, height).await?;
        let set = "(document.documentElement.dataset.theme = given, true)";
        window.value_of(set, json!(theme)).await?;
        window
            .screenshot(&format!("{name}-{theme}-{width}"))
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_mode_is_chosen_in_the_composer_and_remembered_by_its_project() -> Result<(), WindowError>
{
    let (model, garden) = (FakeModel::start().await, project()?);
    let options = options(&model, &garden, json!({ "bash": "ask" }))?;
    let mut window = open_as(options, &garden).await?;
    window.wait_for_text(MODE, "Ask").await?;
    window.click(MODE).await?;
    window.wait_for(".menu .menu-item").await?;
    pictures(&window, "modes").await?;
    window.press("Escape").await?;
    window.wait_gone(".menu").await?;

    choose(&window, MODE, "Full access").await?;
    window.wait_for("[data-testid=full-access-dialog]").await?;
    window.screenshot("full-access-warning").await?;
    window.click("[data-testid=confirm-full-access]").await?;
    window
        .wait_for(&format!("{MODE}[data-tone=danger]"))
        .await?;

    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Make it" }),
    )]);
    model.reply([text("It is made.")]);
    send(&window, "Make it").await?;
    until_answered(&window).await?;
    assert!(garden.path().join("made").exists());
    assert_eq!(window.count(PROMPT).await?, 0);

    window.restart().await?;
    window.wait_for_text(MODE, "Full access").await?;
    choose(&window, MODE, "Ask").await?;
    window.wait_for_text(MODE, "Ask").await?;
    // The warning was read once in this project.
    choose(&window, MODE, "Full access").await?;
    window
        .wait_for(&format!("{MODE}[data-tone=danger]"))
        .await?;
    window.close().await
}

#[tokio::test]
async fn one_dialog_has_all_that_a_command_needs_and_sets_its_dangers_off()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let command = "cp /etc/hostname /etc/hosts . && rm -rf build";
    model.reply([call(
        "bash",
        json!({ "command": command, "description": "Copy and clean" }),
    )]);
    let window = open_asking(&model, &garden, json!({ "bash": "ask" })).await?;
    fs::create_dir(garden.path().join("build"))?;
    send(&window, "Clean up").await?;
    window.wait_for_text(PROMPT, command).await?;
    window
        .wait_for_text(".permission-dangers", "rm -rf build")
        .await?;
    window
        .wait_for_text(".permission-needs", "Outside the project")
        .await?;
    assert_eq!(window.count("[data-permission]").await?, 1);
    pictures(&window, "dangers").await?;

    until_asked(&window).await?;
    window.press("Alt+3").await?;
    window.wait_for(".tool[data-outcome=denied]").await?;
    assert_eq!(window.count("[data-permission]").await?, 0);
    assert!(garden.path().join("build").exists());
    window.close().await
}

#[tokio::test]
async fn calls_of_one_step_are_counted_shown_together_and_a_no_stops_them_all()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let fetch = |page: &str| {
        let url = format!(
            "{}/{page}",
            model.base_url(lathe_provider::WireKind::OpenaiChat)
        );
        call("webfetch", json!({ "url": url, "format": "text" }))
    };
    model.reply([fetch("one"), fetch("two"), fetch("three")]);
    let window = open_asking(&model, &garden, json!({ "webfetch": "ask" })).await?;
    send(&window, "Fetch three pages").await?;
    window
        .wait_for_text("[data-testid=permission-position]", "1 of 3")
        .await?;
    window.click(".prompt-toggle").await?;
    window
        .wait_for(&format!("{ALL} button[data-armed]"))
        .await?;
    assert_eq!(window.count(".permission-call").await?, 3);
    pictures(&window, "all-calls").await?;
    window
        .click_text(&format!("{ALL} button"), "Deny all 3")
        .await?;
    window.wait_gone(ALL).await?;
    window.wait_for(".tool[data-outcome=denied]").await?;
    // In the order of the requests, which may be another than that of the calls.
    let outcomes =
        "[...document.querySelectorAll('.tool')].map((one) => one.dataset.outcome).sort()";
    let outcomes = window.value_of(outcomes, json!(null)).await?;
    assert_eq!(outcomes, json!(["denied", "not_run", "not_run"]));
    window.screenshot("denied-and-not-run").await?;
    window.close().await
}

/// Whether Auto can be chosen here. Where no sandbox works, its entry says why.
async fn choose_auto(window: &Window) -> Result<bool, WindowError> {
    window.click(MODE).await?;
    window.wait_for(".menu .menu-item").await?;
    let entry = "[...document.querySelectorAll('.menu .menu-item')]\
                 .find((one) => one.textContent.includes('Auto'))";
    let offered = format!("{entry}.getAttribute('aria-disabled') !== 'true'");
    if window.value_of(&offered, json!(null)).await? != json!(true) {
        return Ok(false);
    }
    window.click_text(".menu .menu-item", "Auto").await?;
    window.wait_for_text(MODE, "Auto").await?;
    Ok(true)
}

#[tokio::test]
async fn in_auto_a_command_runs_confined_and_asks_once_for_what_lies_outside()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    // Temporary folders are writable in the sandbox.
    let outside = outside::test_folder()?;
    let bash = |command: &str| {
        model.reply([call(
            "bash",
            json!({ "command": command, "description": "Work" }),
        )])
    };
    let options = options(&model, &garden, json!({ "bash": "ask" }))?;
    let window = open_as(options, &garden).await?;
    if !choose_auto(&window).await? {
        return window.close().await;
    }

    bash("touch made");
    model.reply([text("It is made.")]);
    send(&window, "Make a file").await?;
    until_answered(&window).await?;
    assert!(garden.path().join("made").exists());
    assert_eq!(window.count(PROMPT).await?, 0);

    let log = outside.path().join("log.txt");
    fs::write(&log, "")?;
    let write = format!("echo start >> steps; echo done > {}", log.display());
    bash(&write);
    model.reply([text("It is written.")]);
    send(&window, "Write the log").await?;
    window
        .wait_for_text(PROMPT, "Run again with access outside the project?")
        .await?;
    window
        .wait_for_text(".permission-stopped", "runs again from the start")
        .await?;
    window
        .wait_for_text(".permission-needs", &log.display().to_string())
        .await?;
    window
        .wait_for_text(".tool[data-waiting]", "Waiting for you")
        .await?;
    assert_eq!(fs::read_to_string(&log)?, "");
    pictures(&window, "stopped-by-the-sandbox").await?;

    until_asked(&window).await?;
    // For the session.
    window.press("Alt+5").await?;
    window.wait_gone(PROMPT).await?;
    until_answered(&window).await?;
    assert_eq!(fs::read_to_string(&log)?, "done\n");
    // It has run twice, each time from its start.
    let steps = fs::read_to_string(garden.path().join("steps"))?;
    assert_eq!(steps, "start\nstart\n");

    bash(&format!("echo again > {}", log.display()));
    model.reply([text("Again.")]);
    send(&window, "Write it again").await?;
    until_answered(&window).await?;
    assert_eq!(fs::read_to_string(&log)?, "again\n");
    assert_eq!(window.count(PROMPT).await?, 0);
    window.close().await
}
