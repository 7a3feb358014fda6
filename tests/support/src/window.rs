//! The real window, driven from outside: a virtual display, a session bus, the WebKit driver
//! and the built app.
//!
//! It knows the app only by its binary, its environment and its page. Everything that is started
//! here ends with the [`Window`], also when the test fails.

mod bus;
mod desktop;
mod error;
mod keys;
mod native;
mod notifications;
mod page;
mod process;
mod undriven;
mod usage;
mod webdriver;
mod x11;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use desktop::Desktop;
pub use error::WindowError;
pub use native::MouseButton;
pub use notifications::{Notifications, Shown};
use process::{Group, TIMEOUT, next_check};
pub use undriven::UndrivenApp;
use webdriver::{Session, WebDriver};
pub use x11::Drag;

/// The theme of the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemTheme {
    Light,
    Dark,
}

/// How to start the app.
#[derive(Debug, Clone)]
pub struct WindowOptions {
    /// The app's data folder; None is a new one.
    pub data_dir: Option<PathBuf>,
    /// The app's arguments: a folder to open, for example.
    pub args: Vec<OsString>,
    /// More environment variables for the app.
    pub env: Vec<(String, String)>,
    /// Set after the start; None leaves the app's own size.
    pub size: Option<(u32, u32)>,
    pub theme: SystemTheme,
    /// A program to start instead of the app.
    pub app: Option<PathBuf>,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            data_dir: None,
            args: vec![],
            env: vec![],
            size: None,
            theme: SystemTheme::Light,
            app: None,
        }
    }
}

impl WindowOptions {
    /// Opens a folder at the start.
    pub fn open(folder: &Path) -> Self {
        Self {
            args: vec![folder.into()],
            ..Self::default()
        }
    }
}

/// A running app, with everything around it.
pub struct Window {
    session: Session,
    // Dropped before the desktop: the app must end before its display.
    driver: Group,
    desktop: Desktop,
    options: WindowOptions,
}

impl Window {
    /// Starts the app and waits until its page is there.
    pub async fn start(options: WindowOptions) -> Result<Self, WindowError> {
        let desktop = Desktop::start(&options)?;
        let (driver, session) = launch(&desktop, &options).await?;
        let window = Self {
            session,
            driver,
            desktop,
            options,
        };
        window.wait_for_page().await?;
        if let Some((width, height)) = window.options.size {
            window.resize(width, height).await?;
        }
        Ok(window)
    }

    /// Closes the app as a person would and starts it again, on the same data.
    pub async fn restart(&mut self) -> Result<(), WindowError> {
        self.restart_with_args(self.options.args.clone()).await
    }

    /// As [`Window::restart`], with other arguments.
    pub async fn restart_with_args(&mut self, args: Vec<OsString>) -> Result<(), WindowError> {
        self.request_close().await?;
        self.driver.end();
        self.desktop.wait_for_released_name().await?;
        self.options.args = args;
        (self.driver, self.session) = launch(&self.desktop, &self.options).await?;
        self.wait_for_page().await
    }

    /// Closes the app as a person would, and waits until it is gone.
    pub async fn close(self) -> Result<(), WindowError> {
        self.request_close().await
    }

    /// Kills the app without a warning and starts it again, on the same data.
    pub async fn crash_and_restart(&mut self) -> Result<(), WindowError> {
        self.driver.end();
        self.desktop.wait_for_released_name().await?;
        (self.driver, self.session) = launch(&self.desktop, &self.options).await?;
        self.wait_for_page().await
    }

    /// The memory of the app and its webview.
    pub fn resident_bytes(&self) -> u64 {
        usage::resident_bytes(self.driver.id())
    }

    /// The processor time of the app and its webview so far.
    pub fn cpu_time(&self) -> std::time::Duration {
        usage::cpu_time(self.driver.id())
    }

    /// The app's data folder.
    pub fn data_dir(&self) -> &Path {
        self.desktop.data_dir()
    }

    /// Waits until a file in a folder of the data directory contains some words.
    pub async fn wait_on_disk(&self, folder: &str, words: &str) -> Result<(), WindowError> {
        self.desktop.wait_on_disk(folder, words).await
    }

    /// Waits until a file contains some words.
    pub async fn wait_for_file(
        &self,
        file: &Path,
        words: impl AsRef<[u8]>,
    ) -> Result<(), WindowError> {
        let (deadline, words) = (Instant::now() + TIMEOUT, words.as_ref());
        let found = |bytes: Vec<u8>| bytes.windows(words.len()).any(|some| some == words);
        let what = String::from_utf8_lossy(words);
        while !std::fs::read(file).is_ok_and(found) {
            next_check(deadline, &format!("{what:?} in {}", file.display())).await?;
        }
        Ok(())
    }

    /// What the app has written to its output and errors so far.
    pub fn log(&self) -> String {
        self.desktop.log()
    }

    /// Starts the app a second time, in the same desktop, and waits until that process ends.
    pub async fn start_again(&self, args: &[OsString]) -> Result<bool, WindowError> {
        let mut command = self.desktop.command(&app(), &self.options);
        let mut second = Group::start(command.args(args))?;
        Ok(second.ended().await?.success())
    }

    /// The outer size of the window.
    pub async fn size(&self) -> Result<(u32, u32), WindowError> {
        let rect = self.session.get("window/rect").await?;
        let side = |name: &str| rect[name].as_f64().unwrap_or_default().round() as u32;
        Ok((side("width"), side("height")))
    }

    /// Resizes the window and waits until the page has been drawn in the new size.
    pub async fn resize(&self, width: u32, height: u32) -> Result<(), WindowError> {
        let before = self.size().await?;
        self.session
            .post("window/rect", json!({ "width": width, "height": height }))
            .await?;
        if before != (width, height) {
            self.two_frames().await?;
        }
        Ok(())
    }

    /// Waits until the page is loaded and, if it is the app's, has drawn something.
    async fn wait_for_page(&self) -> Result<(), WindowError> {
        self.session
            .post("timeouts", json!({ "script": 120_000, "pageLoad": 60_000 }))
            .await?;
        let is_there = match self.options.app {
            None => "document.querySelector('#app > *') !== null",
            Some(_) => "document.readyState === 'complete'",
        };
        self.wait_until("the page", is_there).await
    }
}

/// The app under test: `LATHE_APP`, else the debug build.
fn app() -> PathBuf {
    std::env::var_os("LATHE_APP").map_or_else(|| target_dir().join("debug/lathe"), PathBuf::from)
}

fn target_dir() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

async fn launch(
    desktop: &Desktop,
    options: &WindowOptions,
) -> Result<(Group, Session), WindowError> {
    let app = options.app.clone().unwrap_or_else(app);
    if !app.is_file() {
        return Err(WindowError::NoApp(app));
    }
    let (group, driver) = WebDriver::start(desktop, options).await?;
    let session = driver
        .open(&app, &options.args)
        .await
        .map_err(|error| match error {
            WindowError::Driver { what, .. } => WindowError::Driver {
                what: format!("{what}\nthe app said:\n{}", desktop.log()),
            },
            other => other,
        })?;
    Ok((group, session))
}
