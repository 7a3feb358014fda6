//! What the toolkit is asked to leave out on Linux, so that a window nobody uses costs nothing.
//!
//! Many machines draw in software: virtual ones, remote ones, those without a driver. There,
//! every change on the screen draws the whole window anew and takes tens of milliseconds. The
//! webview reads these settings once, when it begins.

use std::path::Path;

use gtk::glib;
use gtk::prelude::{GtkSettingsExt, ObjectExt};

/// Where the kernel puts the graphics cards it knows.
const CARDS: &str = "/dev/dri";
/// Letters painted by the processor, instead of by a graphics card that the processor plays.
const PAINT_BY_PROCESSOR: &str = "WEBKIT_SKIA_ENABLE_CPU_RENDERING";

const A_DAY_IN_MS: i32 = 24 * 60 * 60 * 1000;

/// Before anything else asks the toolkit. Where it cannot begin, the window says why.
pub fn quieten() {
    if !has_card(Path::new(CARDS)) {
        // Somebody who knows better keeps what was said.
        let set = glib::setenv(PAINT_BY_PROCESSOR, "1", false);
        tracing::debug!(?set, "there is no graphics card");
    }
    if gtk::init().is_ok()
        && let Some(settings) = gtk::Settings::default()
    {
        // GTK's own fields stop blinking after a while; those of a webview go on for ever. One
        // that may not blink at all is looked at with every frame, so it blinks once a day.
        settings.set_gtk_cursor_blink(true);
        settings.set_gtk_cursor_blink_time(A_DAY_IN_MS);
        // A scrollbar over the text fades away for seconds after each scroll.
        settings.set_property("gtk-overlay-scrolling", false);
    }
}

fn has_card(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .any(|name| name.starts_with("render"))
}

#[cfg(test)]
mod tests {
    use super::has_card;

    #[test]
    fn a_card_that_can_render_is_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_card(&folder.path().join("missing")));
        std::fs::write(folder.path().join("card0"), "").unwrap();
        assert!(!has_card(folder.path()));
        std::fs::write(folder.path().join("renderD128"), "").unwrap();
        assert!(has_card(folder.path()));
    }
}
