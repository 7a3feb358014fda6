//! What the driver cannot reach: the window's frame and the system's own dialogs.
//!
//! There is no window manager here, so nothing has the focus until we give it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::process::{GLANCE, PATIENCE, glance};
use super::stage::Stage;
use super::x11::{self, Drag};
use super::{Window, WindowError};

/// The end of the main window's title; what comes before it changes with the session.
pub(super) const MAIN: &str = "Lathe$|Lathe — needs you$";

/// How long a dialog may take to act on keys before we type them again.
const MOMENT: Duration = Duration::from_secs(5);

impl Window {
    /// Asks the window to close, as its close button would, and waits until the app is gone.
    pub(super) async fn ask_to_close(&self) -> Result<(), WindowError> {
        let window = self.stage.window(MAIN).await?;
        let process = self.stage.xdotool(&["getwindowpid", &window])?;
        let id = window
            .parse()
            .map_err(|_| WindowError::Native(format!("window {window}?")))?;
        x11::ask_to_close(self.stage.display(), id)?;
        let deadline = Instant::now() + PATIENCE;
        while running(&process) {
            glance(deadline, "the end of the app after its window was closed").await?;
        }
        Ok(())
    }

    /// The person works in the window, as far as the desktop knows.
    pub async fn look_at(&self) -> Result<(), WindowError> {
        let window = self.stage.window(MAIN).await?;
        self.stage.xdotool(&["windowfocus", "--sync", &window])?;
        Ok(())
    }

    /// Real keys, one after the other, to whatever of the app listens: also its menu bar.
    pub async fn strike(&self, keys: &[&str]) -> Result<(), WindowError> {
        self.look_at().await?;
        for key in keys {
            self.stage.xdotool(&["key", key])?;
        }
        Ok(())
    }

    /// The person works in another window. A page that is driven from outside does not notice.
    pub fn look_away(&self) -> Result<(), WindowError> {
        x11::look_away(self.stage.display())
    }

    /// Holds files over the window, as a file manager does.
    pub async fn drag(&self, paths: &[PathBuf]) -> Result<Drag, WindowError> {
        let window = self.stage.window(MAIN).await?;
        let id = window
            .parse()
            .map_err(|_| WindowError::Native(format!("window {window}?")))?;
        let (display, paths) = (self.stage.display().to_owned(), paths.to_vec());
        on_the_side(move || Drag::over(&display, id, &paths)).await
    }

    /// Lets go of them.
    pub async fn drop_files(&self, drag: Drag) -> Result<(), WindowError> {
        on_the_side(move || drag.drop_here()).await
    }

    /// Moves them out of the window again.
    pub async fn take_files_away(&self, drag: Drag) -> Result<(), WindowError> {
        on_the_side(move || drag.take_away()).await
    }

    /// How many main windows are on the screen.
    pub fn main_windows(&self) -> usize {
        self.stage.windows(MAIN).len()
    }

    /// Picks a file or a folder in the system's dialog, by typing its path. A folder must have
    /// none inside: the dialog would complete the path with it.
    pub async fn pick_path(&self, title: &str, path: &Path) -> Result<(), WindowError> {
        let dialog = self.stage.window(title).await?;
        let path = path.to_string_lossy();
        let deadline = Instant::now() + PATIENCE;
        // A dialog that is still reading its folder may take the focus from the field in which
        // we write. So the path is confirmed only once the field has it whole.
        loop {
            let field = self.stage.write_path(&dialog, &path).await?;
            // A folder is completed with a slash.
            if field.trim_end_matches('/') == path {
                break;
            }
            let what = format!("the path in the dialog, which reads {field:?},");
            glance(deadline, &what).await?;
        }
        self.stage.xdotool(&["key", "Return"])?;
        while self.stage.windows(title).contains(&dialog) {
            glance(deadline, "the end of the dialog").await?;
        }
        Ok(())
    }
}

impl Stage {
    /// The number of a window, once one whose title matches is on the screen.
    pub(super) async fn window(&self, title: &str) -> Result<String, WindowError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // The newest is the one in front.
            if let Some(window) = self.windows(title).pop() {
                return Ok(window);
            }
            glance(deadline, &format!("a window with the title {title:?}")).await?;
        }
    }

    /// Types a path into a dialog and returns what its field reads afterwards.
    async fn write_path(&self, dialog: &str, path: &str) -> Result<String, WindowError> {
        self.xdotool(&["windowfocus", "--sync", dialog])?;
        self.xdotool(&["key", "ctrl+a"])?;
        // The field appears with the first slash.
        self.xdotool(&["type", "--delay", "20", path])?;
        // What is selected in a field is offered to other programs: that is how we can read it.
        self.xdotool(&["key", "ctrl+a"])?;
        let moment = Instant::now() + MOMENT;
        loop {
            let display = self.display().to_owned();
            let selected = on_the_side(move || x11::selected_text(&display)).await?;
            let selected = selected.unwrap_or_default();
            if selected.starts_with(path) || Instant::now() > moment {
                return Ok(selected);
            }
            tokio::time::sleep(GLANCE).await;
        }
    }

    fn windows(&self, title: &str) -> Vec<String> {
        let found = self.xdotool(&["search", "--onlyvisible", "--name", title]);
        let found = found.unwrap_or_default();
        // One that closes meanwhile is none any more.
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

async fn on_the_side<T: Send + 'static>(
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
