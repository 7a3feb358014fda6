//! The app without a driver, as people run it.

use std::collections::BTreeSet;
use std::fs;

use super::desktop::Desktop;
use super::native::MAIN;
use super::process::Group;
use super::{WindowError, WindowOptions, app};

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
    _desktop: Desktop,
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
        Ok(Self {
            app,
            _desktop: desktop,
        })
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
