//! What the data directory holds, and what of it may go.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use lathe_protocol::ipc::{DataKind, DataUse, DataView};

use super::Sessions;
use lathe_records::{Failed, Result};

impl Sessions {
    pub async fn data_use(&self) -> Result<DataView> {
        let root = self.core.data_dir.clone();
        let path = root.display().to_string();
        let uses = tokio::task::spawn_blocking(move || measure(&root)).await;
        let uses = uses.map_err(|error| Failed::refused(error.to_string()))?;
        let uses = uses.map_err(|error| Failed::refused(format!("{path}: {error}")))?;
        Ok(DataView { path, uses })
    }

    /// Takes away what can be spared: removed sessions, kept tool output, snapshots that nothing
    /// needs any more, the search index.
    pub async fn clean(&self, kind: DataKind) -> Result<()> {
        match kind {
            DataKind::Trash => {
                self.core
                    .records
                    .store()
                    .empty_trash(Duration::ZERO)
                    .await?;
                self.removed.lock().clear();
                Ok(())
            }
            DataKind::Output => {
                let folder = self.core.tools.output_dir();
                let emptied = tokio::task::spawn_blocking(move || empty(&folder)).await;
                let emptied = emptied.map_err(|error| Failed::refused(error.to_string()))?;
                emptied.map_err(|error| Failed::refused(error.to_string()))
            }
            DataKind::Snapshots => {
                // A person asked for it: every session is looked through, however little there is.
                self.clean_up(0).await;
                Ok(())
            }
            DataKind::Index => self.rebuild_index().await,
            _ => Err(Failed::refused("This is not for cleaning up")),
        }
    }
}

fn kind_of(name: &str) -> DataKind {
    match name {
        "storage" => DataKind::Sessions,
        "snapshot" | "snapshots" => DataKind::Snapshots,
        "tool-output" => DataKind::Output,
        "index" => DataKind::Index,
        "trash" => DataKind::Trash,
        "quarantine" => DataKind::Quarantine,
        _ => DataKind::Other,
    }
}

/// What vanishes while we look does not count.
fn measure(root: &Path) -> io::Result<Vec<DataUse>> {
    let mut uses = BTreeMap::new();
    for entry in fs::read_dir(root)?.flatten() {
        let kind = kind_of(&entry.file_name().to_string_lossy());
        let (bytes, files) = uses.entry(kind).or_insert((0, 0));
        let mut waiting = vec![entry];
        while let Some(entry) = waiting.pop() {
            let Ok(about) = entry.metadata() else {
                continue;
            };
            if about.is_dir() {
                waiting.extend(fs::read_dir(entry.path()).into_iter().flatten().flatten());
            } else {
                *bytes += about.len();
                *files += 1;
            }
        }
    }
    let uses = uses.into_iter();
    Ok(uses
        .map(|(kind, (bytes, files))| DataUse { kind, bytes, files })
        .collect())
}

fn empty(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries.flatten() {
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}
