//! The review of a repository and its git bar: after every click, the bytes on the disk and in git.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::git::{commit_all, git};
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;
use tempfile::TempDir;

use crate::review::{AFTER, BEFORE, FIRST_ONLY, REVIEW, beds, changed};
use crate::steps::{choose, name_of, open_with, project, run_action, send, until_answered};

const GIT_MENU: &str = ".git-bar [aria-haspopup]";
const TOAST: &str = "[data-testid=toast]";
const KEPT: &str = "document.querySelectorAll('[data-testid=review] .diff-kept').length === given";

/// A project whose newest commit has the file that the agent will change.
fn in_repository() -> io::Result<TempDir> {
    let garden = project()?;
    fs::write(garden.path().join("beds.txt"), BEFORE)?;
    commit_all(garden.path())?;
    for [key, value] in [["user.name", "n"], ["user.email", "n@localhost"]] {
        git(garden.path(), &["config", key, value])?;
    }
    Ok(garden)
}

/// The file in a commit, or in the index.
fn in_git(folder: &Path, commit: &str) -> io::Result<String> {
    Ok(git(folder, &["show", &format!("{commit}:beds.txt")])? + "\n")
}

async fn until_kept(window: &Window, hunks: usize) -> Result<(), WindowError> {
    let what = format!("{hunks} kept hunks");
    window.wait_until_with(&what, KEPT, json!(hunks)).await
}

#[tokio::test]
async fn kept_lines_are_staged_and_committed_with_a_message() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let window = changed(&model, &garden).await?;
    window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
    window.click("[data-testid=keep-hunk]").await?;
    until_kept(&window, 1).await?;
    assert_eq!(in_git(garden.path(), "")?, BEFORE);

    choose(&window, GIT_MENU, "Stage kept changes").await?;
    window.wait_for_text(TOAST, "Staged 1 file").await?;
    assert_eq!(in_git(garden.path(), "")?, FIRST_ONLY);
    choose(&window, GIT_MENU, "Unstage all").await?;
    window.wait_gone("[data-testid=git-commit]").await?;
    assert_eq!(in_git(garden.path(), "")?, BEFORE);
    choose(&window, GIT_MENU, "Stage kept changes").await?;
    window.click("[data-testid=git-commit]").await?;
    window
        .wait_for("[data-testid=commit-message]:focus")
        .await?;
    window
        .type_text("[data-testid=commit-message]", "Shout the first bed")
        .await?;
    window.screenshot("git-commit").await?;
    assert_eq!(in_git(garden.path(), "HEAD")?, BEFORE);
    window.click("[data-testid=do-commit]:enabled").await?;
    window.wait_for_text(TOAST, "Shout the first bed").await?;
    assert_eq!(in_git(garden.path(), "HEAD")?, FIRST_ONLY);
    assert_eq!(
        git(garden.path(), &["log", "-1", "--format=%B"])?,
        "Shout the first bed"
    );
    assert_eq!(beds(&garden)?, AFTER);
    assert_eq!(
        git(garden.path(), &["status", "--porcelain"])?,
        "M beds.txt"
    );
    window.close().await
}

#[tokio::test]
async fn what_is_uncommitted_is_put_aside_and_comes_back() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let window = changed(&model, &garden).await?;
    choose(&window, GIT_MENU, "Stash…").await?;
    window.wait_for("[data-testid=do-stash]").await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.click("[data-testid=do-stash]").await?;
    window.wait_for_text(TOAST, "Stashed").await?;
    assert_eq!(beds(&garden)?, BEFORE);
    choose(&window, GIT_MENU, "Restore newest stash").await?;
    window.wait_for_text(TOAST, "Restored the stash").await?;
    assert_eq!(beds(&garden)?, AFTER);
    assert_eq!(git(garden.path(), &["stash", "list"])?, "");
    window.close().await
}

#[tokio::test]
async fn a_file_is_reverted_to_its_commit_and_that_is_undone() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let window = changed(&model, &garden).await?;
    let mine = AFTER.replace("six", "mine");
    fs::write(garden.path().join("beds.txt"), &mine)?;
    choose(&window, ".scope-picker", "Uncommitted in git").await?;
    let added = format!("{REVIEW} .diff-line[data-kind=add]");
    window.wait_for_text(&added, "mine").await?;
    window.click("[data-testid=revert-file]").await?;
    window
        .wait_for("[data-testid=lines-confirm] [data-path='beds.txt']")
        .await?;
    window.screenshot("git-revert-uncommitted").await?;
    assert_eq!(beds(&garden)?, mine);
    window.click("[data-testid=confirm-revert]").await?;
    window.wait_for_text(TOAST, "Reverted 1 file").await?;
    assert_eq!(beds(&garden)?, BEFORE);
    window.wait_for("[data-testid=review-undo]:enabled").await?;
    window.click("[data-testid=review-undo]").await?;
    window.wait_for("[data-testid=review-redo]:enabled").await?;
    assert_eq!(beds(&garden)?, mine);
    window.close().await
}

#[tokio::test]
async fn all_changes_are_kept_and_reverted_with_undo_and_redo() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let window = changed(&model, &garden).await?;
    window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
    choose(&window, ".review-options", "Keep all").await?;
    until_kept(&window, 2).await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.click("[data-testid=review-undo]").await?;
    until_kept(&window, 0).await?;
    assert_eq!(beds(&garden)?, AFTER);

    choose(&window, ".review-options", "Revert all").await?;
    window.wait_for("[data-testid=lines-confirm]").await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.click("[data-testid=confirm-revert]").await?;
    window.wait_for_text(TOAST, "Reverted 1 file").await?;
    assert_eq!(beds(&garden)?, BEFORE);
    window.wait_for("[data-testid=review-undo]:enabled").await?;
    window.click("[data-testid=review-undo]").await?;
    window.wait_for("[data-testid=review-redo]:enabled").await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.click("[data-testid=review-redo]").await?;
    window
        .wait_for("[data-testid=review-redo]:disabled")
        .await?;
    assert_eq!(beds(&garden)?, BEFORE);
    window.close().await
}

#[tokio::test]
async fn lines_that_the_person_changed_too_go_back_as_they_choose() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let window = changed(&model, &garden).await?;
    let mine = AFTER.replace("ONE", "mine");
    fs::write(garden.path().join("beds.txt"), &mine)?;
    let asked = "[data-testid=lines-confirm]";
    for (choice, wanted) in [
        ("mine", mine.replace("TWELVE", "twelve")),
        ("before", BEFORE.to_owned()),
    ] {
        window.click("[data-testid=revert-file]").await?;
        window
            .wait_for(&format!("{asked} [data-change=conflict]"))
            .await?;
        window
            .click(&format!("{asked} [data-choice={choice}]"))
            .await?;
        window.screenshot("review-overlap").await?;
        assert_eq!(beds(&garden)?, mine);
        window.click("[data-testid=confirm-revert]:enabled").await?;
        window.wait_gone(asked).await?;
        window.wait_for("[data-testid=review-undo]:enabled").await?;
        window.wait_for_text(TOAST, "Reverted 1 file").await?;
        assert_eq!(beds(&garden)?, wanted);
        window.click("[data-testid=review-undo]").await?;
        window.wait_for("[data-testid=review-redo]:enabled").await?;
        assert_eq!(beds(&garden)?, mine);
    }
    window.close().await
}

#[tokio::test]
async fn the_files_go_back_to_before_a_prompt_and_forward_again() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let window = changed(&model, &garden).await?;
    let six = json!({ "filePath": "beds.txt", "oldString": "six", "newString": "SIX" });
    model.reply([call("edit", six)]);
    model.reply([text("The sixth shouts, too.")]);
    send(&window, "Shout the sixth").await?;
    until_answered(&window).await?;
    let both = AFTER.replace("six", "SIX");
    assert_eq!(beds(&garden)?, both);

    let menu = "[data-last] [aria-label=Fork]";
    choose(&window, menu, "Restore files to before this prompt").await?;
    window
        .wait_for_text("[data-testid=restore-confirm]", "beds.txt")
        .await?;
    assert_eq!(beds(&garden)?, both);
    window.click("[data-testid=confirm-restore]").await?;
    window.wait_for_text(TOAST, "Restored 1 file").await?;
    assert_eq!(beds(&garden)?, AFTER);
    window.wait_for("[data-testid=review-undo]:enabled").await?;
    window.click("[data-testid=review-undo]").await?;
    window.wait_for("[data-testid=review-redo]:enabled").await?;
    assert_eq!(beds(&garden)?, both);
    window.close().await
}

/// A new session in a worktree, in which the agent has changed the file; and its folder.
async fn in_worktree(
    model: &FakeModel,
    garden: &TempDir,
) -> Result<(Window, PathBuf), WindowError> {
    let edit = |old: &str, new: &str| {
        let input = json!({ "filePath": "beds.txt", "oldString": old, "newString": new });
        call("edit", input)
    };
    model.reply([call("read", json!({ "filePath": "beds.txt" }))]);
    model.reply([edit("one", "ONE")]);
    model.reply([edit("twelve", "TWELVE")]);
    model.reply([text("Both lines shout now.")]);
    let window = open_with(model, garden).await?;
    run_action(&window, "New session in worktree").await?;
    window
        .wait_for(".session-row[data-current][data-apart]")
        .await?;
    send(&window, "Shout").await?;
    until_answered(&window).await?;
    window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
    window.wait_for_text(".git-bar", "Worktree of").await?;
    let beside = format!("{}-", name_of(garden));
    let around = garden.path().parent().unwrap_or(garden.path());
    let found = fs::read_dir(around)?.filter_map(Result::ok);
    let is_beside = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_dir() && name.starts_with(&beside)
    };
    let mut found = found.map(|entry| entry.path()).filter(is_beside);
    let folder = found
        .next()
        .ok_or_else(|| io::Error::other("no worktree"))?;
    assert_eq!(fs::read_to_string(folder.join("beds.txt"))?, AFTER);
    assert_eq!(beds(garden)?, BEFORE);
    Ok((window, folder))
}

#[tokio::test]
async fn a_worktree_is_compared_brought_back_and_removed() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let (window, folder) = in_worktree(&model, &garden).await?;
    choose(&window, GIT_MENU, "Compare with the original").await?;
    window
        .wait_for_text("[data-testid=compared]", "beds.txt")
        .await?;
    window.screenshot("git-compare").await?;
    let panel = "[data-testid=git-panel] button";
    window
        .click_text(panel, "Apply as uncommitted changes")
        .await?;
    window.wait_for("[data-testid=do-bring-back]").await?;
    window.screenshot("git-bring-back").await?;
    assert_eq!(beds(&garden)?, BEFORE);
    window.click("[data-testid=do-bring-back]:enabled").await?;
    window
        .wait_for_text(TOAST, "Changed 1 file of the original")
        .await?;
    assert_eq!(beds(&garden)?, AFTER);

    let undo = "[data-testid=review-undo][aria-label*='apply to the original']:enabled";
    window.click(undo).await?;
    window.wait_for("[data-testid=review-redo]:enabled").await?;
    assert_eq!(beds(&garden)?, BEFORE);
    window.click("[data-testid=review-redo]").await?;
    window.wait_for(undo).await?;
    assert_eq!(beds(&garden)?, AFTER);

    choose(&window, GIT_MENU, "Remove worktree").await?;
    window.wait_for("[data-testid=do-remove-worktree]").await?;
    assert!(folder.join("beds.txt").exists());
    window.click("[data-testid=do-remove-worktree]").await?;
    window.wait_for_text(TOAST, "Removed the worktree").await?;
    assert!(!folder.exists());
    assert_eq!(beds(&garden)?, AFTER);
    let branch = git(
        garden.path(),
        &["branch", "--list", "lathe/*", "--format=%(refname:short)"],
    )?;
    assert_eq!(in_git(garden.path(), &branch)?, AFTER);
    window.close().await
}

#[tokio::test]
async fn a_conflict_with_the_original_is_decided_before_it_is_merged() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, in_repository()?);
    let (window, folder) = in_worktree(&model, &garden).await?;
    git(&folder, &["commit", "-qam", "Shout"])?;
    let mine = BEFORE.replace("one\n", "mine\n");
    fs::write(garden.path().join("beds.txt"), &mine)?;
    git(garden.path(), &["commit", "-qam", "Mine"])?;
    choose(&window, GIT_MENU, "Merge into the original").await?;
    window
        .wait_for("[data-testid=git-panel] [data-change=conflict]")
        .await?;
    let decided = "[data-testid=do-bring-back]:enabled";
    assert_eq!(window.count(decided).await?, 0);
    window
        .click("[data-testid=git-panel] [data-choice=worktree]")
        .await?;
    window.screenshot("git-merge-conflict").await?;
    assert_eq!(beds(&garden)?, mine);
    window.click(decided).await?;
    window
        .wait_for_text(TOAST, "Changed 1 file of the original")
        .await?;
    assert_eq!(beds(&garden)?, AFTER);
    assert_eq!(git(garden.path(), &["status", "--porcelain"])?, "");
    let parents = git(garden.path(), &["rev-list", "--parents", "-1", "HEAD"])?;
    assert_eq!(parents.split(' ').count(), 3, "{parents}");
    choose(&window, GIT_MENU, "Remove worktree").await?;
    window.click("[data-testid=do-remove-worktree]").await?;
    window.wait_for_text(TOAST, "Removed the worktree").await?;
    assert!(!folder.exists());
    window.close().await
}
