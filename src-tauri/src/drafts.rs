//! Where drafts wait until they are sent: a file each, in the data directory.
//!
//! A draft changes with every key, so it is taken at once and written after a moment: what a
//! crash costs is that moment. Closing the window costs nothing.

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

/// Typing is written no more often than this, and no later.
const MOMENT: Duration = Duration::from_millis(250);
const ENDING: &str = "json";

#[derive(Clone)]
pub struct DraftDesk(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    /// Taken and not written yet, by place; nothing for a draft that was sent or emptied.
    fresh: Mutex<BTreeMap<String, Option<Draft>>>,
    /// Somebody waits for the moment to write them.
    awaited: AtomicBool,
    writing: Mutex<()>,
}

impl DraftDesk {
    pub fn new(data_dir: &Path) -> Self {
        DraftDesk(Arc::new(Inner {
            folder: data_dir.join("drafts"),
            fresh: Mutex::default(),
            awaited: AtomicBool::default(),
            writing: Mutex::default(),
        }))
    }

    /// Everything that was written and not sent. What is no draft is left where it lies.
    pub fn all(&self) -> BTreeMap<String, Draft> {
        self.write();
        let _writing = self.0.writing.lock();
        let entries = fs::read_dir(&self.0.folder).into_iter().flatten().flatten();
        let drafts = entries.filter_map(|entry| {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "tmp") {
                // Half of one that a crash left.
                let _ = fs::remove_file(&path);
            }
            let place = place(&path)?;
            Some((place, serde_json::from_slice(&fs::read(&path).ok()?).ok()?))
        });
        drafts.collect()
    }

    /// Takes a draft as it is now. The first to come waits for the moment and writes for all.
    pub fn keep(&self, place: &str, draft: Option<Draft>) -> bool {
        if !is_place(place) {
            return false;
        }
        self.0.fresh.lock().insert(place.to_owned(), draft);
        if !self.0.awaited.swap(true, Ordering::AcqRel) {
            let desk = self.clone();
            tauri::async_runtime::spawn(async move {
                tokio::time::sleep(MOMENT).await;
                let written = tokio::task::spawn_blocking(move || desk.write()).await;
                if let Err(error) = written {
                    tracing::warn!(%error, "drafts were not written");
                }
            });
        }
        true
    }

    /// Puts on disk what was taken so far.
    pub fn write(&self) {
        let _writing = self.0.writing.lock();
        self.0.awaited.store(false, Ordering::Release);
        let fresh = std::mem::take(&mut *self.0.fresh.lock());
        for (place, draft) in fresh {
            if let Err(error) = self.put(&place, draft.as_ref()) {
                tracing::warn!(%error, "a draft was not written");
                // Unless it has changed meanwhile, it is tried again with the next change.
                self.0.fresh.lock().entry(place).or_insert(draft);
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

    /// Not every file system takes a colon.
    fn path(&self, place: &str) -> PathBuf {
        let name = place.replace(':', "=");
        self.0.folder.join(format!("{name}.{ENDING}"))
    }
}

/// Only names that lead nowhere else: the window must not reach other folders.
fn is_place(place: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:".contains(&byte);
    !place.is_empty() && place.len() <= 200 && place.bytes().all(plain)
}

fn place(path: &Path) -> Option<String> {
    let ours = path.extension()? == ENDING;
    let place = path.file_stem()?.to_str()?.replace('=', ":");
    (ours && is_place(&place)).then_some(place)
}

#[cfg(test)]
mod tests;
