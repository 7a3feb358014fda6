//! Disk use of the data directory, and deleting what is not needed.

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

    /// Deletes removed sessions, old tool output, unused snapshots or the search index.
    pub async fn delete_data(&self, kind: DataKind) -> Result<()> {
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
                // A person asked for it: every session is read, however small the snapshots are.
                self.clean_up(0).await;
                Ok(())
            }
            DataKind::Index => self.rebuild_index().await,
            _ => Err(Failed::refused("This is not for cleaning up")),
        }
    }
}

fn data_kind(name: &str) -> DataKind {
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

/// Files that disappear in the meantime are not counted.
fn measure(root: &Path) -> io::Result<Vec<DataUse>> {
    let mut uses = BTreeMap::new();
    for entry in fs::read_dir(root)?.flatten() {
        let kind = data_kind(&entry.file_name().to_string_lossy());
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
