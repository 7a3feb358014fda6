//! The real window, driven from outside: a virtual display, a session bus, the WebKit driver
//! and the built app.
//!
//! It knows the app only by its binary, its environment and its page. Whatever a test starts
//! here ends with the [`Window`], also when the test fails.

mod bus;
mod error;
mod keys;
mod native;
mod notifications;
mod page;
mod process;
mod stage;
mod unattended;
mod usage;
mod webdriver;
mod x11;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

pub use error::WindowError;
pub use notifications::{Notifications, Shown};
use process::{Group, PATIENCE, glance};
use stage::Stage;
pub use unattended::Unattended;
use webdriver::{Session, WebDriver};
pub use x11::Drag;

/// What the desktop around the app looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemTheme {
    Light,
    Dark,
}

/// How to start the app.
#[derive(Debug, Clone)]
pub struct WindowOptions {
    /// Where the app keeps its data; a folder of its own when there is none.
    pub data_dir: Option<PathBuf>,
    /// The app's arguments: a folder to open, for example.
    pub args: Vec<OsString>,
    /// More environment for the app.
    pub env: Vec<(String, String)>,
    /// Set after the start; without it the app decides.
    pub size: Option<(u32, u32)>,
    pub theme: SystemTheme,
    /// Another program than the app.
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
    // Dropped before the stage: the app goes before its display does.
    driver: Group,
    stage: Stage,
    options: WindowOptions,
}

impl Window {
    /// Starts the app and waits until its page is there.
    pub async fn start(options: WindowOptions) -> Result<Self, WindowError> {
        let stage = Stage::set(&options)?;
        let (driver, session) = launch(&stage, &options).await?;
        let window = Self {
            session,
            driver,
            stage,
            options,
        };
        window.arrive().await?;
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
        self.ask_to_close().await?;
        self.driver.end();
        self.stage.until_released().await?;
        self.options.args = args;
        (self.driver, self.session) = launch(&self.stage, &self.options).await?;
        self.arrive().await
    }

    /// Closes the app as a person would, and waits until it is gone.
    pub async fn close(self) -> Result<(), WindowError> {
        self.ask_to_close().await
    }

    /// Kills the app without a warning and starts it again, on the same data.
    pub async fn crash_and_restart(&mut self) -> Result<(), WindowError> {
        self.driver.end();
        self.stage.until_released().await?;
        (self.driver, self.session) = launch(&self.stage, &self.options).await?;
        self.arrive().await
    }

    /// What the app and its webview have in memory.
    pub fn resident_bytes(&self) -> u64 {
        usage::resident_bytes(self.driver.id())
    }

    /// What the app and its webview have computed so far.
    pub fn cpu_time(&self) -> std::time::Duration {
        usage::cpu_time(self.driver.id())
    }

    /// Where the app keeps its data.
    pub fn data_dir(&self) -> &Path {
        self.stage.data_dir()
    }

    /// Waits until a file in a folder of the data directory contains some words.
    pub async fn wait_on_disk(&self, folder: &str, words: &str) -> Result<(), WindowError> {
        let folder = self.data_dir().join(folder);
        let what = format!("{words:?} in {}", folder.display());
        let deadline = Instant::now() + PATIENCE;
        loop {
            let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
            if texts.any(|text| text.contains(words)) {
                return Ok(());
            }
            glance(deadline, &what).await?;
        }
    }

    /// Waits until a file contains some words.
    pub async fn wait_for_file(
        &self,
        file: &Path,
        words: impl AsRef<[u8]>,
    ) -> Result<(), WindowError> {
        let (deadline, words) = (Instant::now() + PATIENCE, words.as_ref());
        let found = |bytes: Vec<u8>| bytes.windows(words.len()).any(|some| some == words);
        let what = String::from_utf8_lossy(words);
        while !std::fs::read(file).is_ok_and(found) {
            glance(deadline, &format!("{what:?} in {}", file.display())).await?;
        }
        Ok(())
    }

    /// What the app has written to its output and errors so far.
    pub fn log(&self) -> String {
        self.stage.log()
    }

    /// Starts the app a second time, in the same desktop, and waits until that process ends.
    pub async fn start_again(&self, args: &[OsString]) -> Result<bool, WindowError> {
        let mut command = self.stage.command(&app(), &self.options);
        let mut second = Group::start(command.args(args))?;
        Ok(second.ended().await?.success())
    }

    /// The outer size of the window.
    pub async fn size(&self) -> Result<(u32, u32), WindowError> {
        let rect = self.session.get("window/rect").await?;
        let side = |name: &str| rect[name].as_f64().unwrap_or_default().round() as u32;
        Ok((side("width"), side("height")))
    }

    /// Gives the window another size and waits until the page has noticed.
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

    /// A page that has been parsed, with something drawn in it if it is the app's.
    async fn arrive(&self) -> Result<(), WindowError> {
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

async fn launch(stage: &Stage, options: &WindowOptions) -> Result<(Group, Session), WindowError> {
    let app = options.app.clone().unwrap_or_else(app);
    if !app.is_file() {
        return Err(WindowError::NoApp(app));
    }
    let (group, driver) = WebDriver::start(stage, options).await?;
    let session = driver
        .open(&app, &options.args)
        .await
        .map_err(|error| match error {
            WindowError::Driver { what, .. } => WindowError::Driver {
                what: format!("{what}\nthe app said:\n{}", stage.log()),
            },
            other => other,
        })?;
    Ok((group, session))
}
