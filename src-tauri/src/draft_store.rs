//! Drafts on disk: one file each, in the data directory.
//!
//! A draft changes with every key press. Changes are collected in memory and written after a short
//! delay, so a crash loses no more than that. Closing the window writes at once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lathe_protocol::ipc::Draft;
use lathe_session::write_private_file;
use parking_lot::Mutex;

/// How long changes are collected before they are written.
const WRITE_DELAY: Duration = Duration::from_millis(250);
const EXTENSION: &str = "json";

#[derive(Clone)]
pub struct DraftStore(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    /// Changes that are not written yet, by place. None if the draft was sent or emptied.
    unwritten: Mutex<BTreeMap<String, Option<Draft>>>,
    /// A task already waits to write them.
    scheduled: AtomicBool,
    writing: Mutex<()>,
}

impl DraftStore {
    pub fn new(data_dir: &Path) -> Self {
        DraftStore(Arc::new(Inner {
            folder: data_dir.join("drafts"),
            unwritten: Mutex::default(),
            scheduled: AtomicBool::default(),
            writing: Mutex::default(),
        }))
    }

    /// All drafts, by place. Files that are not drafts are left alone.
    pub fn all(&self) -> BTreeMap<String, Draft> {
        self.write();
        let _writing = self.0.writing.lock();
        let entries = fs::read_dir(&self.0.folder).into_iter().flatten().flatten();
        let drafts = entries.filter_map(|entry| {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "tmp") {
                // A crash interrupted the write.
                let _ = fs::remove_file(&path);
            }
            let place = place(&path)?;
            Some((place, serde_json::from_slice(&fs::read(&path).ok()?).ok()?))
        });
        drafts.collect()
    }

    /// Records a draft; None if it was sent or emptied. The first change schedules a write for all
    /// that follow. False if the place is not valid.
    pub fn set(&self, place: &str, draft: Option<Draft>) -> bool {
        if !is_place(place) {
            return false;
        }
        self.0.unwritten.lock().insert(place.to_owned(), draft);
        if !self.0.scheduled.swap(true, Ordering::AcqRel) {
            let store = self.clone();
            tauri::async_runtime::spawn(async move {
                tokio::time::sleep(WRITE_DELAY).await;
                let written = tokio::task::spawn_blocking(move || store.write()).await;
                if let Err(error) = written {
                    tracing::warn!(%error, "drafts were not written");
                }
            });
        }
        true
    }

    /// Writes all recorded changes.
    pub fn write(&self) {
        let _writing = self.0.writing.lock();
        self.0.scheduled.store(false, Ordering::Release);
        let unwritten = std::mem::take(&mut *self.0.unwritten.lock());
        for (place, draft) in unwritten {
            if let Err(error) = self.put(&place, draft.as_ref()) {
                tracing::warn!(%error, "a draft was not written");
                // Tried again with the next change, unless the draft has changed in the meantime.
                self.0.unwritten.lock().entry(place).or_insert(draft);
            }
        }
    }

    fn put(&self, place: &str, draft: Option<&Draft>) -> io::Result<()> {
        let path = self.path(place);
        match draft {
            Some(draft) => {
                fs::create_dir_all(&self.0.folder)?;
                write_private_file(&path, &serde_json::to_vec(draft)?)
            }
            None => fs::remove_file(path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            }),
        }
    }

    /// Not every file system allows a colon.
    fn path(&self, place: &str) -> PathBuf {
        let name = place.replace(':', "=");
        self.0.folder.join(format!("{name}.{EXTENSION}"))
    }
}

/// The window must not reach other folders through the name of a place.
fn is_place(place: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:".contains(&byte);
    !place.is_empty() && place.len() <= 200 && place.bytes().all(plain)
}

fn place(path: &Path) -> Option<String> {
    let ours = path.extension()? == EXTENSION;
    let place = path.file_stem()?.to_str()?.replace('=', ":");
    (ours && is_place(&place)).then_some(place)
}

#[cfg(test)]
mod tests;
