//! What a person needs to report a fault: the log, and a description of the program.

use std::fmt::Write;

use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

use super::parts::copy_text;
use crate::error::{Answer, failed};
use crate::state::Shell;
use crate::texts;

/// What chooses how the window is drawn on Linux.
const GRAPHICS: [&str; 6] = [
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
    "GDK_BACKEND",
    "WEBKIT_DISABLE_DMABUF_RENDERER",
    "WEBKIT_DISABLE_COMPOSITING_MODE",
    "LIBGL_ALWAYS_SOFTWARE",
];

#[tauri::command]
pub async fn show_log(app: AppHandle, shell: State<'_, Shell>) -> Answer<()> {
    let log = shell.log.as_ref();
    let log = log.ok_or_else(|| failed(texts::NO_LOG))?;
    let file = log.path().display().to_string();
    app.opener().open_path(file, None::<&str>).map_err(failed)
}

/// Copies a description of the program. Not the page: a webview lets it copy only right after a click.
#[tauri::command]
pub async fn copy_diagnostics(app: AppHandle, shell: State<'_, Shell>, page: String) -> Answer<()> {
    let text = describe(&shell, &page).await?;
    copy_text(app, text).await
}

/// Versions, graphics, settings and config problems, without secrets. `page` is what only the page
/// knows of itself.
async fn describe(shell: &Shell, page: &str) -> Answer<String> {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    };
    let unknown = |_| "unknown".to_owned();
    line("Lathe", env!("CARGO_PKG_VERSION"));
    line(
        "System",
        &format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    );
    line("Tauri", tauri::VERSION);
    line("Webview", &tauri::webview_version().unwrap_or_else(unknown));
    for name in GRAPHICS {
        if let Ok(value) = std::env::var(name) {
            line(name, &value);
        }
    }
    line("Page", page);
    if let Some(log) = &shell.log {
        line("Log", &log.path().display().to_string());
    }
    let settings = serde_json::to_string(&shell.settings.settings()).map_err(failed)?;
    line("Settings", &settings);
    let redact = shell.sessions.text_redactor().await;
    Ok(redact(&text) + &shell.sessions.diagnostics().await)
}

/// Logs an error that the page did not expect.
#[tauri::command]
pub async fn report_error(error: String) -> Answer<()> {
    tracing::error!(target: "lathe::page", "{error}");
    Ok(())
}
