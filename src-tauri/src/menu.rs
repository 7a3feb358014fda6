//! The menu bar. The window defines the items and runs them; items that belong to the system (quit,
//! clipboard, windows) are predefined.

use lathe_protocol::ipc::{MenuItemView, MenuView};
use tauri::menu::{Menu, MenuEvent, MenuItem, PredefinedMenuItem, Submenu};
use tauri::{AppHandle, Emitter, Manager, Wry};

use crate::state::Shell;
use crate::window::{self, MAIN};

/// The event that carries the id of a chosen action.
const CHOSEN: &str = "menu-chosen";

pub fn set(app: &AppHandle, menus: Vec<MenuView>) -> tauri::Result<()> {
    let menu = Menu::new(app)?;
    if cfg!(target_os = "macos") {
        menu.append(&application(app)?)?;
    }
    for (place, view) in menus.into_iter().enumerate() {
        menu.append(&submenu(app, view)?)?;
        if place == 0 {
            menu.append(&edit(app)?)?;
        }
    }
    app.set_menu(menu)?;
    window::apply(app, &app.state::<Shell>().settings.settings())
}

/// Only the webview knows what an action does.
pub fn chosen(app: &AppHandle, event: MenuEvent) {
    if let Err(error) = app.emit_to(MAIN, CHOSEN, event.id().0.as_str()) {
        tracing::warn!(%error, "a menu choice was not delivered to the window");
    }
}

fn submenu(app: &AppHandle, view: MenuView) -> tauri::Result<Submenu<Wry>> {
    let submenu = Submenu::new(app, view.label, true)?;
    for item in view.items {
        match item {
            MenuItemView::Separator => submenu.append(&PredefinedMenuItem::separator(app)?)?,
            MenuItemView::Action { id, label, keys } => {
                submenu.append(&action(app, id, &label, keys)?)?;
            }
        }
    }
    Ok(submenu)
}

/// A shortcut that the system cannot parse is left out; the window handles the key itself.
fn action(
    app: &AppHandle,
    id: String,
    label: &str,
    keys: Option<String>,
) -> tauri::Result<MenuItem<Wry>> {
    let with_keys = MenuItem::with_id(app, id.clone(), label, true, keys.as_deref());
    with_keys.or_else(|_| MenuItem::with_id(app, id, label, true, None::<&str>))
}

/// On macOS the clipboard shortcuts only work through these items.
fn edit(app: &AppHandle) -> tauri::Result<Submenu<Wry>> {
    let edit = Submenu::new(app, "Edit", true)?;
    if cfg!(target_os = "macos") {
        edit.append(&PredefinedMenuItem::undo(app, None)?)?;
        edit.append(&PredefinedMenuItem::redo(app, None)?)?;
        edit.append(&PredefinedMenuItem::separator(app)?)?;
    }
    edit.append(&PredefinedMenuItem::cut(app, None)?)?;
    edit.append(&PredefinedMenuItem::copy(app, None)?)?;
    edit.append(&PredefinedMenuItem::paste(app, None)?)?;
    edit.append(&PredefinedMenuItem::select_all(app, None)?)?;
    Ok(edit)
}

fn application(app: &AppHandle) -> tauri::Result<Submenu<Wry>> {
    let menu = Submenu::new(app, "Lathe", true)?;
    menu.append(&PredefinedMenuItem::about(app, None, None)?)?;
    menu.append(&PredefinedMenuItem::separator(app)?)?;
    menu.append(&PredefinedMenuItem::hide(app, None)?)?;
    menu.append(&PredefinedMenuItem::hide_others(app, None)?)?;
    menu.append(&PredefinedMenuItem::separator(app)?)?;
    menu.append(&PredefinedMenuItem::quit(app, None)?)?;
    Ok(menu)
}
