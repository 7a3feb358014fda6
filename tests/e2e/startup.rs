//! Starting the app and opening a project.

use lathe_test_support::window::{UndrivenApp, Window, WindowError, WindowOptions};

use crate::steps::{COMPOSER, name_of, open, project};

#[tokio::test]
async fn a_first_start_welcomes_in_three_steps_and_is_ready_for_a_prompt() -> Result<(), WindowError>
{
    let mut window = Window::start(WindowOptions::default()).await?;
    window.wait_for("[data-step=model]").await?;
    window.wait_for(&format!("{COMPOSER}:enabled")).await?;
    window.screenshot("first-start").await?;
    window.click("[data-testid=welcome-next]").await?;
    window.wait_for("[data-step=sessions]").await?;
    window.screenshot("first-start-sessions").await?;
    window.click("[data-testid=welcome-next]").await?;
    window.wait_for("[data-step=project]").await?;
    window.screenshot("first-start-project").await?;
    window.click("[data-testid=welcome-done]").await?;
    window.wait_for("[data-state=empty-session]").await?;
    window.restart().await?;
    window.wait_for("[data-state=empty-session]").await?;
    assert_eq!(window.count(".welcome").await?, 0);
    window.close().await
}

#[tokio::test]
async fn a_folder_on_the_command_line_is_opened() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    window
        .wait_for_text("[data-testid=sidebar] .project-name", &name_of(&garden))
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_folder_is_opened_through_the_system_dialog() -> Result<(), WindowError> {
    let shed = tempfile::Builder::new().prefix("shed-").tempdir()?;
    let window = Window::start(WindowOptions::default()).await?;
    window.click("[data-testid=open-folder]").await?;
    window.pick_path("^Open folder$", shed.path()).await?;
    window
        .wait_for_text(".title-bar-place", &name_of(&shed))
        .await?;
    window.wait_for(&format!("{COMPOSER}:enabled")).await?;
    window.close().await
}

#[tokio::test]
async fn a_second_start_opens_its_folder_in_the_first_window() -> Result<(), WindowError> {
    let (garden, kitchen) = (project()?, project()?);
    let window = open(&garden).await?;

    let ended_well = window.start_again(&[kitchen.path().into()]).await?;

    assert!(ended_well, "the second process failed: {}", window.log());
    window
        .wait_for_text(".title-bar-place", &name_of(&kitchen))
        .await?;
    assert_eq!(window.main_windows(), 1);
    window.close().await
}

#[tokio::test]
async fn a_running_app_listens_on_no_port() -> Result<(), WindowError> {
    let garden = project()?;
    let mut app = UndrivenApp::start(WindowOptions::open(garden.path())).await?;
    assert_eq!(app.listens_on()?, Vec::<String>::new());
    Ok(())
}
