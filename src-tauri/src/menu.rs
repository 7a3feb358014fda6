//! The menu bar. The window defines the items with all their texts, and runs them. What the system
//! does by itself, such as closing the window, has a role: it works also while the page does not.

use std::collections::HashMap;

use lathe_protocol::ipc::{MenuItemView, MenuRole, MenuView};
use parking_lot::Mutex;
use tauri::menu::{
    AboutMetadata, CheckMenuItem, IsMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem,
    Submenu,
};
use tauri::{AppHandle, Emitter, Manager, Wry};

use crate::state::Shell;
use crate::window::{self, MAIN};

/// The event that carries the id of a chosen action.
const CHOSEN: &str = "menu-chosen";

/// What the menu bar shows. Only the main thread uses it, so no one waits for its lock.
#[derive(Default)]
pub struct MenuBar(Mutex<Shown>);

#[derive(Default)]
struct Shown {
    menus: Vec<MenuView>,
    items: HashMap<String, Item>,
}

#[derive(Clone)]
enum Item {
    Plain(MenuItem<Wry>),
    Check(CheckMenuItem<Wry>),
    System(PredefinedMenuItem<Wry>),
}

impl Item {
    fn as_item(&self) -> &dyn IsMenuItem<Wry> {
        match self {
            Item::Plain(item) => item,
            Item::Check(item) => item,
            Item::System(item) => item,
        }
    }

    fn update(&self, enabled: bool, checked: Option<bool>) -> tauri::Result<()> {
        match self {
            Item::Plain(item) => item.set_enabled(enabled),
            Item::Check(item) => {
                item.set_enabled(enabled)?;
                item.set_checked(checked.unwrap_or_default())
            }
            // The system greys its own items.
            Item::System(_) => Ok(()),
        }
    }
}

/// Draws the menus. What only was enabled or checked is changed in place, so that an open menu stays
/// open and the bar does not flicker. On the main thread.
pub fn set(app: &AppHandle, menus: Vec<MenuView>) -> tauri::Result<()> {
    let bar = app.state::<MenuBar>();
    let is_same = at_rest(&bar.0.lock().menus) == at_rest(&menus);
    if is_same {
        let items = bar.0.lock().items.clone();
        bar.0.lock().menus.clone_from(&menus);
        return update(&items, &menus);
    }
    let mut items = HashMap::new();
    let menu = Menu::new(app)?;
    for view in &menus {
        menu.append(&submenu(app, view, &mut items)?)?;
    }
    app.set_menu(menu)?;
    *bar.0.lock() = Shown { menus, items };
    window::apply(app, &app.state::<Shell>().settings.settings())
}

/// The menus without what changes from moment to moment.
fn at_rest(menus: &[MenuView]) -> Vec<MenuView> {
    let mut menus = menus.to_vec();
    for item in menus.iter_mut().flat_map(|menu| &mut menu.items) {
        if let MenuItemView::Action {
            enabled, checked, ..
        } = item
        {
            *enabled = true;
            *checked = checked.map(|_| false);
        }
    }
    menus
}

fn update(items: &HashMap<String, Item>, menus: &[MenuView]) -> tauri::Result<()> {
    for view in menus.iter().flat_map(|menu| &menu.items) {
        if let MenuItemView::Action {
            id,
            enabled,
            checked,
            ..
        } = view
            && let Some(item) = items.get(id)
        {
            item.update(*enabled, *checked)?;
        }
    }
    Ok(())
}

/// An item was chosen. Only the webview knows what an action of its own does.
pub fn chosen(app: &AppHandle, event: MenuEvent) {
    let id = event.id().0.as_str();
    let bar = app.state::<MenuBar>();
    let (view, item) = {
        let shown = bar.0.lock();
        let mut views = shown.menus.iter().flat_map(|menu| &menu.items);
        let view = views
            .find(|view| matches!(view, MenuItemView::Action { id: other, .. } if other == id));
        (view.cloned(), shown.items.get(id).cloned())
    };
    let mut role = None;
    if let (
        Some(MenuItemView::Action {
            enabled,
            checked,
            role: own,
            ..
        }),
        Some(item),
    ) = (view, item)
    {
        role = own;
        // The system has switched the check mark by itself; whether that is true is for the window.
        if let Err(error) = item.update(enabled, checked) {
            tracing::warn!(%error, "a check mark of the menu was not restored");
        }
    }
    match role.map(|role| window::act(app, role)) {
        Some(Ok(true)) => {}
        Some(Err(error)) => tracing::warn!(%error, "a menu choice was not done"),
        Some(Ok(false)) | None => {
            if let Err(error) = app.emit_to(MAIN, CHOSEN, id) {
                tracing::warn!(%error, "a menu choice was not delivered to the window");
            }
        }
    }
}

fn submenu(
    app: &AppHandle,
    view: &MenuView,
    items: &mut HashMap<String, Item>,
) -> tauri::Result<Submenu<Wry>> {
    let submenu = Submenu::new(app, &view.label, true)?;
    for item in &view.items {
        match item {
            MenuItemView::Separator => submenu.append(&PredefinedMenuItem::separator(app)?)?,
            MenuItemView::Action {
                id,
                label,
                keys,
                enabled,
                checked,
                role,
            } => {
                let system = role.map(|role| system_item(app, role, label)).transpose()?;
                let item = match (system.flatten(), checked) {
                    (Some(item), _) => Item::System(item),
                    (None, Some(checked)) => Item::Check(with_keys(keys.as_deref(), |keys| {
                        CheckMenuItem::with_id(app, id, label, *enabled, *checked, keys)
                    })?),
                    (None, None) => Item::Plain(with_keys(keys.as_deref(), |keys| {
                        MenuItem::with_id(app, id, label, *enabled, keys)
                    })?),
                };
                submenu.append(item.as_item())?;
                items.insert(id.clone(), item);
            }
        }
    }
    Ok(submenu)
}

/// A shortcut that the system cannot parse is left out; the window handles the key itself.
fn with_keys<T>(
    keys: Option<&str>,
    make: impl Fn(Option<&str>) -> tauri::Result<T>,
) -> tauri::Result<T> {
    make(keys).or_else(|_| make(None))
}

/// The system's own item for a role, where it has one that works.
fn system_item(
    app: &AppHandle,
    role: MenuRole,
    label: &str,
) -> tauri::Result<Option<PredefinedMenuItem<Wry>>> {
    let text = Some(label);
    let item = match role {
        MenuRole::About => PredefinedMenuItem::about(app, text, Some(about(app)))?,
        // Elsewhere most of them are missing or do nothing.
        _ if !cfg!(target_os = "macos") => return Ok(None),
        MenuRole::Quit => PredefinedMenuItem::quit(app, text)?,
        MenuRole::CloseWindow => PredefinedMenuItem::close_window(app, text)?,
        MenuRole::Minimize => PredefinedMenuItem::minimize(app, text)?,
        MenuRole::Maximize => PredefinedMenuItem::maximize(app, text)?,
        MenuRole::FullScreen => PredefinedMenuItem::fullscreen(app, text)?,
        MenuRole::Hide => PredefinedMenuItem::hide(app, text)?,
        MenuRole::HideOthers => PredefinedMenuItem::hide_others(app, text)?,
        MenuRole::Undo => PredefinedMenuItem::undo(app, text)?,
        MenuRole::Redo => PredefinedMenuItem::redo(app, text)?,
        // On macOS the clipboard shortcuts only work through these items.
        MenuRole::Cut => PredefinedMenuItem::cut(app, text)?,
        MenuRole::Copy => PredefinedMenuItem::copy(app, text)?,
        MenuRole::Paste => PredefinedMenuItem::paste(app, text)?,
        MenuRole::SelectAll => PredefinedMenuItem::select_all(app, text)?,
    };
    Ok(Some(item))
}

fn about(app: &AppHandle) -> AboutMetadata<'_> {
    let package = app.package_info();
    AboutMetadata {
        name: Some(package.name.clone()),
        version: Some(package.version.to_string()),
        comments: Some(env!("CARGO_PKG_DESCRIPTION").to_owned()),
        license: Some(env!("CARGO_PKG_LICENSE").to_owned()),
        icon: app.default_window_icon().cloned(),
        ..AboutMetadata::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(checked: bool, enabled: bool) -> Vec<MenuView> {
        vec![MenuView {
            label: "View".to_owned(),
            items: vec![MenuItemView::Action {
                id: "themeDark".to_owned(),
                label: "Theme: Dark".to_owned(),
                keys: None,
                enabled,
                checked: Some(checked),
                role: None,
            }],
        }]
    }

    #[test]
    fn a_bar_is_the_same_whatever_is_checked_or_greyed_in_it() {
        assert_eq!(at_rest(&theme(true, false)), at_rest(&theme(false, true)));
    }

    #[test]
    fn a_bar_in_another_language_is_another_one() {
        let mut german = theme(true, true);
        german[0].label = "Ansicht".to_owned();
        assert_ne!(at_rest(&theme(true, true)), at_rest(&german));
    }
}
