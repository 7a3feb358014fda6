//! The one window: how it opens, what it remembers, what it never does.

use std::path::Path;

use tauri::{AppHandle, Emitter, Manager, Url, WebviewUrl, WebviewWindowBuilder, Wry};
use tauri_plugin_dialog::{DialogExt, MessageDialogKind};
use tauri_plugin_window_state::StateFlags;

use crate::state::{Shell, folder_argument};

const MAIN: &str = "main";
/// Told to the webview when a second start asked for a folder.
const OPEN_FOLDER: &str = "open-folder";

pub fn open(app: &AppHandle) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::default())
        .title("Lathe")
        .inner_size(1240.0, 820.0)
        .min_inner_size(420.0, 400.0)
        .disable_drag_drop_handler()
        .on_navigation(is_our_page)
        .build()?;
    window.set_focus()
}

/// The page never leaves; links are opened by the system instead.
fn is_our_page(url: &Url) -> bool {
    let ours = ["tauri", "about"].contains(&url.scheme())
        || (cfg!(windows) && url.host_str() == Some("tauri.localhost"));
    ours || (cfg!(debug_assertions) && url.host_str() == Some("localhost"))
}

/// Size, position and whether it filled the screen.
pub fn remember_size(data_dir: &Path) -> tauri::plugin::TauriPlugin<Wry> {
    tauri_plugin_window_state::Builder::new()
        .with_filename(data_dir.join("window.json").display().to_string())
        .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED)
        .build()
}

/// Without a session bus there is no way to ask, and no reason to fail.
pub fn can_find_other_instances() -> bool {
    !cfg!(target_os = "linux") || std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
}

/// Another start of the program ends in this window.
pub fn second_start(app: &AppHandle, args: Vec<String>, cwd: String) {
    if let Some(window) = app.get_webview_window(MAIN) {
        for step in [window.unminimize(), window.show(), window.set_focus()] {
            if let Err(error) = step {
                tracing::warn!(%error, "the window could not be brought to the front");
            }
        }
    }
    if let Some(folder) = folder_argument(args.into_iter().skip(1), cwd.as_ref()) {
        *app.state::<Shell>().wanted.lock() = Some(folder);
        if let Err(error) = app.emit_to(MAIN, OPEN_FOLDER, ()) {
            tracing::warn!(%error, "the window was not told of a folder to open");
        }
    }
}

/// There is no window to say it in.
#[allow(clippy::print_stderr)]
pub fn show_fatal(message: &str) {
    eprintln!("Lathe cannot start: {message}");
    let context = tauri::generate_context!();
    let shown = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .setup({
            let message = message.to_owned();
            move |app| {
                let handle = app.handle().clone();
                app.dialog()
                    .message(message)
                    .title("Lathe cannot start")
                    .kind(MessageDialogKind::Error)
                    .show(move |_| handle.exit(1));
                Ok(())
            }
        })
        .run(context);
    if let Err(error) = shown {
        eprintln!("{error}");
    }
}
