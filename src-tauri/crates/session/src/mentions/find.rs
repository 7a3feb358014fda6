//! What `@` offers for what was typed so far: agents, files, folders and symbols, best first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::Mention;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use parking_lot::Mutex;
use rayon::prelude::*;

use super::files::{Entry, FileIndex};
use crate::agents::{Agent, Mode};

/// One per program; remembers the lists of the projects it was asked about.
#[derive(Default)]
pub struct Finder {
    files: Mutex<HashMap<PathBuf, FileIndex>>,
}

/// Small enough that all cores get something, large enough to be worth handing out.
const CHUNK: usize = 4096;

impl Finder {
    pub async fn find(
        &self,
        root: &Path,
        agents: &[Agent],
        query: &str,
        limit: usize,
    ) -> Vec<Mention> {
        let index = self
            .files
            .lock()
            .entry(root.to_owned())
            .or_insert_with(|| FileIndex::new(root))
            .clone();
        let entries = index.entries().await;
        let mut found = agents_for(agents, query);
        let typed = query.to_owned();
        let room = limit.saturating_sub(found.len());
        let files = tokio::task::spawn_blocking(move || best(&entries, &typed, room)).await;
        found.extend(files.unwrap_or_default());
        found.truncate(limit);
        found
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

/// Public to the bench: pure, over a list that is there.
pub fn best(entries: &[Entry], query: &str, limit: usize) -> Vec<Mention> {
    // An empty query shows what lies nearest the top, which the list begins with.
    if query.trim().is_empty() {
        return entries.iter().take(limit).map(mention).collect();
    }
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let chunks = entries.par_chunks(CHUNK).enumerate();
    let mut scored: Vec<(u32, usize)> = chunks
        .flat_map_iter(|(chunk, entries)| {
            let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
            let mut letters = Vec::new();
            let mut kept = Vec::new();
            for (at, entry) in entries.iter().enumerate() {
                let path = Utf32Str::new(&entry.path, &mut letters);
                if let Some(score) = pattern.score(path, &mut matcher) {
                    kept.push((score, chunk * CHUNK + at));
                }
            }
            kept
        })
        .collect();
    // Among equals the shorter path, then the one listed first.
    let key =
        |(score, at): &(u32, usize)| (std::cmp::Reverse(*score), entries[*at].path.len(), *at);
    if scored.len() > limit {
        scored.select_nth_unstable_by_key(limit, key);
        scored.truncate(limit);
    }
    scored.sort_unstable_by_key(key);
    scored
        .iter()
        .map(|(_, at)| mention(&entries[*at]))
        .collect()
}

fn mention(entry: &Entry) -> Mention {
    let path = entry.path.to_string();
    match entry.is_directory {
        true => Mention::Directory { path },
        false => Mention::File { path },
    }
}
