//! A list of a project's files and folders, cached and refreshed in the background.
//!
//! A query returns the cached list at once and starts a refresh if the list is old. Ignore
//! rules apply; `.git` is never listed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ignore::{WalkBuilder, WalkState};
use parking_lot::Mutex;

/// A list older than this is refreshed at the next query.
const MAX_AGE: Duration = Duration::from_secs(2);
/// The walk ends after this many entries, to limit memory.
const MAX_ENTRIES: usize = 400_000;

#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the root, separated by `/` on every system.
    pub path: Box<str>,
    pub is_directory: bool,
}

/// Sorted by depth, then by name.
pub type Entries = Arc<Vec<Entry>>;

#[derive(Clone)]
pub struct FileIndex {
    root: PathBuf,
    state: Arc<Mutex<State>>,
    /// Held during a walk: only one runs at a time.
    walking: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct State {
    entries: Option<Entries>,
    listed: Option<Instant>,
    refreshing: bool,
}

impl FileIndex {
    pub fn new(root: &Path) -> Self {
        FileIndex {
            root: root.to_owned(),
            state: Arc::default(),
            walking: Arc::default(),
        }
    }

    /// Waits only if there is no list yet.
    pub async fn entries(&self) -> Entries {
        let known = self.state.lock().entries.clone();
        match known {
            Some(entries) => {
                self.refresh_if_old();
                entries
            }
            None => self.first_list().await,
        }
    }

    async fn first_list(&self) -> Entries {
        let _walking = self.walking.lock().await;
        if let Some(entries) = self.state.lock().entries.clone() {
            return entries;
        }
        self.list().await
    }

    fn refresh_if_old(&self) {
        {
            let mut state = self.state.lock();
            let is_fresh = state.listed.is_some_and(|at| at.elapsed() < MAX_AGE);
            if is_fresh || state.refreshing {
                return;
            }
            state.refreshing = true;
        }
        let index = self.clone();
        tokio::spawn(async move {
            let _walking = index.walking.lock().await;
            index.list().await;
        });
    }

    async fn list(&self) -> Entries {
        let root = self.root.clone();
        let listed = tokio::task::spawn_blocking(move || walk(&root)).await;
        let entries = Arc::new(listed.unwrap_or_default());
        let mut state = self.state.lock();
        *state = State {
            entries: Some(entries.clone()),
            listed: Some(Instant::now()),
            refreshing: false,
        };
        entries
    }
}

pub fn walk(root: &Path) -> Vec<Entry> {
    let found = Mutex::new(Vec::new());
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .threads(std::thread::available_parallelism().map_or(1, |n| n.get().min(8)))
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build_parallel();
    walker.run(|| {
        let mut batch = Batch {
            found: &found,
            entries: Vec::new(),
        };
        Box::new(move |entry| {
            let Ok(entry) = entry else {
                return WalkState::Continue;
            };
            let relative = entry.path().strip_prefix(root).ok();
            if let Some(path) = relative.filter(|path| !path.as_os_str().is_empty()) {
                batch.entries.push(Entry {
                    path: with_slashes(path),
                    is_directory: entry.file_type().is_some_and(|kind| kind.is_dir()),
                });
            }
            batch.flush_if_full(1024)
        })
    });
    let mut entries = found.into_inner();
    entries.sort_by_cached_key(|entry| (entry.path.matches('/').count(), entry.path.clone()));
    entries
}

/// Entries of one walker thread, added to the result in batches to reduce lock contention.
struct Batch<'a> {
    found: &'a Mutex<Vec<Entry>>,
    entries: Vec<Entry>,
}

impl Batch<'_> {
    fn flush_if_full(&mut self, at: usize) -> WalkState {
        if self.entries.len() < at {
            return WalkState::Continue;
        }
        let mut found = self.found.lock();
        found.append(&mut self.entries);
        match found.len() < MAX_ENTRIES {
            true => WalkState::Continue,
            false => WalkState::Quit,
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.found.lock().append(&mut self.entries);
    }
}

fn with_slashes(path: &Path) -> Box<str> {
    let text = path.to_string_lossy();
    match cfg!(windows) {
        true => text.replace('\\', "/").into(),
        false => text.into(),
    }
}
