//! The review: changes of the agent are shown and reverted.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{open_asking, open_with, project, send, until_answered, until_asked};

const REVIEW: &str = "[data-testid=review]";
const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";
const AFTER: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\nTWELVE\n";
const LAST_ONLY: &str =
    "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\nTWELVE\n";

/// A turn that changes the first and the last line of a file, far enough apart for two hunks.
async fn changed(model: &FakeModel, garden: &TempDir) -> Result<Window, WindowError> {
    fs::write(garden.path().join("beds.txt"), BEFORE)?;
    let edit = |old: &str, new: &str| {
        let input = json!({ "filePath": "beds.txt", "oldString": old, "newString": new });
        call("edit", input)
    };
    model.reply([call("read", json!({ "filePath": "beds.txt" }))]);
    model.reply([edit("one", "ONE")]);
    model.reply([edit("twelve", "TWELVE")]);
    model.reply([text("Both lines shout now.")]);
    let window = open_with(model, garden).await?;
    send(&window, "Shout").await?;
    until_answered(&window).await?;
    assert_eq!(beds(garden)?, AFTER);
    Ok(window)
}

fn beds(garden: &TempDir) -> Result<String, WindowError> {
    Ok(fs::read_to_string(garden.path().join("beds.txt"))?)
}

#[tokio::test]
async fn one_hunk_is_reverted_with_the_mouse_and_undone() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = changed(&model, &garden).await?;
    window.wait_for(REVIEW).await?;
    window
        .wait_for_text(&format!("{REVIEW} .diff-line[data-kind=add]"), "ONE")
        .await?;
    assert_eq!(
        window.count(&format!("{REVIEW} [data-hunk]")).await?,
        2,
        "one hunk for each end of the file"
    );
    window.screenshot("review").await?;

    window.click("[data-testid=take-back-hunk]").await?;
    window.wait_for("[data-testid=review-confirm]").await?;
    window.screenshot("review-confirm").await?;
    window.click("[data-testid=confirm-take-back]").await?;
    window.wait_for("[data-testid=review-undo]").await?;
    assert_eq!(beds(&garden)?, LAST_ONLY);

    window.click("[data-testid=review-undo]").await?;
    window.wait_gone("[data-testid=review-undo]").await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.close().await
}

#[tokio::test]
async fn the_summary_and_the_patch_of_a_turn_open_the_review() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut window = changed(&model, &garden).await?;
    for way in ["turn-summary", "open-review"] {
        window.wait_for(REVIEW).await?;
        window.click("[data-testid=close-review]").await?;
        window.wait_gone(REVIEW).await?;
        window.click(&format!("[data-testid={way}]")).await?;
        window
            .wait_for_text(&format!("{REVIEW} .diff-line[data-kind=add]"), "ONE")
            .await?;
    }
    window.click("[data-testid=review-mode]").await?;
    let beside = format!("{REVIEW} .diff-pair");
    window.wait_for_text(&beside, "ONE").await?;
    window.screenshot("review-side-by-side").await?;
    // The choice is remembered.
    window.restart().await?;
    window.click("[data-testid=turn-summary]").await?;
    window.wait_for_text(&beside, "ONE").await?;
    window.close().await
}

#[tokio::test]
async fn a_whole_file_is_reverted_after_a_restart() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut window = changed(&model, &garden).await?;
    window.restart().await?;
    window.wait_for("[data-testid=turn-summary]").await?;
    if window.count(REVIEW).await? == 0 {
        window.press("Control+d").await?;
    }
    window.click("[data-testid=take-back-file]").await?;
    window.click("[data-testid=confirm-take-back]").await?;
    window.wait_for("[data-testid=review-undo]").await?;
    assert_eq!(beds(&garden)?, BEFORE);
    window.close().await
}

#[tokio::test]
async fn later_changes_by_the_person_are_left_alone_and_named() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = changed(&model, &garden).await?;
    let mine = AFTER.replace("ONE", "mine");
    fs::write(garden.path().join("beds.txt"), &mine)?;
    window.click("[data-testid=take-back-file]").await?;
    window
        .wait_for("[data-testid=review-confirm] [data-change=conflict]")
        .await?;
    window.screenshot("review-conflict").await?;
    assert_eq!(
        window
            .count("[data-testid=confirm-take-back]:enabled")
            .await?,
        0
    );
    window.press("Escape").await?;
    window.wait_gone("[data-testid=review-confirm]").await?;
    assert_eq!(beds(&garden)?, mine);
    window.close().await
}

/// Prompt, permission, review, revert, undo: without a mouse.
#[tokio::test]
async fn a_turn_is_sent_allowed_reviewed_and_reverted_with_keys_alone() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let input = json!({ "filePath": "new.txt", "content": "tulips\n" });
    model.reply([call("write", input)]);
    model.reply([text("There are tulips.")]);
    let window = open_asking(&model, &garden, json!({ "edit": "ask" })).await?;
    let made = garden.path().join("new.txt");

    window.press("Control+l").await?;
    window.wait_for("[data-testid=composer]:focus").await?;
    window.type_text("[data-testid=composer]", "Plant").await?;
    window.press("Enter").await?;
    window.wait_for("[data-permission=true]").await?;
    window
        .wait_for_text("[data-permission=true]", "tulips")
        .await?;
    window.screenshot("permission-edit").await?;
    assert!(!made.exists());
    until_asked(&window).await?;
    window.press("Alt+1").await?;
    until_answered(&window).await?;
    assert_eq!(fs::read_to_string(&made)?, "tulips\n");

    window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
    window.press("Control+Shift+d").await?;
    let in_review = "document.activeElement?.closest('[data-testid=review]') !== null";
    window
        .wait_until("the focus in the review", in_review)
        .await?;
    window.press("ArrowDown").await?;
    window.press("Delete").await?;
    window
        .wait_until(
            "the confirmation",
            "document.activeElement?.matches('[data-testid=confirm-take-back]')",
        )
        .await?;
    window.press("Enter").await?;
    window.wait_for("[data-testid=review-undo]").await?;
    assert!(!made.exists());
    window.press("Control+z").await?;
    window.wait_gone("[data-testid=review-undo]").await?;
    assert_eq!(fs::read_to_string(&made)?, "tulips\n");
    window.close().await
}
