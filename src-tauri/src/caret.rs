//! The caret stands still.
//!
//! Each blink draws the window anew, twice a second for as long as it is open, which is real
//! work where the system draws in software. GTK's own fields stop blinking after a while;
//! those of a webview go on for ever, and ask only once whether they should.

use gtk::prelude::GtkSettingsExt;

/// Before anything else asks the toolkit. Where it cannot begin, the window says why.
pub fn rest() {
    if gtk::init().is_ok()
        && let Some(settings) = gtk::Settings::default()
    {
        settings.set_gtk_cursor_blink(false);
    }
}
