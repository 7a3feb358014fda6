//! Our own context menus, by real clicks of the right button and by keys.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{MouseButton, Window, WindowError};
use serde_json::json;

use crate::steps::{
    COMPOSER, CURRENT_SESSION, open, open_with, project, run_action, send, until_answered,
    wait_written,
};

const ITEM: &str = ".context-menu .menu-item";

/// Opens the menu of an element and returns its items.
async fn menu_of(window: &Window, css: &str, words: &str) -> Result<Vec<String>, WindowError> {
    window.click_native(css, words, MouseButton::Right).await?;
    window.wait_for(ITEM).await?;
    window.texts(&format!("{ITEM} > span")).await
}

async fn choose(window: &Window, item: &str) -> Result<(), WindowError> {
    window.click_native(ITEM, item, MouseButton::Left).await?;
    window.wait_gone(ITEM).await
}

async fn dismiss(window: &Window) -> Result<(), WindowError> {
    window.press("Escape").await?;
    window.wait_gone(ITEM).await
}

fn has(items: &[String], wanted: &[&str]) {
    let missing: Vec<_> = wanted
        .iter()
        .filter(|one| !items.iter().any(|item| item == *one))
        .collect();
    assert!(missing.is_empty(), "{missing:?} is not in {items:?}");
}

#[tokio::test]
async fn everything_in_a_session_has_a_menu() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    fs::write(garden.path().join("beds.txt"), "one\ntwo\n")?;
    model.title("Counting");
    let edit = json!({ "filePath": "beds.txt", "oldString": "one", "newString": "ONE" });
    model.reply([call("read", json!({ "filePath": "beds.txt" }))]);
    model.reply([call("edit", edit)]);
    model.reply([text(
        "See [the garden](https://garden.example/) for:\n\n```rust\nplant();\n```",
    )]);
    let window = open_with(&model, &garden).await?;
    window.resize(1440, 900).await?;
    send(&window, "Count").await?;
    until_answered(&window).await?;

    has(
        &menu_of(&window, ".user-message", "Count").await?,
        &["Copy text", "Edit and resend", "Fork from here"],
    );
    dismiss(&window).await?;
    has(
        &menu_of(&window, ".tool[data-tool=edit] .card-head", "").await?,
        &["Open in editor", "Copy path", "Copy link"],
    );
    window.screenshot("context-menu-light").await?;
    dismiss(&window).await?;
    has(
        &menu_of(&window, ".assistant-message a", "the garden").await?,
        &["Open link", "Copy link address", "Copy text", "Copy turn"],
    );
    dismiss(&window).await?;
    has(
        &menu_of(&window, ".assistant-message pre code", "plant").await?,
        &["Copy code"],
    );
    dismiss(&window).await?;
    has(
        &menu_of(&window, ".project-name", "").await?,
        &["New session", "Copy path"],
    );
    dismiss(&window).await?;

    run_action(&window, "theme dark").await?;
    window.wait_for(":root[data-theme=dark]").await?;
    window.wait_for("[data-testid=review] .diff-line").await?;
    let hunk = "[data-testid=review] .diff-line[data-kind=add]";
    has(
        &menu_of(&window, hunk, "ONE").await?,
        &["Keep", "Revert", "Open in editor"],
    );
    window.screenshot("context-menu-dark").await?;
    choose(&window, "Revert").await?;
    window
        .wait_for_file(&garden.path().join("beds.txt"), "one\ntwo\n")
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_session_is_renamed_by_its_menu_and_by_the_keys_for_it() -> Result<(), WindowError> {
    const FIELD: &str = ".session-rename";
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;

    menu_of(&window, CURRENT_SESSION, "").await?;
    choose(&window, "Rename").await?;
    window.wait_for(&format!("{FIELD}:focus")).await?;
    window.press("Control+a").await?;
    window.type_text(FIELD, "Beds").await?;
    window.press("Enter").await?;
    window.wait_for_text(CURRENT_SESSION, "Beds").await?;

    window
        .wait_for(&format!("{CURRENT_SESSION} .session-open:focus"))
        .await?;
    window.press("Shift+F10").await?;
    window.wait_for(&format!("{ITEM}:focus")).await?;
    window.press("Enter").await?;
    window.wait_for(&format!("{FIELD}:focus")).await?;
    window.close().await
}

#[tokio::test]
async fn the_menu_of_a_field_cuts_and_pastes() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    window.type_text(COMPOSER, "beds").await?;
    for (item, left) in [("Select all", "beds"), ("Cut", ""), ("Paste", "beds")] {
        menu_of(&window, COMPOSER, "").await?;
        choose(&window, item).await?;
        wait_written(&window, left).await?;
    }
    menu_of(&window, COMPOSER, "").await?;
    choose(&window, "Undo").await?;
    wait_written(&window, "").await?;
    window.close().await
}

#[tokio::test]
async fn what_is_pressed_cannot_be_selected_and_what_is_read_can() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    send(&window, "Count the beds").await?;
    until_answered(&window).await?;
    let selectable =
        "given.map((css) => getComputedStyle(document.querySelector(css)).webkitUserSelect)";
    let places = json!([
        ".session-title",
        ".title-bar-title",
        ".composer-bar",
        ".user-message",
        ".assistant-message p",
        COMPOSER,
    ]);
    let found = window.value_of(selectable, places).await?;
    assert_eq!(
        found,
        json!(["none", "none", "none", "text", "text", "text"])
    );
    window.close().await
}
