//! Settings: import from another program, remembered permissions, data.

use std::fs;
use std::path::Path;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::side_by_side::generate;
use lathe_test_support::window::WindowError;
use serde_json::json;

use crate::steps::{
    close_settings, open_as, open_asking, open_settings, options, project, send, until_answered,
    until_asked,
};

/// Writes three sessions as OpenCode stores them.
fn other_program(data: &Path, worktree: &Path) -> Result<(), WindowError> {
    let storage = data.join("storage");
    fs::create_dir_all(storage.join("session/orchard"))?;
    fs::create_dir_all(storage.join("project"))?;
    let project = json!({ "id": "orchard", "worktree": worktree, "time": { "created": 1 } });
    fs::write(storage.join("project/orchard.json"), project.to_string())?;
    fs::write(storage.join("migration"), "2")?;
    generate(data, worktree, 3, 10).map_err(|error| WindowError::Native(error.to_string()))?;
    Ok(())
}

#[tokio::test]
async fn sessions_of_another_program_are_offered_imported_and_opened() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let elsewhere = tempfile::tempdir()?;
    other_program(&elsewhere.path().join("opencode"), garden.path())?;
    let mut options = options(&model, &garden, json!("allow"))?;
    let place = elsewhere.path().to_string_lossy().into_owned();
    options.env.push(("XDG_DATA_HOME".to_owned(), place));
    let window = open_as(options, &garden).await?;

    window
        .wait_for_text("[data-testid=import-offer]", "3 sessions")
        .await?;
    window.screenshot("import-offer").await?;
    window
        .click("[data-testid=import-offer] [data-tone=primary]")
        .await?;
    window
        .click("[data-testid=settings] [aria-label^='Import from']")
        .await?;
    window
        .wait_for_text("[data-testid=import-said]", "3 added")
        .await?;
    window.screenshot("imported").await?;
    // A second import adds nothing.
    window
        .click("[data-testid=settings] [aria-label^='Import from']")
        .await?;
    window
        .wait_for_text("[data-testid=import-said]", "0 added, 3 already imported")
        .await?;
    window.click("[data-testid=check-data]").await?;
    window
        .wait_until(
            "a word on the data",
            "document.querySelector('[data-testid=check-said]').textContent.trim() !== ''",
        )
        .await?;
    window.screenshot("data-checked").await?;
    close_settings(&window).await?;

    window.wait_gone("[data-testid=import-offer]").await?;
    window
        .click_text(".session-open", "Session number 2")
        .await?;
    window
        .wait_for_text(".user-message", "Please look at file 5.")
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_remembered_permission_is_listed_and_can_be_revoked() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = open_asking(&model, &garden, json!({ "bash": "ask" })).await?;
    let run = || {
        model.reply([call(
            "bash",
            json!({ "command": "ls src", "description": "List" }),
        )]);
        model.reply([text("There is one file.")]);
    };
    const PROMPT: &str = "[data-permission=true]";

    run();
    send(&window, "What is there?").await?;
    window.wait_for_text(PROMPT, "ls src").await?;
    until_asked(&window).await?;
    window.press("Alt+2").await?;
    until_answered(&window).await?;

    // The permission was remembered.
    run();
    send(&window, "And now?").await?;
    until_answered(&window).await?;

    open_settings(&window, "permissions").await?;
    window.wait_for_text(".rule code", "ls").await?;
    window.screenshot("approved").await?;
    window.click(".settings-list button").await?;
    window.wait_gone(".rule").await?;
    close_settings(&window).await?;

    run();
    send(&window, "And once more?").await?;
    window.wait_for_text(PROMPT, "ls src").await?;
    until_asked(&window).await?;
    window.press("Alt+1").await?;
    until_answered(&window).await?;
    window.close().await
}

#[tokio::test]
async fn reduced_motion_is_remembered_and_data_is_cleaned_up_by_hand() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([text("There are twelve beds.")]);
    let options = options(&model, &garden, json!("allow"))?;
    let mut window = open_as(options, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;

    open_settings(&window, "appearance").await?;
    window.click("[data-testid=setting-reducedMotion]").await?;
    window.wait_for("html[data-reduced-motion]").await?;
    window.click("[data-testid=settings-data]").await?;
    for act in ["Clean up", "Rebuild"] {
        window
            .click_text("[data-testid=data-use] button", act)
            .await?;
        let is_done = "[...document.querySelectorAll('[data-testid=data-use] button')]\
                       .some((one) => one.textContent === given && !one.disabled)";
        window.wait_until_with(act, is_done, json!(act)).await?;
    }
    close_settings(&window).await?;

    window.restart().await?;
    window.wait_for("html[data-reduced-motion]").await?;
    window.close().await
}
