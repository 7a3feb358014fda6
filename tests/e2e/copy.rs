//! Copying code and answers.

use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::window::WindowError;

use crate::steps::{
    COMPOSER, click_to_copy, open_with, project, send, until_answered, wait_written,
};

#[tokio::test]
async fn code_and_answers_are_copied() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let answer = "Try this:\n\n```rust\nplant(Tulip);\n```";
    model.reply([text(answer)]);
    let window = open_with(&model, &garden).await?;
    send(&window, "How?").await?;
    until_answered(&window).await?;
    let turn = format!("> How?\n\n{answer}");
    for (button, copied) in [
        (".copy-code", "plant(Tulip);\n"),
        (".turn-actions [aria-label='Copy turn']", &turn),
    ] {
        click_to_copy(&window, button).await?;
        window.click(COMPOSER).await?;
        window.press("Control+a").await?;
        window.press("Control+v").await?;
        wait_written(&window, copied).await?;
    }
    window.close().await
}
