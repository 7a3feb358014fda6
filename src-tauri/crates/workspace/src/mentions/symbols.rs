//! The functions and types of a project, gathered in the background.
//!
//! One thread reads, so that the work beside it is not slowed down; whoever asks gets what
//! is known by then. A file is read again only when it has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;
use tree_sitter::Parser;

use super::files::Entries;
use super::tags::{Grammar, Tag, grammar_of};

const FRESH: Duration = Duration::from_secs(5);
/// Beyond these, a project is too large to know by heart.
const MOST_FILES: usize = 20_000;
const MOST_SYMBOLS: usize = 300_000;
/// Generated and packed sources have no symbols that anybody would name.
const MOST_BYTES: u64 = 512 * 1024;
/// The first of many files can be found before the last is read.
const PUBLISH_EVERY: usize = 500;
/// How long the very first question waits for small projects to be read.
const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub path: Arc<str>,
    pub tag: Tag,
}

pub type Symbols = Arc<Vec<Symbol>>;

#[derive(Clone)]
pub struct SymbolIndex {
    root: PathBuf,
    state: Arc<Mutex<State>>,
    known: watch::Sender<Option<Symbols>>,
}

#[derive(Default)]
struct State {
    files: HashMap<Arc<str>, Read>,
    is_reading: bool,
    finished: Option<Instant>,
}

/// A file as it was read.
#[derive(Clone)]
struct Read {
    modified: Option<SystemTime>,
    len: u64,
    tags: Arc<[Tag]>,
}

impl SymbolIndex {
    pub fn new(root: &Path) -> Self {
        SymbolIndex {
            root: root.to_owned(),
            state: Arc::default(),
            known: watch::Sender::new(None),
        }
    }

    pub async fn symbols(&self, entries: Entries) -> Symbols {
        self.refresh_if_old(entries);
        let mut known = self.known.subscribe();
        let first = tokio::time::timeout(PATIENCE, known.wait_for(Option::is_some)).await;
        drop(first);
        known.borrow().clone().unwrap_or_default()
    }

    fn refresh_if_old(&self, entries: Entries) {
        {
            let mut state = self.state.lock();
            let is_fresh = state.finished.is_some_and(|at| at.elapsed() < FRESH);
            if is_fresh || state.is_reading {
                return;
            }
            state.is_reading = true;
        }
        let index = self.clone();
        tokio::task::spawn_blocking(move || index.read_all(&entries));
    }

    fn read_all(&self, entries: &Entries) {
        let before = std::mem::take(&mut self.state.lock().files);
        // While files are read again, what was known stays known.
        let is_first = self.known.borrow().is_none();
        let sources = entries.iter().filter(|entry| !entry.is_directory);
        let sources = sources.filter_map(|entry| Some((&entry.path, grammar_of(&entry.path)?)));
        let mut parser = Parser::new();
        let mut files = HashMap::new();
        let mut found = Vec::new();
        for (at, (path, grammar)) in sources.take(MOST_FILES).enumerate() {
            let path: Arc<str> = (&**path).into();
            let Some(read) = self.read(&path, grammar, before.get(&path), &mut parser) else {
                continue;
            };
            found.extend(read.tags.iter().map(|tag| Symbol {
                path: path.clone(),
                tag: tag.clone(),
            }));
            files.insert(path, read);
            if found.len() >= MOST_SYMBOLS {
                break;
            }
            if is_first && (at + 1) % PUBLISH_EVERY == 0 {
                self.known.send_replace(Some(Arc::new(found.clone())));
            }
        }
        self.known.send_replace(Some(Arc::new(found)));
        *self.state.lock() = State {
            files,
            is_reading: false,
            finished: Some(Instant::now()),
        };
    }

    fn read(
        &self,
        path: &str,
        grammar: &Grammar,
        before: Option<&Read>,
        parser: &mut Parser,
    ) -> Option<Read> {
        let file = self.root.join(path);
        let meta = std::fs::symlink_metadata(&file).ok()?;
        let (modified, len) = (meta.modified().ok(), meta.len());
        if !meta.is_file() || len > MOST_BYTES {
            return None;
        }
        if let Some(before) = before.filter(|old| (old.modified, old.len) == (modified, len)) {
            return Some(before.clone());
        }
        let source = std::fs::read_to_string(file).ok()?;
        let tags = grammar.tags(parser, &source).into();
        Some(Read {
            modified,
            len,
            tags,
        })
    }
}
