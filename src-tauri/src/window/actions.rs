//! What the system does with the window, by the menu bar or by keys.

use lathe_protocol::ipc::MenuRole;
use tauri::{AppHandle, Manager};

use super::MAIN;

/// Does what an item of the menu bar stands for; false if that is for the page.
pub fn act(app: &AppHandle, role: MenuRole) -> tauri::Result<bool> {
    if role == MenuRole::Quit {
        app.exit(0);
        return Ok(true);
    }
    let Some(window) = app.get_webview_window(MAIN) else {
        return Ok(false);
    };
    match role {
        MenuRole::CloseWindow => window.close()?,
        MenuRole::Minimize => window.minimize()?,
        MenuRole::Maximize if window.is_maximized()? => window.unmaximize()?,
        MenuRole::Maximize => window.maximize()?,
        MenuRole::FullScreen => window.set_fullscreen(!window.is_fullscreen()?)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Shows at the icon of the program how many sessions wait.
#[cfg(not(windows))]
pub fn set_badge(app: &AppHandle, count: u32) -> tauri::Result<()> {
    let Some(window) = app.get_webview_window(MAIN) else {
        return Ok(());
    };
    window.set_badge_count((count > 0).then_some(i64::from(count)))
}

/// Windows has no numbers at its icons, so a dot says that a session waits.
#[cfg(windows)]
pub fn set_badge(app: &AppHandle, count: u32) -> tauri::Result<()> {
    let Some(window) = app.get_webview_window(MAIN) else {
        return Ok(());
    };
    window.set_overlay_icon((count > 0).then(dot))
}

#[cfg(windows)]
fn dot() -> tauri::image::Image<'static> {
    const SIDE: i32 = 16;
    const COLOUR: [u8; 4] = [0xd9, 0x7a, 0x06, 0xff];
    let places =
        (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (2 * x - SIDE + 1, 2 * y - SIDE + 1)));
    let is_inside = |(x, y): (i32, i32)| x * x + y * y < SIDE * SIDE;
    let pixels = places.flat_map(|place| if is_inside(place) { COLOUR } else { [0; 4] });
    tauri::image::Image::new_owned(pixels.collect(), SIDE as u32, SIDE as u32)
}
