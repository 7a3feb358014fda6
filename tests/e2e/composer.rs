//! Attachments of a prompt, mentions, and images in the lightbox.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lathe_test_support::window::{Window, WindowError};
use serde_json::json;

use crate::steps::{COMPOSER, open, project, send};

/// Two by one pixels.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5ErkJggg==";
const CHIP: &str = ".attachment-name";

/// A paste event as the clipboard causes it; everything after the event is real.
const PASTE: &str = "(() => {
  const getData = (type) => type === 'text/plain' ? given[1] : '';
  const event = new Event('paste', { bubbles: true, cancelable: true });
  Object.defineProperty(event, 'clipboardData', { value: { types: ['text/plain'], files: [], getData } });
  document.querySelector(given[0]).dispatchEvent(event);
  return true;
})()";

async fn paste(window: &Window, text: &str) -> Result<(), WindowError> {
    window.value_of(PASTE, json!([COMPOSER, text])).await?;
    Ok(())
}

#[tokio::test]
async fn a_long_paste_is_attached_and_sent() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    paste(&window, &"a bed of tulips\n".repeat(100)).await?;
    window.wait_for_text(CHIP, "Pasted text.txt").await?;
    send(&window, "Count the tulips").await?;

    window.wait_gone(CHIP).await?;
    window
        .wait_for_text(".user-message [data-part=file]", "Pasted text.txt")
        .await?;
    window.close().await
}

#[tokio::test]
async fn an_image_is_picked_sent_and_viewed() -> Result<(), WindowError> {
    let garden = project()?;
    let picture = garden.path().join("tulip.png");
    let bytes = BASE64_STANDARD.decode(PNG).unwrap_or_default();
    fs::write(&picture, bytes)?;
    let window = open(&garden).await?;

    window.click(".composer-attach").await?;
    window.click(".menu-item").await?;
    window.pick_path("^Attach files$", &picture).await?;
    window.wait_for_text(CHIP, "tulip.png").await?;
    let drawn = "document.querySelector(given)?.naturalWidth === 2";
    window
        .wait_until_with("the thumbnail", drawn, json!(".attachment-thumb"))
        .await?;

    send(&window, "What is in this picture?").await?;
    window.click(".user-message .file-open").await?;
    window
        .wait_until_with("the picture", drawn, json!(".lightbox-picture"))
        .await?;
    window.screenshot("lightbox").await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=lightbox]").await?;
    window.wait_for(".file-open:focus").await?;
    window.close().await
}

#[tokio::test]
async fn a_file_is_mentioned_with_the_keyboard_alone() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    window.type_text(COMPOSER, "Explain @main").await?;
    // Enter takes the marked one; the list of the first letters may have it further down.
    let marked = "[data-active] .suggest-name";
    window.wait_for_text(marked, "src/main.rs").await?;
    window.press("Enter").await?;
    let text = "document.querySelector(given).value === 'Explain @src/main.rs '";
    window
        .wait_until_with("the mention in the text", text, json!(COMPOSER))
        .await?;
    window.press("Enter").await?;
    window
        .wait_for_text(".user-message [data-part=file]", "src/main.rs")
        .await?;
    window.close().await
}

#[tokio::test]
async fn files_dropped_on_the_window_are_attached_in_their_order() -> Result<(), WindowError> {
    let garden = project()?;
    let picture = garden.path().join("a tulip.png");
    fs::write(&picture, BASE64_STANDARD.decode(PNG).unwrap_or_default())?;
    let window = open(&garden).await?;

    let paths = [
        picture,
        garden.path().join("src"),
        garden.path().join("README.md"),
    ];
    let drag = window.drag(&paths).await?;
    window.wait_for("[data-testid=drop-overlay]").await?;
    window.screenshot("drop").await?;
    window.drop_files(drag).await?;

    window.wait_gone("[data-testid=drop-overlay]").await?;
    window.wait_for_text(CHIP, "README.md").await?;
    assert_eq!(
        window.texts(CHIP).await?,
        ["a tulip.png", "src", "README.md"]
    );
    window.screenshot("attachments").await?;
    window.close().await
}

#[tokio::test]
async fn attachments_are_put_in_order_and_removed_with_keys() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    let paths = [garden.path().join("src"), garden.path().join("README.md")];
    let drag = window.drag(&paths).await?;
    window.wait_for("[data-testid=drop-overlay]").await?;
    window.drop_files(drag).await?;
    window.wait_for_text(CHIP, "README.md").await?;
    let order = "[...document.querySelectorAll('.attachment-name')]\
                 .map((one) => one.textContent).join() === given";

    // After Escape, Tab moves the focus again: past the remove button of the last attachment.
    window.click(COMPOSER).await?;
    for key in ["Escape", "Shift+Tab", "Shift+Tab"] {
        window.press(key).await?;
    }
    window.wait_for(".attachment-body:focus").await?;
    window.press("ArrowLeft").await?;
    window.press("Control+ArrowRight").await?;
    window
        .wait_until_with("the new order", order, json!("README.md,src"))
        .await?;
    window.press("Delete").await?;
    window
        .wait_until_with("what is left", order, json!("README.md"))
        .await?;
    window.close().await
}

#[tokio::test]
async fn an_image_is_copied_pasted_and_saved() -> Result<(), WindowError> {
    let garden = project()?;
    let picture = garden.path().join("tulip.png");
    fs::write(&picture, BASE64_STANDARD.decode(PNG).unwrap_or_default())?;
    let window = open(&garden).await?;
    window.click(".composer-attach").await?;
    window.click(".menu-item").await?;
    window.pick_path("^Attach files$", &picture).await?;
    window.wait_for_text(CHIP, "tulip.png").await?;
    send(&window, "What is in this picture?").await?;
    window.click(".user-message .file-open").await?;
    window.wait_for(".lightbox-picture").await?;

    let saved = garden.path().join("saved.png");
    window.press("Control+s").await?;
    window.pick_path("^Save attachment$", &saved).await?;
    window.wait_for_file(&saved, fs::read(&picture)?).await?;

    window.press("Control+c").await?;
    window
        .wait_for_text("[data-testid=toast]", "Image copied")
        .await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=lightbox]").await?;
    window.click(COMPOSER).await?;
    window.press("Control+v").await?;
    window.wait_for_text(CHIP, ".png").await?;
    window.close().await
}

#[tokio::test]
async fn files_that_are_dragged_out_again_leave_nothing() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    let drag = window.drag(&[garden.path().join("README.md")]).await?;
    window.wait_for("[data-testid=drop-overlay]").await?;
    window.drag_files_out(drag).await?;
    window.wait_gone("[data-testid=drop-overlay]").await?;
    assert_eq!(window.count(CHIP).await?, 0);
    window.close().await
}

#[tokio::test]
async fn the_lightbox_moves_and_zooms_with_keys() -> Result<(), WindowError> {
    let garden = project()?;
    let bytes = BASE64_STANDARD.decode(PNG).unwrap_or_default();
    let paths = ["rose.png", "tulip.png"].map(|name| garden.path().join(name));
    for path in &paths {
        fs::write(path, &bytes)?;
    }
    let window = open(&garden).await?;
    let drag = window.drag(&paths).await?;
    window.drop_files(drag).await?;
    window.wait_for_text(CHIP, "tulip.png").await?;
    send(&window, "Which is redder?").await?;
    window.click(".user-message .file-open").await?;

    let (title, position) = (".lightbox-title", "[data-testid=lightbox-position]");
    window.wait_for_text(title, "rose.png").await?;
    for (key, name, place) in [
        ("ArrowRight", "tulip.png", "2 of 2"),
        ("ArrowLeft", "rose.png", "1 of 2"),
        ("End", "tulip.png", "2 of 2"),
        ("Home", "rose.png", "1 of 2"),
    ] {
        window.press(key).await?;
        window.wait_for_text(title, name).await?;
        window.wait_for_text(position, place).await?;
    }
    // The lightbox is dark in both themes, so its buttons must be light.
    let brightness = "Math.min(...getComputedStyle(document.querySelector(given)).color\
                      .match(/[0-9]+/g).slice(0, 3).map(Number))";
    let button = window.value_of(brightness, json!(".lightbox .icon-button"));
    let button = button.await?.as_u64();
    assert!(button > Some(120), "{button:?}");
    window.wait_for(".lightbox-frame[data-zoom=fit]").await?;
    window.press("1").await?;
    window.wait_for(".lightbox-frame[data-zoom='1.00']").await?;
    window.press("=").await?;
    let nearer = "Number(document.querySelector(given).dataset.zoom) > 1";
    window
        .wait_until_with("a larger picture", nearer, json!(".lightbox-frame"))
        .await?;
    window.press("0").await?;
    window.wait_for(".lightbox-frame[data-zoom=fit]").await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=lightbox]").await?;
    window.close().await
}
