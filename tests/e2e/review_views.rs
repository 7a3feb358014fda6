//! The review as it looks: a session with every kind of change, in every view.

use std::fs;
use std::io;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::git::commit_all;
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::steps::{
    choose, open_asking, open_with, project, run_action, send, until_answered, until_asked,
};

const REVIEW: &str = "[data-testid=review]";
/// A green circle, and a red one that is larger and further to the right.
const BEFORE_PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAGAAAABACAIAAABqVuVZAAAAsklEQVR42u3aQRGAMAwEwMhBCZoQiwQeSMAB00+TSbszp2B/yV28zy0/CQSAAAECBAgQIEACCBCg3YCO6xzJjkCDNOVM0YKmkCl66eQbRS+afKZoqpNmFH11cowAVQNN1Ukwiu46s40A1QGl6Uw1AlQElKwzzwgQIECAAAECBAgQIECAAK0D5JoH5KMISKuhF1McbgGkm7fusA+yMLNRtHK1kwYECBAgQAIIECBAgACtkg+1G2j/OfFsJAAAAABJRU5ErkJggg==";
const AFTER_PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAGAAAABACAIAAABqVuVZAAAAyklEQVR42u3bwQ2DQAwEQBfGO7WnCErIIyVQQACJnOEOM9JWMC/LXsf3M8tOAgEgQIAAAQIECJDcEej9mn7zdKBVlK08C+gQzTVMcXeas5miBs15TFFMJ90o6unkGkVJnUSjqKqTZRSFdVKMAA0GdLFOuxGgkYC66DQaARoGqKNOixEgQIAqAHXX+dsIECBAgAABAmQOAgQIkH2QhVlxIDtpQO5igNzmtTsKtDv0gzTMdBS1XPWkNe39anhm8e0DCBAgQAIIEKBeWQCLHoXT7HWMIgAAAABJRU5ErkJggg==";
const LONG: &str = "crates/irrigation-controller/src/schedules/of_the_north_eastern_beds";

/// Rows of the review whose content is wider than they are.
const CUT: &str = "[...document.querySelectorAll('.review-head, .review-file, .review-folder, \
    .review .diff-file, .review .diff-hunk, .scrub-bar, .git-bar, .review-bar, .selection-bar')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.className)";

const SCROLL_TO: &str =
    "(document.querySelector(given).scrollIntoView({ block: 'nearest' }), true)";

fn numbered(lines: std::ops::Range<usize>) -> String {
    lines
        .map(|line| format!("pub const BED_{line}: u32 = {line};\n"))
        .collect()
}

/// A repository with the files that the turns of [`changed`] change.
fn greenhouse() -> io::Result<TempDir> {
    let folder = project()?;
    let root = folder.path();
    fs::create_dir_all(root.join(LONG))?;
    fs::write(
        root.join(LONG).join("every_second_week.rs"),
        numbered(0..60),
    )?;
    fs::write(root.join("src/beds.rs"), numbered(0..40))?;
    fs::write(root.join("src/old_name.rs"), numbered(100..130))?;
    fs::write(root.join("unused.txt"), "nothing needs this\n")?;
    fs::write(root.join("water.sh"), "#!/bin/sh\necho water\n")?;
    fs::write(root.join("Cargo.lock"), "[[package]]\nname = \"a\"\n")?;
    let picture = BASE64_STANDARD.decode(BEFORE_PNG).unwrap_or_default();
    fs::write(root.join("tulip.png"), picture)?;
    commit_all(root)?;
    Ok(folder)
}

/// Two turns that change a file in every way there is.
async fn changed(model: &FakeModel, folder: &TempDir) -> Result<Window, WindowError> {
    let shell =
        |command: String| call("bash", json!({ "command": command, "description": "Edit" }));
    model.reply([shell(format!(
        "sed -i 's/BED_3:/BED_THREE:/; s/BED_30: u32 = 30/BED_30: u64 = 31/' src/beds.rs; \
         git mv src/old_name.rs src/new_name.rs; rm unused.txt; chmod +x water.sh; \
         printf '%s' {AFTER_PNG} | base64 -d > tulip.png"
    ))]);
    model.reply([text("The beds have names.")]);
    model.reply([shell(format!(
        "sed -i 's/BED_7:/THE_SEVENTH_BED_OF_THE_NORTH_EASTERN_GREENHOUSE_BEHIND_THE_OLD_WELL:/' {LONG}/every_second_week.rs; \
         seq 1 400 > src/hours.txt; seq 1 90 >> Cargo.lock; sed -i 's/BED_12:/BED_TWELVE:/' src/beds.rs"
    ))]);
    model.reply([text("And hours.")]);
    let window = open_with(model, folder).await?;
    window.resize(1440, 900).await?;
    for prompt in ["Name the beds", "Add the hours of every bed"] {
        send(&window, prompt).await?;
        until_answered(&window).await?;
    }
    window.wait_for(&format!("{REVIEW} .review-file")).await?;
    Ok(window)
}

/// Takes a picture, and fails if something in the review is cut off.
async fn look(window: &Window, name: &str) -> Result<(), WindowError> {
    window.screenshot(name).await?;
    let cut = window.value_of(CUT, Value::Null).await?;
    assert_eq!(cut, json!([]), "{name}");
    Ok(())
}

async fn to_first_step(window: &Window) -> Result<(), WindowError> {
    for step in ["Step 2 of 2", "Step 1 of 2"] {
        window.wait_for("[data-testid=git-branch]").await?;
        window.click("[data-testid=previous-step]").await?;
        window
            .wait_for_text("[data-testid=scrub-bar]", step)
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn every_kind_of_change_is_drawn_light_and_dark_wide_and_narrow() -> Result<(), WindowError> {
    let (model, folder) = (FakeModel::start().await, greenhouse()?);
    let window = changed(&model, &folder).await?;
    let files = window.texts(&format!("{REVIEW} .review-letter")).await?;
    let mut letters = files.join("");
    letters.retain(|letter| letter.is_ascii_uppercase());
    assert_eq!(letters, "MMARMBDX");
    for theme in ["light", "dark"] {
        run_action(&window, &format!("theme {theme}")).await?;
        for (width, height) in [(1440, 900), (1000, 760)] {
            let named = |view: &str| format!("review-{view}-{theme}-{width}");
            window.resize(width, height).await?;
            if window.count(REVIEW).await? == 0 {
                window.press("Control+d").await?;
            }
            window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
            look(&window, &named("all")).await?;
            for name in ["tulip.png", "water.sh", "new_name.rs"] {
                let row = format!(".review-file[data-path$='{name}']");
                // The driver does not scroll to a row that is only covered by its list's edge.
                window.value_of(SCROLL_TO, json!(row)).await?;
                window.click(&row).await?;
                window.two_frames().await?;
                look(&window, &named(name)).await?;
            }
            window.click("[data-testid=previous-step]").await?;
            window
                .wait_for_text("[data-testid=scrub-bar]", "Step 2 of 2")
                .await?;
            look(&window, &named("step")).await?;
            window.click("[data-testid=browse-step]").await?;
            window
                .wait_for("[data-testid=step-browser] .review-file")
                .await?;
            look(&window, &named("browse")).await?;
            window.click("[data-testid=to-now]").await?;
            window.wait_for(&format!("{REVIEW} [data-hunk]")).await?;
        }
    }
    window.resize(1440, 900).await?;
    choose(&window, ".review-options", "Side by side").await?;
    window.wait_for(&format!("{REVIEW} .diff-pair")).await?;
    look(&window, "review-beside").await?;
    window.close().await
}

#[tokio::test]
async fn every_scope_of_the_review_is_chosen_from_its_menu() -> Result<(), WindowError> {
    let (model, folder) = (FakeModel::start().await, greenhouse()?);
    let window = changed(&model, &folder).await?;
    let count = |files: usize| {
        format!("document.querySelectorAll('{REVIEW} .review-file').length === {files}")
    };
    window.wait_until("all files", &count(8)).await?;
    for scope in ["Uncommitted in git", "Whole session"] {
        choose(&window, ".scope-picker", scope).await?;
        window.wait_for_text(".scope-title", scope).await?;
        window.wait_until(scope, &count(8)).await?;
    }
    look(&window, "review-scopes").await?;
    to_first_step(&window).await?;
    window.wait_until("the first step", &count(5)).await?;
    assert_eq!(
        window
            .count(&format!("{REVIEW} [data-status=edited]"))
            .await?,
        0,
        "a later step is not the person's edit"
    );
    window.close().await
}

#[tokio::test]
async fn a_comment_on_what_a_permission_would_change_goes_with_the_denial()
-> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let input = json!({ "filePath": "new.txt", "content": "tulips\nroses\n" });
    model.reply([call("write", input)]);
    let told = model.reply([text("Only roses, then.")]);
    let window = open_asking(&model, &garden, json!({ "edit": "ask" })).await?;
    send(&window, "Plant").await?;
    until_asked(&window).await?;
    window
        .click("[data-permission=true] [data-testid=comment-hunk]")
        .await?;
    window.wait_for("[data-testid=comment-text]:focus").await?;
    window
        .type_text("[data-testid=comment-text]", "No tulips")
        .await?;
    window.screenshot("permission-comment").await?;
    window.click("[data-testid=save-comment]").await?;
    window
        .wait_for_text("[data-permission=true] .comment-text", "No tulips")
        .await?;
    window.screenshot("permission-commented").await?;
    window.press("Alt+3").await?;
    until_answered(&window).await?;
    let request = told.request();
    let result = request.tool_error("write");
    assert!(
        ["No tulips", "new.txt", "tulips\nroses"]
            .iter()
            .all(|words| result.contains(words)),
        "{result}"
    );
    assert!(!garden.path().join("new.txt").exists());
    window.close().await
}

#[tokio::test]
async fn a_file_is_looked_at_as_it_was_at_a_step() -> Result<(), WindowError> {
    let (model, folder) = (FakeModel::start().await, greenhouse()?);
    let window = changed(&model, &folder).await?;
    to_first_step(&window).await?;
    window.click("[data-testid=browse-step]").await?;
    let tree = "[data-testid=step-browser]";
    window.click(&format!("{tree} [data-path=src]")).await?;
    window
        .click(&format!("{tree} [data-path='src/beds.rs']"))
        .await?;
    let line = |number: usize, words: &str| {
        format!(
            "document.querySelectorAll('.code-line code')[{number}]?.textContent.includes('{words}')"
        )
    };
    window
        .wait_until("the first change", &line(3, "BED_THREE"))
        .await?;
    window
        .wait_until("no later change", &line(12, "BED_12"))
        .await?;
    assert_eq!(
        window
            .count(&format!("{tree} [data-path='src/hours.txt']"))
            .await?,
        0
    );
    window.click("[data-testid=next-step]").await?;
    window
        .wait_until("the later change", &line(12, "BED_TWELVE"))
        .await?;
    window
        .wait_for(&format!("{tree} [data-path='src/hours.txt']"))
        .await?;
    window.close().await
}

#[tokio::test]
async fn the_branch_of_every_session_is_in_the_sidebar() -> Result<(), WindowError> {
    let (model, folder) = (FakeModel::start().await, greenhouse()?);
    model.reply([text("Twelve.")]);
    let window = open_with(&model, &folder).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let branch = window.text("[data-testid=project-branch]").await?;
    assert!(!branch.is_empty(), "{branch}");
    run_action(&window, "new session in worktree").await?;
    window
        .wait_for_text("[data-testid=session-branch]", "lathe/")
        .await?;
    window.screenshot("sidebar-branches").await?;
    window.close().await
}

#[tokio::test]
async fn where_it_covers_the_timeline_the_sessions_stay_in_reach() -> Result<(), WindowError> {
    let (model, folder) = (FakeModel::start().await, greenhouse()?);
    let window = changed(&model, &folder).await?;
    for width in [1440, 1100, 1000] {
        window.resize(width, 760).await?;
        if window.count(REVIEW).await? == 0 {
            window.press("Control+d").await?;
            window.wait_for(REVIEW).await?;
        }
        let main = "document.querySelector('.frame-main').getBoundingClientRect().width";
        let timeline = window.value_of(main, Value::Null).await?;
        assert!(timeline.as_f64() >= Some(400.0), "{width}: {timeline}");
    }
    window.resize(900, 760).await?;
    window.wait_gone(REVIEW).await?;
    window.press("Control+d").await?;
    window.wait_for(REVIEW).await?;
    window.wait_for(".frame-main[inert]").await?;
    let edges = "[document.querySelector('.frame-side').getBoundingClientRect().right, \
                 document.querySelector('.frame-review').getBoundingClientRect().left]";
    let edges = window.value_of(edges, Value::Null).await?;
    assert_eq!(edges[0], edges[1], "they are beside each other");
    look(&window, "review-over").await?;
    window.close().await
}
