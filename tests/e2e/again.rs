//! Saying it differently: a prompt written anew, called back, or gone on with in a copy.

use std::fs;
use std::path::Path;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::git::commit_all;
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{
    ANSWER, COMPOSER, CURRENT_SESSION, choose, current_session, new_session, open_with, project,
    send, until_answered, wait_written,
};

/// A turn that makes a file, with its prompt taken up to be written anew.
async fn rewriting(model: &FakeModel, garden: &TempDir) -> Result<Window, WindowError> {
    let input = json!({ "filePath": "new.txt", "content": "tulips\n" });
    model.reply([call("write", input)]);
    model.reply([text("There are tulips.")]);
    let window = open_with(model, garden).await?;
    send(&window, "Plant tulips").await?;
    until_answered(&window).await?;
    assert!(garden.path().join("new.txt").exists());

    window.click("[data-testid=edit-prompt]").await?;
    wait_written(&window, "Plant tulips").await?;
    window.press("Control+a").await?;
    window.type_text(COMPOSER, "Plant nothing yet").await?;
    window.screenshot("edit-prompt").await?;
    Ok(window)
}

async fn send_anew(model: &FakeModel, window: &Window) -> Result<(), WindowError> {
    let answered = model.reply([text("Nothing it is.")]);
    window.press("Enter").await?;
    window.wait_for_text(ANSWER, "Nothing it is.").await?;
    until_answered(window).await?;
    assert_eq!(window.count(".session-turn").await?, 1);
    let asked = answered.request().user_text();
    assert!(!asked.contains("tulips"), "{asked}");
    Ok(())
}

#[tokio::test]
async fn a_prompt_that_is_written_anew_takes_its_answer_and_its_files_back()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = rewriting(&model, &garden).await?;
    send_anew(&model, &window).await?;
    assert!(!garden.path().join("new.txt").exists());
    window.close().await
}

#[tokio::test]
async fn a_prompt_that_is_written_anew_can_leave_the_files_as_they_are() -> Result<(), WindowError>
{
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = rewriting(&model, &garden).await?;
    window.click(".edit-keep input").await?;
    window.wait_for_text(".edit-words", "files stay").await?;
    window.click(COMPOSER).await?;
    send_anew(&model, &window).await?;
    assert_eq!(
        fs::read_to_string(garden.path().join("new.txt"))?,
        "tulips\n"
    );
    window.close().await
}

#[tokio::test]
async fn earlier_prompts_come_back_with_the_arrow_keys() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([text("Twelve.")]);
    model.reply([text("Many.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    send(&window, "Count the plants").await?;
    until_answered(&window).await?;

    window.type_text(COMPOSER, "half a thought").await?;
    window.press("Home").await?;
    for (key, said) in [
        ("ArrowUp", "Count the plants"),
        ("ArrowUp", "Count the beds"),
        ("ArrowDown", "Count the plants"),
        ("ArrowDown", "half a thought"),
    ] {
        window.press(key).await?;
        wait_written(&window, said).await?;
    }
    new_session(&window).await?;
    window.wait_for(&format!("{COMPOSER}:focus")).await?;
    window.press("ArrowUp").await?;
    wait_written(&window, "Count the plants").await?;
    window.close().await
}

#[tokio::test]
async fn a_fork_stands_below_its_origin_and_goes_its_own_way() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    model.reply([text("Twelve.")]);
    model.reply([text("Many.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    // To the planning agent, which the fork must keep.
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
async fn a_fork_with_a_worktree_mentions_the_files_it_has() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    commit_all(garden.path())?;
    model.reply([text("Twelve.")]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let menu = "[data-last] [aria-label=Fork]";
    choose(&window, menu, "in a new git worktree").await?;
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
