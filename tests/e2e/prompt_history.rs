//! Earlier prompts in the composer.

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::window::WindowError;

use crate::steps::{COMPOSER, new_session, open_with, project, send, until_answered, wait_written};

#[tokio::test]
async fn the_arrow_keys_recall_earlier_prompts() -> Result<(), WindowError> {
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
