//! The app as it runs without a driver: nothing of it is opened for tests.

use std::collections::BTreeSet;
use std::fs;

use super::native::MAIN;
use super::process::Group;
use super::stage::Stage;
use super::{WindowError, WindowOptions, app};

/// Tables of the kernel, and the state in which a socket of theirs waits for callers.
const TABLES: [(&str, &str); 4] = [
    ("/proc/net/tcp", "0A"),
    ("/proc/net/tcp6", "0A"),
    ("/proc/net/udp", "07"),
    ("/proc/net/udp6", "07"),
];

/// A running app whose page cannot be asked anything. It ends with this value.
pub struct Unattended {
    app: Group,
    _stage: Stage,
}

impl Unattended {
    /// Starts the app and waits until its window is on the screen.
    pub async fn start(options: WindowOptions) -> Result<Self, WindowError> {
        let stage = Stage::set(&options)?;
        let mut command = stage.command(&app(), &options);
        command
            .env_remove("TAURI_WEBVIEW_AUTOMATION")
            .args(&options.args);
        let app = Group::start(&mut command)?;
        stage.window(MAIN).await.map_err(|error| match error {
            WindowError::NeverCame { what, .. } => WindowError::NeverCame {
                what,
                page: format!("The app said:\n{}", stage.log()),
            },
            other => other,
        })?;
        Ok(Self { app, _stage: stage })
    }

    /// The addresses on which the app and its helpers wait for callers.
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
