//! The files in which people tell agents about a project: AGENTS.md and its kin.
//!
//! From the root down to where the session works, one of each folder; before them the
//! person's own, after them what config names. Read again only when a file has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use parking_lot::Mutex;

use crate::config::{Places, read_small};

/// The first of these that is there counts.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
/// Every request carries them: a manual does not belong here.
const MOST_BYTES: usize = 64 * 1024;
const MOST_IN_ALL: usize = 256 * 1024;
const MOST_FILES: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub path: String,
    pub text: Arc<str>,
}

/// A path or a pattern that config names, seen from `folder`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedInstructions {
    pub folder: PathBuf,
    pub pattern: String,
}

type Seen = (SystemTime, u64, Arc<str>);

/// What was read, for as long as it does not change.
#[derive(Clone, Default)]
pub struct Instructions {
    known: Arc<Mutex<HashMap<PathBuf, Seen>>>,
}

impl Instructions {
    pub async fn of(&self, places: Places, named: Vec<NamedInstructions>) -> Vec<Instruction> {
        let instructions = self.clone();
        let found = tokio::task::spawn_blocking(move || instructions.find(&places, &named));
        found.await.unwrap_or_default()
    }

    fn find(&self, places: &Places, named: &[NamedInstructions]) -> Vec<Instruction> {
        let mut paths = Vec::new();
        let global = places.global_folders().into_iter().rev();
        paths.extend(global.filter_map(|folder| first_of(&folder)).take(1));
        let folders = places.project_folders();
        paths.extend(folders.iter().filter_map(|folder| first_of(folder)));
        for one in named {
            paths.extend(one.files());
        }
        let mut room = MOST_IN_ALL;
        let mut found: Vec<Instruction> = Vec::new();
        for path in paths.into_iter().take(MOST_FILES) {
            // A link out of the project could put anything before the model.
            let within = Some(places.worktree.as_path()).filter(|root| path.starts_with(root));
            let shown = path.display().to_string();
            let Some(text) = self.read(&path, within) else {
                continue;
            };
            if text.trim().is_empty() || found.iter().any(|known| known.path == shown) {
                continue;
            }
            if text.len() > room {
                break;
            }
            room -= text.len();
            found.push(Instruction { path: shown, text });
        }
        found
    }

    fn read(&self, path: &Path, within: Option<&Path>) -> Option<Arc<str>> {
        let meta = path.metadata().ok()?;
        let stamp = (meta.modified().ok()?, meta.len());
        if let Some((modified, len, text)) = self.known.lock().get(path)
            && (*modified, *len) == stamp
        {
            return Some(text.clone());
        }
        let text: Arc<str> = match read_small(path, within) {
            Ok(text) => cut(text).into(),
            Err(why) => {
                tracing::info!(path = %path.display(), why, "instructions were left out");
                return None;
            }
        };
        let seen = (stamp.0, stamp.1, text.clone());
        self.known.lock().insert(path.to_owned(), seen);
        Some(text)
    }
}

fn first_of(folder: &Path) -> Option<PathBuf> {
    let mut paths = NAMES.iter().map(|name| folder.join(name));
    paths.find(|path| path.is_file())
}

fn cut(mut text: String) -> String {
    if text.len() > MOST_BYTES {
        let mut places = (0..=MOST_BYTES).rev();
        let end = places.find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push_str("\n\n(The rest of this file was left out: it is too long.)");
    }
    text
}

impl NamedInstructions {
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

/// The folders before the first that has something to match.
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
        .take(MOST_FILES)
        .collect();
    found.sort();
    found
}
