//! What the driver cannot reach: the window's frame and the system's dialogs.
//!
//! There is no window manager, so no window has the focus until a test sets it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::desktop::Desktop;
use super::process::{INTERVAL, TIMEOUT, next_check};
use super::x11::{self, Drag};
use super::{SystemTheme, Window, WindowError};

/// The end of the main window's title; what comes before it changes with the session.
pub(super) const MAIN: &str = "Lathe$|Lathe – Waiting for you$";

/// How long the app may take to act on keys before we type them again.
pub(super) const TYPING_TIME: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseButton {
    Left,
    Right,
}

impl Window {
    /// Asks the window to close, as its close button would, and waits until the app is gone.
    pub(super) async fn request_close(&self) -> Result<(), WindowError> {
        let window = self.desktop.window(MAIN).await?;
        let process = self.desktop.xdotool(&["getwindowpid", &window])?;
        let id = window
            .parse()
            .map_err(|_| WindowError::Native(format!("window {window}?")))?;
        x11::request_close(self.desktop.display(), id)?;
        let deadline = Instant::now() + TIMEOUT;
        while running(&process) {
            next_check(deadline, "the end of the app after its window was closed").await?;
        }
        Ok(())
    }

    /// Gives the window the focus of the desktop.
    pub async fn focus(&self) -> Result<(), WindowError> {
        let window = self.desktop.window(MAIN).await?;
        self.desktop.xdotool(&["windowfocus", "--sync", &window])?;
        Ok(())
    }

    /// Presses keys through the display server, so that they also reach the menu bar.
    pub async fn press_native(&self, keys: &[&str]) -> Result<(), WindowError> {
        self.focus().await?;
        for key in keys {
            self.desktop.xdotool(&["key", key])?;
        }
        Ok(())
    }

    /// Clicks with a button of the mouse on the first such element that contains some words, through
    /// the display server: the driver's right button is never released.
    pub async fn click_native(
        &self,
        css: &str,
        words: &str,
        button: MouseButton,
    ) -> Result<(), WindowError> {
        const PLACE: &str = "(() => {
          const one = [...document.querySelectorAll(given[0])].find((one) => one.textContent.includes(given[1]));
          one.scrollIntoView({ block: 'nearest' });
          const { left, top, width, height } = one.getBoundingClientRect();
          return [left + width / 2, top + height / 2, innerHeight].map(Math.round);
        })()";
        self.wait_for_text(css, words).await?;
        self.two_frames().await?;
        let place = self.value_of(PLACE, json!([css, words])).await?;
        let of_page = |at: usize| place[at].as_i64().unwrap_or_default();
        self.focus().await?;
        let window = self.desktop.window(MAIN).await?;
        let geometry = self
            .desktop
            .xdotool(&["getwindowgeometry", "--shell", &window])?;
        let height = geometry
            .lines()
            .find_map(|line| line.strip_prefix("HEIGHT="));
        let height: i64 = height
            .and_then(|height| height.parse().ok())
            .unwrap_or_default();
        // The menu bar is above the page.
        let y = of_page(1) + height - of_page(2);
        let (x, y) = (of_page(0).to_string(), y.to_string());
        let button = match button {
            MouseButton::Left => "1",
            MouseButton::Right => "3",
        };
        let click = [
            "mousemove",
            "--window",
            &window,
            "--sync",
            &x,
            &y,
            "click",
            button,
        ];
        self.desktop.xdotool(&click).map(drop)
    }

    /// Presses keys that end the program, and waits until it is gone.
    pub async fn end_by_keys(self, keys: &str) -> Result<(), WindowError> {
        let window = self.desktop.window(MAIN).await?;
        let process = self.desktop.xdotool(&["getwindowpid", &window])?;
        self.press_native(&[keys]).await?;
        let deadline = Instant::now() + TIMEOUT;
        while running(&process) {
            next_check(deadline, &format!("the end of the app after {keys}")).await?;
        }
        Ok(())
    }

    /// Waits until the menu bar is drawn dark, or light.
    pub async fn wait_for_menu_bar(&self, theme: SystemTheme) -> Result<(), WindowError> {
        /// In the bar, after the names of the menus.
        const PLACE: (i16, i16) = (700, 8);
        let window = self.desktop.window(MAIN).await?;
        let id = window
            .parse()
            .map_err(|_| WindowError::Native(format!("window {window}?")))?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let bright = x11::brightness_at(self.desktop.display(), id, PLACE.0, PLACE.1)?;
            if (bright < 110) == (theme == SystemTheme::Dark) {
                return Ok(());
            }
            let what = format!("a menu bar that is {theme:?}, not of brightness {bright},");
            next_check(deadline, &what).await?;
        }
    }

    /// Takes the focus of the desktop away. A page that is driven by WebDriver does not notice.
    pub fn unfocus(&self) -> Result<(), WindowError> {
        x11::unfocus(self.desktop.display())
    }

    /// Drags files over the window, as a file manager does.
    pub async fn drag(&self, paths: &[PathBuf]) -> Result<Drag, WindowError> {
        let window = self.desktop.window(MAIN).await?;
        let id = window
            .parse()
            .map_err(|_| WindowError::Native(format!("window {window}?")))?;
        let (display, paths) = (self.desktop.display().to_owned(), paths.to_vec());
        blocking(move || Drag::over(&display, id, &paths)).await
    }

    /// Drops the dragged files.
    pub async fn drop_files(&self, drag: Drag) -> Result<(), WindowError> {
        blocking(move || drag.drop_here()).await
    }

    /// Drags the files out of the window again.
    pub async fn drag_files_out(&self, drag: Drag) -> Result<(), WindowError> {
        blocking(move || drag.leave()).await
    }

    /// How many main windows are on the screen.
    pub fn main_windows(&self) -> usize {
        self.desktop.windows(MAIN).len()
    }

    /// Picks a file or a folder in the system's dialog, by typing its path. A folder must have
    /// none inside: the dialog would complete the path with it.
    pub async fn pick_path(&self, title: &str, path: &Path) -> Result<(), WindowError> {
        let dialog = self.desktop.window(title).await?;
        let path = path.to_string_lossy();
        let deadline = Instant::now() + TIMEOUT;
        // A dialog that is still reading its folder may take the focus from the field in which
        // we write. So the path is confirmed only once the field has it whole.
        loop {
            let field = self.desktop.write_path(&dialog, &path).await?;
            // A folder is completed with a slash.
            if field.trim_end_matches('/') == path {
                break;
            }
            let what = format!("the path in the dialog, which reads {field:?},");
            next_check(deadline, &what).await?;
        }
        self.desktop.xdotool(&["key", "Return"])?;
        while self.desktop.windows(title).contains(&dialog) {
            next_check(deadline, "the end of the dialog").await?;
        }
        Ok(())
    }
}

impl Desktop {
    /// The number of a window, once one whose title matches is on the screen.
    pub(super) async fn window(&self, title: &str) -> Result<String, WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            // The newest is the one in front.
            if let Some(window) = self.windows(title).pop() {
                return Ok(window);
            }
            next_check(deadline, &format!("a window with the title {title:?}")).await?;
        }
    }

    /// Presses the only button of a dialog, and waits until the dialog is gone.
    pub(super) async fn confirm_dialog(&self, title: &str) -> Result<(), WindowError> {
        let dialog = self.window(title).await?;
        let deadline = Instant::now() + TIMEOUT;
        while self.windows(title).contains(&dialog) {
            self.type_into(title, &["key", "Return"]).await?;
            next_check(deadline, "the end of the dialog").await?;
        }
        Ok(())
    }

    /// Gives a window the focus and runs a command of xdotool that types.
    pub(super) async fn type_into(&self, title: &str, typing: &[&str]) -> Result<(), WindowError> {
        let window = self.window(title).await?;
        self.xdotool(&["windowfocus", "--sync", &window])?;
        self.xdotool(typing).map(drop)
    }

    /// Types a path into a dialog and returns what its field reads afterwards.
    async fn write_path(&self, dialog: &str, path: &str) -> Result<String, WindowError> {
        self.xdotool(&["windowfocus", "--sync", dialog])?;
        self.xdotool(&["key", "ctrl+a"])?;
        // The field appears with the first slash.
        self.xdotool(&["type", "--delay", "20", path])?;
        // What is selected in a field is offered to other programs: that is how we can read it.
        self.xdotool(&["key", "ctrl+a"])?;
        let typed_by = Instant::now() + TYPING_TIME;
        loop {
            let display = self.display().to_owned();
            let selected = blocking(move || x11::selected_text(&display)).await?;
            let selected = selected.unwrap_or_default();
            if selected.starts_with(path) || Instant::now() > typed_by {
                return Ok(selected);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    pub(super) fn windows(&self, title: &str) -> Vec<String> {
        let found = self.xdotool(&["search", "--onlyvisible", "--name", title]);
        let found = found.unwrap_or_default();
        // A window that has just closed is left out.
        let is_managed = |id: &&str| {
            let managed = id.parse().map(|id| x11::is_managed(self.display(), id));
            matches!(managed, Ok(Ok(true)))
        };
        found
            .lines()
            .filter(is_managed)
            .map(str::to_owned)
            .collect()
    }

    fn xdotool(&self, args: &[&str]) -> Result<String, WindowError> {
        let output = Command::new("xdotool")
            .env("DISPLAY", self.display())
            .args(args)
            .output()?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(WindowError::Native(format!("xdotool {args:?}: {errors}")));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WindowError> + Send + 'static,
) -> Result<T, WindowError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(WindowError::Native(error.to_string())))
}

/// A process that has ended but has not been waited for counts as gone.
fn running(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    !state.is_empty() && !state.starts_with('Z')
}
