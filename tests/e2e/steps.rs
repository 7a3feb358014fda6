//! Steps that many window tests share.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use lathe_provider::WireKind;
use lathe_test_support::fake_model::FakeModel;
use lathe_test_support::window::{Window, WindowError, WindowOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const COMPOSER: &str = "[data-testid=composer]";
/// Enabled once there is something to send and its session is open.
const SEND: &str = "[data-testid=send]:enabled";
pub const STOP: &str = "[data-testid=stop]";
pub const ANSWER: &str = ".assistant-message [data-part=text]";
pub const CURRENT_SESSION: &str = ".session-row[data-current]";

/// A small project in a folder of its own.
pub fn project() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("garden-").tempdir()?;
    fs::create_dir(folder.path().join("src"))?;
    fs::write(
        folder.path().join("README.md"),
        "# Garden\n\nCounts beds and plants.\n",
    )?;
    fs::write(
        folder.path().join("src/main.rs"),
        "fn main() {\n    println!(\"12 beds\");\n}\n",
    )?;
    Ok(folder)
}

/// The name under which a project's folder is shown.
pub fn name_of(project: &TempDir) -> String {
    project
        .path()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The app with a project open and ready for a prompt.
pub async fn open(project: &TempDir) -> Result<Window, WindowError> {
    open_as(WindowOptions::open(project.path()), project).await
}

/// The same, with a fake model. Every tool is allowed.
pub async fn open_with(model: &FakeModel, project: &TempDir) -> Result<Window, WindowError> {
    open_asking(model, project, json!("allow")).await
}

/// As [`open_with`], with these permission rules.
pub async fn open_asking(
    model: &FakeModel,
    project: &TempDir,
    permission: Value,
) -> Result<Window, WindowError> {
    open_as(options(model, project, permission)?, project).await
}

/// The app with these options and the project open, ready for a prompt.
pub async fn open_as(options: WindowOptions, project: &TempDir) -> Result<Window, WindowError> {
    let window = Window::start(options).await?;
    window
        .wait_for_text(".title-bar-place", &name_of(project))
        .await?;
    // The composer takes the focus when it is ready; a menu that was opened before would close.
    window
        .wait_for(&format!("{COMPOSER}:enabled:focus"))
        .await?;
    Ok(window)
}

pub fn options(
    model: &FakeModel,
    project: &TempDir,
    permission: Value,
) -> io::Result<WindowOptions> {
    let provider = json!({ "fake": {
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": model.base_url(WireKind::OpenaiChat), "apiKey": "k" },
        "models": {
            "m": { "limit": { "context": 200_000, "output": 8_000 } },
            "big": {
                "name": "Coder 30B",
                "reasoning": true,
                "limit": { "context": 128_000, "output": 8_000 },
            },
        },
    } });
    let config = json!({
        "provider": provider,
        "model": "fake/m",
        "small_model": "fake/m",
        "permission": permission,
        "webfetch": { "allowed_hosts": ["127.0.0.1"] },
    });
    // Outside the project: the agent and the review would see it there.
    let file = project.path().with_extension("json");
    fs::write(&file, config.to_string())?;
    let mut options = WindowOptions::open(project.path());
    let file = file.to_string_lossy().into_owned();
    options.env.push(("LATHE_CONFIG".to_owned(), file));
    Ok(options)
}

/// Puts a script of this name first on the search path. Returns the file in which it records its
/// arguments, one line per call.
pub fn record_calls_of(
    options: &mut WindowOptions,
    folder: &TempDir,
    name: &str,
) -> io::Result<PathBuf> {
    let (program, called) = (folder.path().join(name), folder.path().join("called"));
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\n", called.display());
    fs::write(&program, script)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.path().display());
    options.env.push(("PATH".to_owned(), path));
    Ok(called)
}

/// Opens a page of the settings.
pub async fn open_settings(window: &Window, page: &str) -> Result<(), WindowError> {
    window.press("Control+,").await?;
    window
        .click(&format!("[data-testid=settings-{page}]"))
        .await
}

pub async fn close_settings(window: &Window) -> Result<(), WindowError> {
    window.press("Escape").await?;
    window.wait_gone("[data-testid=settings]").await
}

/// Writes a prompt and sends it with Enter.
pub async fn send(window: &Window, prompt: &str) -> Result<(), WindowError> {
    window.wait_for(&format!("{COMPOSER}:enabled")).await?;
    window.type_text(COMPOSER, prompt).await?;
    window.wait_for(SEND).await?;
    window.press("Enter").await?;
    window.wait_for_text(".user-message", prompt).await
}

/// Waits until the composer is ready and says exactly this.
pub async fn wait_written(window: &Window, words: &str) -> Result<(), WindowError> {
    let says = "(({ disabled, value }) => !disabled && value === given[1])\
                (document.querySelector(given[0]) ?? {})";
    let what = format!("the draft {words:?}");
    window
        .wait_until_with(&what, says, json!([COMPOSER, words]))
        .await
}

/// Waits until the newest turn has an answer and the session is idle.
pub async fn until_answered(window: &Window) -> Result<(), WindowError> {
    let answered = "[...document.querySelectorAll('.session-turn')].pop()\
                    ?.querySelector('.assistant-message [data-part=text]')?.textContent.trim()";
    window
        .wait_until("an answer", &format!("Boolean({answered})"))
        .await?;
    window.wait_gone(STOP).await
}

/// Waits for a permission that can be answered: after another one, its buttons are disabled for a
/// moment.
pub async fn until_asked(window: &Window) -> Result<(), WindowError> {
    window
        .wait_for("[data-permission=true] button[data-armed]")
        .await
}

/// The id of the session that is open.
pub async fn current_session(window: &Window) -> Result<Value, WindowError> {
    window.wait_for(CURRENT_SESSION).await?;
    window
        .value_of(
            "document.querySelector(given).dataset.sessionId",
            CURRENT_SESSION.into(),
        )
        .await
}

/// Begins a new session and waits for its empty page.
pub async fn new_session(window: &Window) -> Result<(), WindowError> {
    const EMPTY: &str = "[data-state=empty-session]";
    let was_empty = window.count(EMPTY).await? > 0;
    window.press("Control+n").await?;
    window.wait_for(EMPTY).await?;
    // The page is empty before, too, if no session is open yet. Text that is typed then would not
    // reach the new session.
    match was_empty {
        true => window.wait_for(CURRENT_SESSION).await,
        false => Ok(()),
    }
}

/// Runs an action by its name.
pub async fn run_action(window: &Window, name: &str) -> Result<(), WindowError> {
    const FIELD: &str = "[data-testid=palette-field]";
    window.press("Control+k").await?;
    window.wait_for(&format!("{FIELD}:focus")).await?;
    window.type_text(FIELD, name).await?;
    window.press("Enter").await?;
    window.wait_gone(FIELD).await
}

/// Clicks on a button that copies, and waits until it says that it has: the clipboard is written
/// some time after the click. The button says so only for a moment, which a slow machine would
/// miss, so the page itself takes note.
pub async fn click_to_copy(window: &Window, button: &str) -> Result<(), WindowError> {
    const WATCH: &str = "(() => {
      const button = document.querySelector(given);
      const says = () => (button.ariaLabel ?? '') + button.textContent;
      window.copied = false;
      new MutationObserver((_, observer) => {
        if (!says().includes('Copied')) return;
        window.copied = true;
        observer.disconnect();
      }).observe(button, { attributes: true, childList: true, characterData: true, subtree: true });
      return true;
    })()";
    window.wait_for(button).await?;
    window.value_of(WATCH, json!(button)).await?;
    window.click(button).await?;
    window.wait_until("a copy", "window.copied").await
}

/// Opens a menu and chooses the item with these words.
pub async fn choose(window: &Window, menu: &str, words: &str) -> Result<(), WindowError> {
    window.click(menu).await?;
    window.click_text(".menu .menu-item", words).await
}
