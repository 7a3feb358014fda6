//! Completions for a partly typed `@` mention: agents, files, folders and symbols, best first.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::Mention;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use parking_lot::Mutex;
use rayon::prelude::*;

use super::files::{Entry, FileIndex};
use super::symbols::{Symbol, SymbolIndex};
use super::tags::lsp_kind;
use crate::agents::{Agent, Mode};

/// Caches the file and symbol lists of each project; one instance for the whole program.
#[derive(Default)]
pub struct Finder {
    projects: Mutex<HashMap<PathBuf, (FileIndex, SymbolIndex)>>,
}

/// The projects whose lists stay in memory; of more, they are made again.
const MOST_PROJECTS: usize = 8;
/// Entries per parallel task: small enough to use all cores, large enough to outweigh the
/// overhead of a task.
const CHUNK: usize = 4096;
/// A single letter matches too many symbols to be useful.
const SHORTEST_SYMBOL: usize = 2;

impl Finder {
    pub async fn find(
        &self,
        root: &Path,
        agents: &[Agent],
        query: &str,
        limit: usize,
    ) -> Vec<Mention> {
        let (files, symbols) = self.indexes(root);
        let entries = files.entries().await;
        let wants_symbols = query.chars().count() >= SHORTEST_SYMBOL && !query.contains('/');
        let symbols = match wants_symbols {
            true => symbols.symbols(entries.clone()).await,
            false => Default::default(),
        };
        let mut found = agents_for(agents, query);
        let typed = query.to_owned();
        let room = limit.saturating_sub(found.len());
        let best = tokio::task::spawn_blocking(move || best(&entries, &symbols, &typed, room));
        found.extend(best.await.unwrap_or_default());
        found.truncate(limit);
        found
    }

    /// The functions and types whose names match, best first.
    pub async fn find_symbols(&self, root: &Path, query: &str, limit: usize) -> Vec<Mention> {
        if query.trim().is_empty() {
            return Vec::new();
        }
        let (files, symbols) = self.indexes(root);
        let symbols = symbols.symbols(files.entries().await).await;
        let typed = query.to_owned();
        let best = tokio::task::spawn_blocking(move || best(&[], &symbols, &typed, limit));
        best.await.unwrap_or_default()
    }

    fn indexes(&self, root: &Path) -> (FileIndex, SymbolIndex) {
        let mut projects = self.projects.lock();
        if projects.len() >= MOST_PROJECTS && !projects.contains_key(root) {
            projects.clear();
        }
        let new = || (FileIndex::new(root), SymbolIndex::new(root));
        projects.entry(root.to_owned()).or_insert_with(new).clone()
    }
}

fn agents_for(agents: &[Agent], query: &str) -> Vec<Mention> {
    let callable = |agent: &&Agent| matches!(agent.mode, Mode::Subagent | Mode::All);
    let typed = query.to_lowercase();
    let agents = agents.iter().filter(callable);
    agents
        .filter(|agent| agent.name.to_lowercase().starts_with(&typed))
        .map(|agent| Mention::Agent {
            name: agent.name.clone(),
            description: agent.description.clone(),
        })
        .collect()
}

/// The best matches in lists that were already read.
pub fn best(entries: &[Entry], symbols: &[Symbol], query: &str, limit: usize) -> Vec<Mention> {
    // Entries are sorted by depth, so an empty query shows those nearest to the root.
    if query.trim().is_empty() {
        return entries.iter().take(limit).map(file_mention).collect();
    }
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let paths = |entry: &Entry| entry.path.len();
    let files = top(entries, &pattern, limit, |entry| &entry.path, paths);
    let places = |symbol: &Symbol| symbol.path.len();
    let symbols_found = top(symbols, &pattern, limit, |symbol| &symbol.tag.name, places);
    let files = files
        .into_iter()
        .map(|(score, at)| (score, file_mention(&entries[at])));
    let named = symbols_found.into_iter();
    let named = named.map(|(score, at)| (score, symbol_mention(&symbols[at])));
    let mut all: Vec<_> = files.chain(named).collect();
    // The sort is stable: with equal scores, files come before symbols.
    all.sort_by_key(|(score, _)| Reverse(*score));
    all.truncate(limit);
    all.into_iter().map(|(_, mention)| mention).collect()
}

/// The best by score; with equal scores the shorter one, then the one listed first.
fn top<T: Sync>(
    items: &[T],
    pattern: &Pattern,
    limit: usize,
    text: impl Fn(&T) -> &str + Sync,
    length: impl Fn(&T) -> usize,
) -> Vec<(u32, usize)> {
    let chunks = items.par_chunks(CHUNK).enumerate();
    let mut scored: Vec<(u32, usize)> = chunks
        .flat_map_iter(|(chunk, items)| {
            let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
            let mut letters = Vec::new();
            let mut kept = Vec::new();
            for (at, item) in items.iter().enumerate() {
                let text = Utf32Str::new(text(item), &mut letters);
                if let Some(score) = pattern.score(text, &mut matcher) {
                    kept.push((score, chunk * CHUNK + at));
                }
            }
            kept
        })
        .collect();
    let key = |(score, at): &(u32, usize)| (Reverse(*score), length(&items[*at]), *at);
    if scored.len() > limit {
        scored.select_nth_unstable_by_key(limit, key);
        scored.truncate(limit);
    }
    scored.sort_unstable_by_key(key);
    scored
}

fn file_mention(entry: &Entry) -> Mention {
    let path = entry.path.to_string();
    match entry.is_directory {
        true => Mention::Directory { path },
        false => Mention::File { path },
    }
}

fn symbol_mention(symbol: &Symbol) -> Mention {
    let Symbol { path, tag } = symbol;
    Mention::Symbol {
        name: tag.name.to_string(),
        symbol_kind: tag.kind,
        lsp_kind: lsp_kind(tag.kind).into(),
        path: path.to_string(),
        line: i64::from(tag.line).into(),
        end_line: i64::from(tag.end_line).into(),
    }
}
