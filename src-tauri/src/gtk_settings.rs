//! GTK settings on Linux that keep an idle window from redrawing.
//!
//! Many machines render in software: virtual machines, remote ones, those without a driver. There,
//! every change on screen redraws the whole window and takes tens of milliseconds. The webview reads
//! these settings once, at its start.

use std::path::Path;

use gtk::glib;
use gtk::prelude::{GtkSettingsExt, ObjectExt};

/// Where the kernel lists graphics cards.
const CARDS: &str = "/dev/dri";
/// Makes WebKit paint with the CPU instead of with an emulated graphics card.
const CPU_RENDERING: &str = "WEBKIT_SKIA_ENABLE_CPU_RENDERING";

const A_DAY_IN_MS: i32 = 24 * 60 * 60 * 1000;

/// Must be called before anything else uses GTK. If GTK cannot start, opening the window reports it.
pub fn apply() {
    if !has_card(Path::new(CARDS)) {
        // Does not replace a value that the person has set.
        let set = glib::setenv(CPU_RENDERING, "1", false);
        tracing::debug!(?set, "there is no graphics card");
    }
    if gtk::init().is_ok()
        && let Some(settings) = gtk::Settings::default()
    {
        // A caret in a webview blinks for ever. If blinking is off, WebKit checks the caret with every
        // frame, so it blinks once a day instead.
        settings.set_gtk_cursor_blink(true);
        settings.set_gtk_cursor_blink_time(A_DAY_IN_MS);
        // An overlay scrollbar animates for seconds after each scroll.
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
    fn only_a_render_node_counts_as_a_graphics_card() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_card(&folder.path().join("missing")));
        std::fs::write(folder.path().join("card0"), "").unwrap();
        assert!(!has_card(folder.path()));
        std::fs::write(folder.path().join("renderD128"), "").unwrap();
        assert!(has_card(folder.path()));
    }
}
