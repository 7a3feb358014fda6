//! The names of a project's files and folders, listed once and kept fresh beside the work.
//!
//! Whoever asks gets what is known at once; a list that may be old is made anew in the
//! background. Ignore rules hold; `.git` is never listed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ignore::{WalkBuilder, WalkState};
use parking_lot::Mutex;

/// A list older than this is made again when somebody asks.
const FRESH: Duration = Duration::from_secs(2);
/// More than this nobody finds anything in.
const MOST: usize = 400_000;

#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the root, with `/`.
    pub path: Box<str>,
    pub is_directory: bool,
}

/// Those nearest the top first, then by name.
pub type Entries = Arc<Vec<Entry>>;

#[derive(Clone)]
pub struct FileIndex {
    root: PathBuf,
    state: Arc<Mutex<State>>,
    /// One walk at a time.
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

    /// Waits only for the very first list.
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
            let is_fresh = state.listed.is_some_and(|at| at.elapsed() < FRESH);
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
                    path: slashed(path),
                    is_directory: entry.file_type().is_some_and(|kind| kind.is_dir()),
                });
            }
            batch.hand_over(1024)
        })
    });
    let mut entries = found.into_inner();
    entries.sort_by_cached_key(|entry| (entry.path.matches('/').count(), entry.path.clone()));
    entries
}

/// Threads hand over many entries at a time, so that they do not wait for each other.
struct Batch<'a> {
    found: &'a Mutex<Vec<Entry>>,
    entries: Vec<Entry>,
}

impl Batch<'_> {
    fn hand_over(&mut self, at: usize) -> WalkState {
        if self.entries.len() < at {
            return WalkState::Continue;
        }
        let mut found = self.found.lock();
        found.append(&mut self.entries);
        match found.len() < MOST {
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

fn slashed(path: &Path) -> Box<str> {
    let text = path.to_string_lossy();
    match cfg!(windows) {
        true => text.replace('\\', "/").into(),
        false => text.into(),
    }
}
