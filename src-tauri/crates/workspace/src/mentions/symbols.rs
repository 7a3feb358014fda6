//! An index of the functions and types of a project, built in the background.
//!
//! Only one thread reads, so that other work is not slowed down; a query returns what is
//! indexed by then. A file is read again only when it has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;
use tree_sitter::Parser;

use super::files::Entries;
use super::tags::{Grammar, Tag, grammar_of};

const MAX_AGE: Duration = Duration::from_secs(5);
/// Limits for the memory that the index of a large project takes.
const MAX_FILES: usize = 20_000;
const MAX_SYMBOLS: usize = 300_000;
/// Larger sources are usually generated or minified; their symbols are not useful.
const MAX_BYTES: u64 = 512 * 1024;
/// During the first pass, results are published after this many files.
const PUBLISH_EVERY: usize = 500;
/// How long the first query waits, so that a small project is complete.
const FIRST_WAIT: Duration = Duration::from_millis(300);

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
    files: HashMap<Arc<str>, IndexedFile>,
    is_indexing: bool,
    finished: Option<Instant>,
}

/// The symbols of one file, valid while its metadata stays the same.
#[derive(Clone)]
struct IndexedFile {
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
        let first = tokio::time::timeout(FIRST_WAIT, known.wait_for(Option::is_some)).await;
        drop(first);
        known.borrow().clone().unwrap_or_default()
    }

    fn refresh_if_old(&self, entries: Entries) {
        {
            let mut state = self.state.lock();
            let is_fresh = state.finished.is_some_and(|at| at.elapsed() < MAX_AGE);
            if is_fresh || state.is_indexing {
                return;
            }
            state.is_indexing = true;
        }
        let index = self.clone();
        tokio::task::spawn_blocking(move || index.index_all(&entries));
    }

    fn index_all(&self, entries: &Entries) {
        let before = std::mem::take(&mut self.state.lock().files);
        // Later passes publish only at the end; until then the previous symbols stay available.
        let is_first = self.known.borrow().is_none();
        let sources = entries.iter().filter(|entry| !entry.is_directory);
        let sources = sources.filter_map(|entry| Some((&entry.path, grammar_of(&entry.path)?)));
        let mut parser = Parser::new();
        let mut files = HashMap::new();
        let mut found = Vec::new();
        for (at, (path, grammar)) in sources.take(MAX_FILES).enumerate() {
            let path: Arc<str> = (&**path).into();
            let Some(read) = self.index_file(&path, grammar, before.get(&path), &mut parser) else {
                continue;
            };
            found.extend(read.tags.iter().map(|tag| Symbol {
                path: path.clone(),
                tag: tag.clone(),
            }));
            files.insert(path, read);
            if found.len() >= MAX_SYMBOLS {
                break;
            }
            if is_first && (at + 1) % PUBLISH_EVERY == 0 {
                self.known.send_replace(Some(Arc::new(found.clone())));
            }
        }
        self.known.send_replace(Some(Arc::new(found)));
        *self.state.lock() = State {
            files,
            is_indexing: false,
            finished: Some(Instant::now()),
        };
    }

    fn index_file(
        &self,
        path: &str,
        grammar: &Grammar,
        before: Option<&IndexedFile>,
        parser: &mut Parser,
    ) -> Option<IndexedFile> {
        let file = self.root.join(path);
        let meta = std::fs::symlink_metadata(&file).ok()?;
        let (modified, len) = (meta.modified().ok(), meta.len());
        if !meta.is_file() || len > MAX_BYTES {
            return None;
        }
        if let Some(before) = before.filter(|old| (old.modified, old.len) == (modified, len)) {
            return Some(before.clone());
        }
        let source = lathe_files::read_real(&file, MAX_BYTES).ok()?;
        let source = String::from_utf8(source).ok()?;
        let tags = grammar.tags(parser, &source).into();
        Some(IndexedFile {
            modified,
            len,
            tags,
        })
    }
}
