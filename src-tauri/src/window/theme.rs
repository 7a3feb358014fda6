//! The theme of what the system draws around the page: the title bar, the menu bar, dialogs.

use lathe_protocol::ipc::Theme;
use tauri::AppHandle;

#[cfg(target_os = "linux")]
pub use linux::{apply, follow_desktop};

#[cfg(not(target_os = "linux"))]
pub fn follow_desktop(_app: &AppHandle) {}

#[cfg(not(target_os = "linux"))]
pub fn apply(app: &AppHandle, theme: Theme) -> tauri::Result<()> {
    use tauri::Manager;

    let Some(window) = app.get_webview_window(super::MAIN) else {
        return Ok(());
    };
    window.set_theme(match theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    })
}

#[cfg(target_os = "linux")]
mod linux {
    use gtk::prelude::GtkSettingsExt;
    use parking_lot::Mutex;
    use tauri::Manager;

    use super::{AppHandle, Theme};

    /// GTK has one setting for all windows of the program, which the desktop also changes. So we
    /// remember what the desktop wants, to go back to it.
    struct Wanted {
        theme: Theme,
        desktop_is_dark: bool,
    }

    impl Wanted {
        fn is_dark(&self) -> bool {
            match self.theme {
                Theme::System => self.desktop_is_dark,
                Theme::Light => false,
                Theme::Dark => true,
            }
        }

        /// The setting has changed. Returns what it must be instead, if the person wants another one.
        fn changed_to(&mut self, is_dark: bool) -> Option<bool> {
            if is_dark == self.is_dark() {
                return None;
            }
            // Not by us: the desktop has become dark or light.
            self.desktop_is_dark = is_dark;
            let wanted = self.is_dark();
            (wanted != is_dark).then_some(wanted)
        }
    }

    struct WantedTheme(Mutex<Wanted>);

    /// Before any theme is set. On the main thread.
    pub fn follow_desktop(app: &AppHandle) {
        let Some(settings) = gtk::Settings::default() else {
            return;
        };
        app.manage(WantedTheme(Mutex::new(Wanted {
            theme: Theme::System,
            desktop_is_dark: settings.is_gtk_application_prefer_dark_theme(),
        })));
        let app = app.clone();
        settings.connect_gtk_application_prefer_dark_theme_notify(move |settings| {
            let is_dark = settings.is_gtk_application_prefer_dark_theme();
            let instead = app.state::<WantedTheme>().0.lock().changed_to(is_dark);
            if let Some(instead) = instead {
                settings.set_gtk_application_prefer_dark_theme(instead);
            }
        });
    }

    pub fn apply(app: &AppHandle, theme: Theme) -> tauri::Result<()> {
        let handle = app.clone();
        app.run_on_main_thread(move || {
            let (Some(settings), Some(wanted)) =
                (gtk::Settings::default(), handle.try_state::<WantedTheme>())
            else {
                return;
            };
            // Not locked while GTK tells of the change.
            let is_dark = {
                let mut wanted = wanted.0.lock();
                wanted.theme = theme;
                wanted.is_dark()
            };
            settings.set_gtk_application_prefer_dark_theme(is_dark);
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn wanted(theme: Theme) -> Wanted {
            Wanted {
                theme,
                desktop_is_dark: false,
            }
        }

        #[test]
        fn a_desktop_that_becomes_dark_is_followed_unless_a_theme_was_chosen() {
            assert_eq!(wanted(Theme::System).changed_to(true), None);
            assert_eq!(wanted(Theme::Light).changed_to(true), Some(false));
            assert_eq!(wanted(Theme::Dark).changed_to(true), None);
        }

        #[test]
        fn the_theme_of_the_desktop_comes_back_with_the_system_theme() {
            let mut wanted = wanted(Theme::Light);
            wanted.changed_to(true);
            wanted.theme = Theme::System;
            assert!(wanted.is_dark());
        }
    }
}
