//! Watches the files of the review that was read last, and publishes changes from outside at once.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_protocol::ipc::ReviewFile;
use lathe_records::Records;
use lathe_records::bus::ReviewNews;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;

use crate::Changes;

/// One watcher: a window shows one review at a time.
#[derive(Default)]
pub struct ReviewWatch(Mutex<Option<Watched>>);

struct Watched {
    session: SessionId,
    folders: BTreeSet<PathBuf>,
    files: Arc<Mutex<HashMap<PathBuf, String>>>,
    watcher: RecommendedWatcher,
}

/// More folders are not watched.
const MOST_FOLDERS: usize = 500;

impl Changes {
    /// Watches the folders of these files, and no longer those of another review.
    pub(crate) fn watch_review(&self, id: &SessionId, worktree: &Path, files: &[ReviewFile]) {
        let files: HashMap<PathBuf, String> = files
            .iter()
            .map(|file| (worktree.join(&file.path), file.path.clone()))
            .collect();
        let folders: BTreeSet<PathBuf> = files
            .keys()
            .filter_map(|file| file.parent())
            .filter(|folder| folder.is_dir())
            .take(MOST_FOLDERS)
            .map(Path::to_owned)
            .collect();
        let mut watch = self.watching.0.lock();
        if watch.as_ref().is_none_or(|one| one.session != *id) {
            *watch = start(&self.records, id);
        }
        let Some(watched) = &mut *watch else {
            return;
        };
        *watched.files.lock() = files;
        for folder in watched.folders.difference(&folders) {
            // It may be gone.
            let _ = watched.watcher.unwatch(folder);
        }
        for folder in folders.difference(&watched.folders) {
            let added = watched.watcher.watch(folder, RecursiveMode::NonRecursive);
            if let Err(error) = added {
                tracing::info!(%error, "a folder of the review is not watched");
            }
        }
        watched.folders = folders;
    }

    /// The review of a session is no longer shown.
    pub fn close_review(&self, id: &SessionId) {
        let mut watch = self.watching.0.lock();
        if watch.as_ref().is_some_and(|one| one.session == *id) {
            *watch = None;
        }
    }
}

fn start(records: &Records, id: &SessionId) -> Option<Watched> {
    let files: Arc<Mutex<HashMap<PathBuf, String>>> = Arc::default();
    let (known, bus, session) = (files.clone(), records.bus().clone(), id.clone());
    let tell = move |event: notify::Result<Event>| {
        let Ok(event) = event else { return };
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        for path in &event.paths {
            let name = known.lock().get(path).cloned();
            if let Some(path) = name {
                let session_id = session.clone();
                bus.publish_review(ReviewNews::Outside { session_id, path });
            }
        }
    };
    match notify::recommended_watcher(tell) {
        Ok(watcher) => Some(Watched {
            session: id.clone(),
            folders: BTreeSet::new(),
            files,
            watcher,
        }),
        Err(error) => {
            tracing::info!(%error, "the review is not watched");
            None
        }
    }
}
