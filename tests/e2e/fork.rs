//! A session is forked from one of its prompts.

use std::fs;
use std::path::Path;

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::git::commit_all;
use lathe_test_support::window::WindowError;

use crate::steps::{
    ANSWER, COMPOSER, CURRENT_SESSION, choose, current_session, open_with, project, send,
    until_answered, wait_written,
};

#[tokio::test]
async fn a_fork_is_listed_below_its_origin_and_independent_of_it() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([text("Twelve.")]);
    model.reply([text("Many.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    // Switches to the plan agent, which the fork must use, too.
    window.press("Tab").await?;
    window
        .wait_for_text("[data-testid=agent-picker]", "plan")
        .await?;
    send(&window, "Count the plants").await?;
    until_answered(&window).await?;
    let origin = current_session(&window).await?;

    choose(&window, "[data-last] [aria-label=Fork]", "Fork from here").await?;
    wait_written(&window, "Count the plants").await?;
    window
        .wait_for(&format!("{CURRENT_SESSION}[data-depth='1']"))
        .await?;
    window
        .wait_for_text("[data-testid=agent-picker]", "plan")
        .await?;
    let turns = "document.querySelectorAll('.session-turn').length === 1";
    window.wait_until("the turn before the fork", turns).await?;
    window.screenshot("fork").await?;

    let answered = model.reply([text("None at all.")]);
    window.press("Enter").await?;
    window.wait_for_text(ANSWER, "None at all.").await?;
    assert!(!answered.request().assistant_text().contains("Many."));

    let row = format!(".session-row[data-session-id={origin}] .session-open");
    window.click(&row).await?;
    window.wait_for_text(ANSWER, "Many.").await?;
    window.close().await
}

#[tokio::test]
async fn a_fork_in_a_worktree_mentions_the_files_of_that_worktree() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    commit_all(garden.path())?;
    model.reply([text("Twelve.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let menu = "[data-last] [aria-label=Fork]";
    choose(&window, menu, "in a worktree").await?;
    wait_written(&window, "Count the beds").await?;
    let worktree = window.text("[data-testid=toast] .toast-detail").await?;
    fs::write(garden.path().join("peony-there.txt"), "")?;
    fs::write(Path::new(&worktree).join("peony-here.txt"), "")?;

    window.press("Control+a").await?;
    window.type_text(COMPOSER, "Look at @peony").await?;
    window
        .wait_for_text("[data-testid=suggestions]", "peony-here.txt")
        .await?;
    let names = window.texts(".suggest-name").await?;
    assert!(
        !names.iter().any(|name| name.contains("there")),
        "{names:?}"
    );
    window.press("Escape").await?;
    window.close().await
}
