//! The desktop around the app: a display, a session bus and a home folder of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::process::{Group, TIMEOUT, next_check};
use super::{SystemTheme, WindowError, WindowOptions};

/// Variables of the caller's desktop that are wrong in ours or make screenshots hang.
const UNWANTED: [&str; 5] = [
    "GTK_THEME",
    "WAYLAND_DISPLAY",
    "WEBKIT_DISABLE_COMPOSITING_MODE",
    "WEBKIT_DISABLE_DMABUF_RENDERER",
    "XDG_SESSION_TYPE",
];

/// A session bus that starts no services: the machine's portals, keyrings and screen readers
/// stay out of the test.
const BUS: &str = r#"<busconfig>
  <type>session</type>
  <listen>unix:dir=HOME</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// A desktop that is separate from the machine's own.
pub struct Desktop {
    display: String,
    bus: String,
    home: TempDir,
    data_dir: PathBuf,
    _processes: [Group; 2],
}

impl Desktop {
    pub fn start(options: &WindowOptions) -> Result<Self, WindowError> {
        let home = tempfile::tempdir()?;
        if let Some(shortage) = crate::disk::shortage(home.path()) {
            return Err(WindowError::Native(shortage));
        }
        let data_dir = options
            .data_dir
            .clone()
            .unwrap_or_else(|| home.path().join("data"));
        let (screen, number) = start_server(Command::new("Xvfb").args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1600x1000x24",
            "-nolisten",
            "tcp",
        ]))?;
        let config = home.path().join("bus.conf");
        fs::write(&config, BUS.replace("HOME", &home.path().to_string_lossy()))?;
        let (daemon, bus) = start_server(
            Command::new("dbus-daemon")
                .arg(format!("--config-file={}", config.display()))
                .args(["--nofork", "--nopidfile", "--print-address=1"]),
        )?;
        let processes = [screen, daemon];
        Ok(Self {
            display: format!(":{number}"),
            bus,
            home,
            data_dir,
            _processes: processes,
        })
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Waits until a file in a folder of the data directory contains some words.
    pub async fn wait_on_disk(&self, folder: &str, words: &str) -> Result<(), WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        while !self.is_on_disk(folder, words) {
            next_check(deadline, &format!("{words:?} in the folder {folder}")).await?;
        }
        Ok(())
    }

    pub fn is_on_disk(&self, folder: &str, words: &str) -> bool {
        let files = fs::read_dir(self.data_dir().join(folder));
        let files = files.into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains(words))
    }

    /// The address of the session bus.
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// The name of the display, as in `DISPLAY`.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// A program that lives in this desktop and writes to the log.
    pub fn command(&self, program: &Path, options: &WindowOptions) -> Command {
        let home = self.home.path();
        // A run that was started in the background ignores some signals, and so would the program.
        let mut command = Command::new("env");
        command.arg("--default-signal").arg(program);
        for name in UNWANTED {
            command.env_remove(name);
        }
        command
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("HOME", home)
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("share"))
            .env("LATHE_DATA_DIR", &self.data_dir)
            .env("LANG", "C.UTF-8")
            .env("GDK_BACKEND", "x11")
            .env(
                "GTK_THEME",
                match options.theme {
                    SystemTheme::Light => "Adwaita",
                    SystemTheme::Dark => "Adwaita:dark",
                },
            )
            // There is no screen reader, and looking for one takes seconds.
            .env("NO_AT_BRIDGE", "1")
            // Without this variable the driver's session never starts.
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .envs(options.env.iter().cloned())
            .stdin(Stdio::null());
        if let (Ok(output), Ok(errors)) = (self.log_file(), self.log_file()) {
            command.stdout(output).stderr(errors);
        }
        command
    }

    pub fn log(&self) -> String {
        fs::read(self.log_path())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    fn log_path(&self) -> PathBuf {
        self.home.path().join("app.log")
    }

    fn log_file(&self) -> std::io::Result<File> {
        File::options()
            .create(true)
            .append(true)
            .open(self.log_path())
    }
}

/// Starts a server that prints its address as the first line when it is ready.
fn start_server(command: &mut Command) -> Result<(Group, String), WindowError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut group = Group::start(command)?;
    let mut line = String::new();
    if let Some(output) = group.leader().stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    let line = line.trim().to_owned();
    if line.is_empty() {
        let program = command.get_program().to_string_lossy().into_owned();
        return Err(WindowError::Start {
            program,
            why: "it ended at once".into(),
        });
    }
    Ok((group, line))
}
