//! The app without a driver, as people run it.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use super::desktop::Desktop;
use super::native::{MAIN, TYPING_TIME};
use super::process::{Group, TIMEOUT, next_check};
use super::{WindowError, WindowOptions, app, usage};

/// The kernel's tables of sockets, with the code of the listening state.
const TABLES: [(&str, &str); 4] = [
    ("/proc/net/tcp", "0A"),
    ("/proc/net/tcp6", "0A"),
    ("/proc/net/udp", "07"),
    ("/proc/net/udp6", "07"),
];

/// A running app that is not driven. It ends when this value is dropped.
pub struct UndrivenApp {
    app: Group,
    desktop: Desktop,
}

impl UndrivenApp {
    /// Starts the app and waits until its window is on the screen.
    pub async fn start(options: WindowOptions) -> Result<Self, WindowError> {
        let desktop = Desktop::start(&options)?;
        let mut command = desktop.command(&app(), &options);
        command
            .env_remove("TAURI_WEBVIEW_AUTOMATION")
            .args(&options.args);
        let app = Group::start(&mut command)?;
        desktop.window(MAIN).await.map_err(|error| match error {
            WindowError::TimedOut { what, .. } => WindowError::TimedOut {
                what,
                page: format!("The app said:\n{}", desktop.log()),
            },
            other => other,
        })?;
        Ok(Self { app, desktop })
    }

    /// Waits until the title of the window matches, which the page sets.
    pub async fn wait_for_title(&self, title: &str) -> Result<(), WindowError> {
        self.desktop.window(title).await.map(drop)
    }

    /// Writes into the composer, and waits until the app has stored the draft. A page that is not
    /// ready yet loses keys, so they are typed again.
    pub async fn write_draft(&self, text: &str) -> Result<(), WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            self.press("ctrl+a").await?;
            let typing = ["type", "--delay", "20", text];
            self.desktop.type_into(MAIN, &typing).await?;
            let written_by = Instant::now() + TYPING_TIME;
            while Instant::now() < written_by {
                if self.desktop.is_on_disk("drafts", text) {
                    return Ok(());
                }
                next_check(deadline, &format!("the draft {text:?}")).await?;
            }
        }
    }

    /// Sends the draft that was written last. A page that has no session or no models yet does not
    /// take Enter, so it is pressed again; the draft goes when the prompt is stored.
    pub async fn send_draft(&self, text: &str) -> Result<(), WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        while self.desktop.is_on_disk("drafts", text) {
            self.press("Return").await?;
            let sent_by = Instant::now() + TYPING_TIME;
            while self.desktop.is_on_disk("drafts", text) && Instant::now() < sent_by {
                next_check(deadline, &format!("the prompt {text:?}")).await?;
            }
        }
        Ok(())
    }

    /// Presses a key until the title of the window matches: a page takes keys only some time after
    /// it has set its title.
    pub async fn press_until_title(&self, key: &str, title: &str) -> Result<(), WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        while self.desktop.windows(title).is_empty() {
            self.press(key).await?;
            let acted_by = Instant::now() + TYPING_TIME;
            while self.desktop.windows(title).is_empty() && Instant::now() < acted_by {
                next_check(deadline, &format!("the title {title:?}")).await?;
            }
        }
        Ok(())
    }

    /// Presses a key, named as xdotool does.
    pub async fn press(&self, key: &str) -> Result<(), WindowError> {
        self.desktop.type_into(MAIN, &["key", key]).await
    }

    /// Presses the only button of a dialog, and waits until the dialog is gone.
    pub async fn confirm_dialog(&self, title: &str) -> Result<(), WindowError> {
        self.desktop.confirm_dialog(title).await
    }

    /// Kills the process that runs the page, as the system does where memory is short.
    pub fn kill_page(&self) -> Result<(), WindowError> {
        let pages = usage::page_processes(self.app.id());
        assert!(!pages.is_empty(), "no process runs the page");
        for page in pages {
            let mut kill = Command::new("kill");
            let killed = kill.arg("-KILL").arg(page.to_string()).status()?;
            assert!(killed.success(), "{page} could not be killed");
        }
        Ok(())
    }

    /// Sends the app a signal, as a session that ends or another program does, and waits until it
    /// is gone. Its other processes get no signal.
    pub async fn end_by(&mut self, signal: Signal) -> Result<(), WindowError> {
        let app = Pid::from_child(self.app.leader());
        kill_process(app, signal).map_err(std::io::Error::from)?;
        self.app.ended().await.map(drop)
    }

    /// The addresses on which the app and its child processes listen.
    pub fn listens_on(&mut self) -> Result<Vec<String>, WindowError> {
        let group = self.app.leader().id().to_string();
        let mut sockets = BTreeSet::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // After the name in brackets: state, parent, process group.
            let group_of = stat
                .rsplit_once(") ")
                .and_then(|(_, rest)| rest.split(' ').nth(2));
            if group_of == Some(&group) {
                let files = fs::read_dir(entry.path().join("fd"))
                    .into_iter()
                    .flatten()
                    .flatten();
                sockets.extend(files.filter_map(|file| {
                    let target = fs::read_link(file.path())
                        .ok()?
                        .to_string_lossy()
                        .into_owned();
                    Some(
                        target
                            .strip_prefix("socket:[")?
                            .trim_end_matches(']')
                            .to_owned(),
                    )
                }));
            }
        }
        assert!(
            !sockets.is_empty(),
            "an app with a window has a socket to its display"
        );
        Ok(TABLES
            .iter()
            .flat_map(|(table, state)| waiting(table, state, &sockets))
            .collect())
    }
}

fn waiting(table: &str, state: &str, sockets: &BTreeSet<String>) -> Vec<String> {
    let text = fs::read_to_string(table).unwrap_or_default();
    let rows = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 9 && row[3] == state && sockets.contains(row[9]))
        .map(|row| format!("{table} {}", row[1]))
        .collect()
}
