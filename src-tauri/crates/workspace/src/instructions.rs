//! Instruction files for agents: `AGENTS.md` and its alternatives.
//!
//! First the person's own file, then one per folder from the worktree's root down to the
//! session's directory, then those that config names. A file is read again only when it has
//! changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use parking_lot::Mutex;

use crate::config::{ConfigLocations, read_small};

/// In each folder only the first of these that exists is used.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
/// Instructions are part of every request, so their size is limited.
const MAX_BYTES: usize = 64 * 1024;
const MAX_TOTAL_BYTES: usize = 256 * 1024;
const MAX_FILES: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub path: String,
    pub text: Arc<str>,
}

/// A path or glob pattern from config, relative to `folder`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionPattern {
    pub folder: PathBuf,
    pub pattern: String,
}

type CachedText = (SystemTime, u64, Arc<str>);

/// Reads instruction files and caches their texts.
#[derive(Clone, Default)]
pub struct Instructions {
    cache: Arc<Mutex<HashMap<PathBuf, CachedText>>>,
}

impl Instructions {
    pub async fn load(
        &self,
        locations: ConfigLocations,
        named: Vec<InstructionPattern>,
    ) -> Vec<Instruction> {
        let instructions = self.clone();
        let found = tokio::task::spawn_blocking(move || instructions.find(&locations, &named));
        found.await.unwrap_or_default()
    }

    fn find(&self, locations: &ConfigLocations, named: &[InstructionPattern]) -> Vec<Instruction> {
        let mut paths = Vec::new();
        let global = locations.global_folders().into_iter().rev();
        paths.extend(global.filter_map(|folder| first_existing(&folder)).take(1));
        let folders = locations.project_folders();
        paths.extend(folders.iter().filter_map(|folder| first_existing(folder)));
        for one in named {
            paths.extend(one.files());
        }
        let mut room = MAX_TOTAL_BYTES;
        let mut found: Vec<Instruction> = Vec::new();
        for path in paths.into_iter().take(MAX_FILES) {
            // A link out of the project could expose any file to the model.
            let within = Some(locations.worktree.as_path()).filter(|root| path.starts_with(root));
            let display_path = path.display().to_string();
            let Some(text) = self.read(&path, within) else {
                continue;
            };
            if text.trim().is_empty() || found.iter().any(|known| known.path == display_path) {
                continue;
            }
            if text.len() > room {
                break;
            }
            room -= text.len();
            found.push(Instruction {
                path: display_path,
                text,
            });
        }
        found
    }

    fn read(&self, path: &Path, within: Option<&Path>) -> Option<Arc<str>> {
        let meta = path.metadata().ok()?;
        let metadata = (meta.modified().ok()?, meta.len());
        if let Some((modified, len, text)) = self.cache.lock().get(path)
            && (*modified, *len) == metadata
        {
            return Some(text.clone());
        }
        let text: Arc<str> = match read_small(path, within) {
            Ok(text) => truncate(text).into(),
            Err(why) => {
                tracing::info!(path = %path.display(), why, "instructions were left out");
                return None;
            }
        };
        let entry = (metadata.0, metadata.1, text.clone());
        self.cache.lock().insert(path.to_owned(), entry);
        Some(text)
    }
}

fn first_existing(folder: &Path) -> Option<PathBuf> {
    let mut paths = NAMES.iter().map(|name| folder.join(name));
    paths.find(|path| path.is_file())
}

fn truncate(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let mut ends = (0..=MAX_BYTES).rev();
        let end = ends.find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push_str("\n\n(The rest of this file was left out: it is too long.)");
    }
    text
}

impl InstructionPattern {
    fn files(&self) -> Vec<PathBuf> {
        let pattern = match self.pattern.strip_prefix("~/") {
            Some(rest) => match directories::BaseDirs::new() {
                Some(dirs) => dirs.home_dir().join(rest),
                None => return Vec::new(),
            },
            None => self.folder.join(&self.pattern),
        };
        let text = pattern.display().to_string();
        if !text.contains(['*', '?', '[', '{']) {
            return vec![pattern];
        }
        let glob = GlobBuilder::new(&text).literal_separator(true).build();
        glob.map(|glob| walk(&fixed_part(&pattern), &glob.compile_matcher()))
            .unwrap_or_default()
    }
}

/// The leading components of a pattern that contain no wildcard.
fn fixed_part(pattern: &Path) -> PathBuf {
    let is_fixed = |part: &std::path::Component<'_>| {
        !part
            .as_os_str()
            .to_string_lossy()
            .contains(['*', '?', '[', '{'])
    };
    pattern.components().take_while(is_fixed).collect()
}

fn walk(folder: &Path, wanted: &GlobMatcher) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .require_git(false)
        .build();
    let files = walk.flatten().map(|entry| entry.into_path());
    let mut found: Vec<_> = files
        .filter(|path| wanted.is_match(path) && path.is_file())
        .take(MAX_FILES)
        .collect();
    found.sort();
    found
}
