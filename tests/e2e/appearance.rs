//! Light and dark themes, and zoom.

use lathe_test_support::window::{SystemTheme, Window, WindowError, WindowOptions};
use serde_json::Value;

use crate::steps::{open, open_as, project, run_action, send, until_answered};

/// The brightness of the page's background, from 0 to 255.
const BRIGHTNESS: &str = "(() => {
  const ground = getComputedStyle(document.body).backgroundColor;
  const [red, green, blue] = ground.match(/[\\d.]+/g).map(Number);
  return Math.round((red + green + blue) / 3);
})()";

#[tokio::test]
async fn the_light_and_the_dark_theme_can_be_chosen() -> Result<(), WindowError> {
    let garden = project()?;
    let window = open(&garden).await?;
    window.resize(1280, 820).await?;
    send(&window, "Hello, what is this place?").await?;
    until_answered(&window).await?;

    window.click("[data-testid=theme-toggle]").await?;
    window.wait_for(":root[data-theme=light]").await?;
    let light = window.value_of(BRIGHTNESS, Value::Null).await?;
    window.screenshot("light").await?;
    window.click("[data-testid=theme-toggle]").await?;
    window.wait_for(":root[data-theme=dark]").await?;
    let dark = window.value_of(BRIGHTNESS, Value::Null).await?;
    window.screenshot("dark").await?;

    assert!(
        light.as_u64() > Some(200) && dark.as_u64() < Some(60),
        "{light} and {dark}"
    );
    window.close().await
}

#[tokio::test]
async fn a_dark_desktop_has_a_dark_window() -> Result<(), WindowError> {
    let options = WindowOptions {
        theme: SystemTheme::Dark,
        ..WindowOptions::default()
    };
    let window = Window::start(options).await?;
    window.wait_for("[data-state=welcome]").await?;
    let ground = window.value_of(BRIGHTNESS, Value::Null).await?;
    assert!(ground.as_u64() < Some(60), "{ground}");
    window.close().await
}

#[tokio::test]
async fn the_menu_bar_has_the_theme_of_the_window() -> Result<(), WindowError> {
    let garden = project()?;
    let mut options = WindowOptions::open(garden.path());
    // Nothing but the program may decide here.
    options.env.push(("GTK_THEME".to_owned(), String::new()));
    let mut window = open_as(options, &garden).await?;
    window.wait_for_menu_bar(SystemTheme::Light).await?;
    run_action(&window, "theme dark").await?;
    window.wait_for_menu_bar(SystemTheme::Dark).await?;
    run_action(&window, "theme system").await?;
    window.wait_for_menu_bar(SystemTheme::Light).await?;
    run_action(&window, "theme dark").await?;
    window.restart().await?;
    window.wait_for_menu_bar(SystemTheme::Dark).await?;
    window.close().await
}

#[tokio::test]
async fn zoom_enlarges_the_page_and_is_remembered() -> Result<(), WindowError> {
    let garden = project()?;
    let mut window = open(&garden).await?;
    let wide = window.value_of("innerWidth", Value::Null).await?;
    window.press("Control+=").await?;
    // The driver loses a key that it presses while the page is laid out anew.
    window
        .wait_until_with("a first step", "innerWidth < given", wide.clone())
        .await?;
    window.press("Control+=").await?;
    window
        .wait_until_with("a narrower page", "innerWidth < given * 0.9", wide.clone())
        .await?;
    window.restart().await?;
    window
        .wait_until_with("a narrower page", "innerWidth < given * 0.9", wide)
        .await?;
    window.close().await
}
