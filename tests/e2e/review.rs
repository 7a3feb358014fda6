//! The review: changes of the agent are shown and reverted.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{choose, open_asking, open_with, project, send, until_answered, until_asked};

pub const REVIEW: &str = "[data-testid=review]";
pub const BEFORE: &str =
    "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";
pub const AFTER: &str =
    "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\nTWELVE\n";
pub const LAST_ONLY: &str =
    "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\nTWELVE\n";
pub const FIRST_ONLY: &str =
    "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

/// A turn that changes the first and the last line of a file, far enough apart for two hunks.
pub async fn changed(model: &FakeModel, garden: &TempDir) -> Result<Window, WindowError> {
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

async fn open_review(window: &Window) -> Result<(), WindowError> {
    if window.count(REVIEW).await? == 0 {
        window.press("Control+d").await?;
    }
    window.wait_for(&format!("{REVIEW} .diff-file")).await
}

pub fn beds(garden: &TempDir) -> Result<String, WindowError> {
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

    window.click("[data-testid=revert-hunk]").await?;
    let tomb = format!("{REVIEW} [data-tomb]");
    window.wait_for_text(&tomb, "Reverted").await?;
    assert_eq!(beds(&garden)?, LAST_ONLY);
    window.screenshot("review-reverted").await?;

    window.click("[data-testid=undo-here]").await?;
    window.wait_gone(&tomb).await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.wait_for("[data-testid=review-redo]:enabled").await?;
    window.click("[data-testid=review-redo]").await?;
    window
        .wait_until(
            "one hunk",
            "document.querySelectorAll('[data-hunk]').length === 1",
        )
        .await?;
    assert_eq!(beds(&garden)?, LAST_ONLY);
    window.close().await
}

#[tokio::test]
async fn what_is_kept_folds_and_stays_so_after_a_restart() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut window = changed(&model, &garden).await?;
    window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
    window.click("[data-testid=keep-hunk]").await?;
    let kept = format!("{REVIEW} [data-hunk='0'] .diff-kept");
    window.wait_for_text(&kept, "Kept").await?;
    window.screenshot("review-kept").await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.restart().await?;
    window.wait_for("[data-testid=turn-summary]").await?;
    open_review(&window).await?;
    window.wait_for_text(&kept, "Kept").await?;
    window.click("[data-testid=review-undo]").await?;
    window.wait_gone(&kept).await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.close().await
}

#[tokio::test]
async fn a_comment_is_written_kept_through_a_restart_and_sent() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut window = changed(&model, &garden).await?;
    window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
    window.click("[data-testid=comment-hunk]").await?;
    window.wait_for("[data-testid=comment-text]:focus").await?;
    window
        .type_text("[data-testid=comment-text]", "Too loud")
        .await?;
    window.click("[data-testid=save-comment]").await?;
    window.wait_for_text(".comment-text", "Too loud").await?;
    window.screenshot("review-comment").await?;
    window.restart().await?;
    window.wait_for("[data-testid=turn-summary]").await?;
    open_review(&window).await?;
    window.wait_for_text(".comment-text", "Too loud").await?;

    let asked = model.reply([text("I whisper now.")]);
    window.click("[data-testid=send-comments]").await?;
    window.wait_gone("[data-testid=comments-bar]").await?;
    until_answered(&window).await?;
    let sent = asked.request().body.to_string();
    assert!(
        sent.contains("Too loud") && sent.contains("beds.txt") && sent.contains("ONE"),
        "{sent}"
    );
    window.close().await
}

#[tokio::test]
async fn the_steps_are_gone_through_and_the_files_brought_back() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = changed(&model, &garden).await?;
    window.wait_for("[data-testid=scrub-bar]").await?;
    window.click("[data-testid=previous-step]").await?;
    window
        .wait_for_text("[data-testid=scrub-bar]", "Step 2 of 2")
        .await?;
    window.click("[data-testid=previous-step]").await?;
    window
        .wait_for_text("[data-testid=scrub-bar]", "Step 1 of 2")
        .await?;
    window
        .wait_until(
            "one hunk",
            "document.querySelectorAll('[data-hunk]').length === 1",
        )
        .await?;
    window.screenshot("review-scrub").await?;
    assert_eq!(beds(&garden)?, AFTER);
    choose(
        &window,
        "[data-testid=scrub-bar] .icon-button[aria-haspopup]",
        "Restore files",
    )
    .await?;
    window.wait_for("[data-testid=restore-confirm]").await?;
    window.screenshot("review-restore").await?;
    window.click("[data-testid=confirm-restore]").await?;
    window
        .wait_for_text("[data-testid=toast]", "Restored 1 file")
        .await?;
    assert_eq!(beds(&garden)?, FIRST_ONLY);
    window.close().await
}

#[tokio::test]
async fn the_row_at_the_end_of_a_turn_opens_the_review() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mut window = changed(&model, &garden).await?;
    for _ in 0..2 {
        window.wait_for(REVIEW).await?;
        window.click("[data-testid=close-review]").await?;
        window.wait_gone(REVIEW).await?;
        window.click("[data-testid=turn-summary]").await?;
        window
            .wait_for_text(&format!("{REVIEW} .diff-line[data-kind=add]"), "ONE")
            .await?;
    }
    choose(&window, ".review-options", "Side by side").await?;
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
    open_review(&window).await?;
    window.click("[data-testid=revert-file]").await?;
    window
        .wait_for_text("[data-testid=toast]", "Reverted 1 file")
        .await?;
    assert_eq!(beds(&garden)?, BEFORE);
    window.close().await
}

#[tokio::test]
async fn later_changes_by_the_person_are_left_alone_and_named() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = changed(&model, &garden).await?;
    let mine = AFTER.replace("ONE", "mine");
    fs::write(garden.path().join("beds.txt"), &mine)?;
    window.click("[data-testid=revert-file]").await?;
    window
        .wait_for("[data-testid=lines-confirm] [data-change=conflict]")
        .await?;
    window.screenshot("review-conflict").await?;
    assert_eq!(
        window.count("[data-testid=confirm-revert]:enabled").await?,
        0
    );
    window.press("Escape").await?;
    window.wait_gone("[data-testid=lines-confirm]").await?;
    assert_eq!(beds(&garden)?, mine);
    window.close().await
}

#[tokio::test]
async fn a_hunk_is_reverted_around_a_persons_edit_after_it_was_shown() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let window = changed(&model, &garden).await?;
    let mine = AFTER.replace("six", "mine");
    fs::write(garden.path().join("beds.txt"), &mine)?;
    window.click("[data-testid=revert-hunk]").await?;
    window.wait_for("[data-testid=lines-confirm]").await?;
    window.screenshot("review-merge").await?;
    assert_eq!(beds(&garden)?, mine);
    window.click("[data-testid=confirm-revert]").await?;
    window.wait_for(&format!("{REVIEW} [data-tomb]")).await?;
    assert_eq!(beds(&garden)?, mine.replace("ONE", "one"));
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
        .wait_for_text("[data-testid=toast]", "Reverted 1 file")
        .await?;
    assert!(!made.exists());
    window.press("Control+z").await?;
    window.wait_for("[data-testid=review-redo]:enabled").await?;
    assert_eq!(fs::read_to_string(&made)?, "tulips\n");
    window.close().await
}
