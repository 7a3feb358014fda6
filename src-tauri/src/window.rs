//! The window: opening it, remembering its size, and what the page may not do.

mod actions;
mod theme;

use std::path::Path;

use lathe_protocol::ipc::{DropUpdate, Settings};
use tauri::{
    AppHandle, DragDropEvent, Emitter, Manager, Url, WebviewUrl, WebviewWindowBuilder, WindowEvent,
    Wry,
};
#[cfg(target_os = "linux")]
use tauri_plugin_dialog::MessageDialogButtons;
use tauri_plugin_dialog::{DialogExt, MessageDialogKind};
use tauri_plugin_window_state::StateFlags;

use crate::commands::stage;
use crate::state::{Shell, folder_argument};
use crate::texts;

pub use actions::{act, set_badge};

pub const MAIN: &str = "main";
/// The page for a window whose own page has crashed.
#[cfg(target_os = "linux")]
const CRASHED: &str = "/crashed.html";
/// The event for a second start of the program with a folder.
const OPEN_FOLDER: &str = "open-folder";
/// The event for files that are dragged over the window or dropped.
const DROP: &str = "drop-update";

pub fn open(app: &AppHandle) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, MAIN, page())
        .title("Lathe")
        .inner_size(1240.0, 820.0)
        .min_inner_size(420.0, 400.0)
        .on_navigation(is_our_page)
        // For Cut, Copy and Paste in the menus, which are not keys of the webview.
        .enable_clipboard_access()
        // The page sets the title, because it knows the open session and the waiting requests.
        .on_document_title_changed(|window, title| {
            if let Err(error) = window.set_title(&title) {
                tracing::debug!(%error, "the title was not set");
            }
        })
        .build()?;
    let handle = app.clone();
    window.on_window_event(move |event| {
        if let WindowEvent::DragDrop(drag) = event {
            on_drag(&handle, drag);
        }
    });
    #[cfg(target_os = "linux")]
    watch_for_crashes(&window)?;
    theme::follow_desktop(app);
    apply(app, &app.state::<Shell>().settings.settings())?;
    window.set_focus()
}

/// The process of the page can crash, or be killed where memory is short. The core goes on and has
/// everything, so a page without script takes its place, which says so and offers to load it again.
#[cfg(target_os = "linux")]
fn watch_for_crashes(window: &tauri::WebviewWindow) -> tauri::Result<()> {
    use gtk::prelude::ObjectExt;

    let page = window.clone();
    window.with_webview(move |webview| {
        let on_crash = move |_: &[gtk::glib::Value]| {
            tracing::error!("the process of the page has ended");
            if let Err(error) = show_crashed(&page) {
                tracing::error!(%error, "the crash could not be shown");
            }
            None
        };
        webview
            .inner()
            .connect_local("web-process-terminated", false, on_crash);
    })
}

#[cfg(target_os = "linux")]
fn show_crashed(page: &tauri::WebviewWindow) -> tauri::Result<()> {
    let mut url = page.url()?;
    if url.path() == CRASHED {
        // No page can be shown. Loading it again without a question could go on for ever.
        offer_reload(page.clone());
        return Ok(());
    }
    url.set_path(CRASHED);
    url.set_query(None);
    page.navigate(url)
}

#[cfg(target_os = "linux")]
fn offer_reload(page: tauri::WebviewWindow) {
    let dialog = page
        .dialog()
        .message(texts::CRASHED_AGAIN_BODY)
        .title(texts::CRASHED_AGAIN)
        .kind(MessageDialogKind::Error)
        .buttons(MessageDialogButtons::OkCustom(texts::RELOAD.to_owned()));
    dialog.show(move |_| {
        if let Err(error) = page.reload() {
            tracing::error!(%error, "the page could not be loaded again");
        }
    });
}

/// Sends the page how many files hover, and the addresses of those that were dropped. The page gets
/// no paths and cannot name any.
fn on_drag(app: &AppHandle, drag: &DragDropEvent) {
    match drag {
        DragDropEvent::Enter { paths, .. } if !paths.is_empty() => {
            let count = u32::try_from(paths.len()).unwrap_or(u32::MAX);
            emit_drop(app, &DropUpdate::Over { count });
        }
        DragDropEvent::Leave => emit_drop(app, &DropUpdate::Left),
        DragDropEvent::Drop { paths, .. } => {
            let (app, paths) = (app.clone(), paths.clone());
            tauri::async_runtime::spawn(async move {
                let attached = stage(app.clone(), paths).await.unwrap_or_default();
                emit_drop(&app, &DropUpdate::Dropped { attached });
            });
        }
        _ => {}
    }
}

fn emit_drop(app: &AppHandle, update: &DropUpdate) {
    if let Err(error) = app.emit_to(MAIN, DROP, update) {
        tracing::warn!(%error, "a drop was not delivered to the window");
    }
}

/// Debug builds can open the gallery of all cards instead.
fn page() -> WebviewUrl {
    let gallery = cfg!(debug_assertions) && std::env::args().any(|word| word == "--gallery");
    if gallery {
        WebviewUrl::App("index.html?gallery".into())
    } else {
        WebviewUrl::default()
    }
}

/// Applies the settings that concern the native window.
pub fn apply(app: &AppHandle, settings: &Settings) -> tauri::Result<()> {
    let Some(window) = app.get_webview_window(MAIN) else {
        return Ok(());
    };
    window.set_zoom(f64::from(settings.zoom.clamp(50, 300)) / 100.0)?;
    theme::apply(app, settings.theme)?;
    // On macOS the menu bar does not belong to the window.
    if !cfg!(target_os = "macos") {
        match settings.menu_bar {
            true => window.show_menu()?,
            false => window.hide_menu()?,
        }
    }
    Ok(())
}

/// Whether the window is not focused.
pub fn is_unfocused(app: &AppHandle) -> bool {
    app.get_webview_window(MAIN)
        .is_some_and(|window| !window.is_focused().unwrap_or(true))
}

/// The page never navigates away; the system opens links.
fn is_our_page(url: &Url) -> bool {
    let ours = ["tauri", "about"].contains(&url.scheme())
        || (cfg!(windows) && url.host_str() == Some("tauri.localhost"));
    ours || (cfg!(debug_assertions) && url.host_str() == Some("localhost"))
}

/// Stores the size, the position and whether the window is maximised.
pub fn remember_size(data_dir: &Path) -> tauri::plugin::TauriPlugin<Wry> {
    tauri_plugin_window_state::Builder::new()
        .with_filename(data_dir.join("window.json").display().to_string())
        .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED)
        .build()
}

/// On Linux this needs a D-Bus session; without one, the program still starts.
pub fn can_find_other_instances() -> bool {
    !cfg!(target_os = "linux") || std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
}

/// Called when the program is started again: this window comes to the front instead.
pub fn second_start(app: &AppHandle, args: Vec<String>, cwd: String) {
    bring_forward(app);
    if let Some(folder) = folder_argument(args.into_iter().skip(1), cwd.as_ref()) {
        *app.state::<Shell>().wanted.lock() = Some(folder);
        if let Err(error) = app.emit_to(MAIN, OPEN_FOLDER, ()) {
            tracing::warn!(%error, "a folder to open was not delivered to the window");
        }
    }
}

pub fn bring_forward(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN) {
        for step in [window.unminimize(), window.show(), window.set_focus()] {
            if let Err(error) = step {
                tracing::warn!(%error, "the window could not be brought to the front");
            }
        }
    }
}

/// Shows an error dialog, because there is no window yet.
#[allow(clippy::print_stderr)]
pub fn show_fatal(message: &str) {
    eprintln!("{}: {message}", texts::CANNOT_START);
    let context = tauri::generate_context!();
    let shown = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .setup({
            let message = message.to_owned();
            move |app| {
                let handle = app.handle().clone();
                app.dialog()
                    .message(message)
                    .title(texts::CANNOT_START)
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
