//! Trust in a project's own config files, and in what its repository makes git run.
//!
//! Trust is given to a path and a hash of everything there that could run a program or redirect
//! requests. When any of it changes, the person is asked again. Without trust a project can
//! define agents and commands and remove permissions; the rest of its config is ignored.

mod file;
mod wants;

use std::io::Read;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{TrustState, TrustView, TrustWant};
use sha2::{Digest, Sha256};

use crate::config::{ConfigFile, Layer, McpServer, Origin, Sources};
use crate::git::Programs;
pub use file::{TrustEntry, TrustFile};

/// Everything in a project's config that needs trust.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustRequest {
    pub wants: Vec<TrustWant>,
    pub hash: String,
    /// Files covered by the hash besides config files and definitions.
    pub watched: Vec<PathBuf>,
}

/// Trust in a project's config and in what its repository makes git run, as one question. What is
/// trusted already is not asked about again.
pub fn combined(config: TrustView, git: Programs, entry: &TrustEntry) -> TrustView {
    let of_git = state(git.wants.is_empty(), &git.hash, entry.git.as_deref());
    let both = [(config.state, config.wants), (of_git, git.wants)];
    let states = [config.state, of_git];
    let is_open = |state| matches!(state, TrustState::Untrusted | TrustState::Changed);
    let any_open = states.into_iter().any(is_open);
    let wants = both
        .into_iter()
        .filter(|(state, _)| is_open(*state) || !any_open);
    TrustView {
        state: match states.contains(&TrustState::Trusted) {
            true if any_open => TrustState::Changed,
            true => TrustState::Trusted,
            false if states.contains(&TrustState::Changed) => TrustState::Changed,
            false if any_open => TrustState::Untrusted,
            false => TrustState::Nothing,
        },
        wants: wants.flat_map(|(_, wants)| wants).collect(),
        hash: format!("{}.{}", config.hash, git.hash),
    }
}

fn state(is_empty: bool, now: &str, trusted: Option<&str>) -> TrustState {
    match trusted {
        _ if is_empty => TrustState::Nothing,
        Some(hash) if hash == now => TrustState::Trusted,
        Some(_) => TrustState::Changed,
        None => TrustState::Untrusted,
    }
}

impl TrustRequest {
    /// `layers` are those of the project's files, before substitution.
    pub fn collect(sources: &Sources, layers: &[(&ConfigFile, Layer)], worktree: &Path) -> Self {
        let watched = referenced_files(layers, worktree);
        TrustRequest {
            wants: wants::collect(sources, layers),
            hash: hash(sources, &watched),
            watched,
        }
    }

    pub fn state(&self, entry: &TrustEntry) -> TrustState {
        state(self.wants.is_empty(), &self.hash, entry.hash.as_deref())
    }
}

/// Files that config takes values from, and files that servers run.
fn referenced_files(layers: &[(&ConfigFile, Layer)], worktree: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for (file, layer) in layers {
        let folder = file.path.parent().unwrap_or(worktree);
        let named = file.references("file");
        files.extend(named.iter().map(|name| folder.join(name)));
        let mut ignored = Vec::new();
        for server in McpServer::read_all(&layer.mcp, |_| String::new(), &mut ignored) {
            files.extend(server.project_files(worktree));
        }
    }
    files.sort();
    files.dedup();
    files
}

/// A hash of what a path leads to, of any size. What cannot be read has a value of its own, so that
/// the person is asked again once it can.
pub(crate) fn content_hash(path: &Path) -> Vec<u8> {
    let hashed = lathe_files::open(path).map_err(std::io::Error::from);
    let hashed = hashed.and_then(|(mut file, found)| {
        let mut digest = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        // It may grow while it is read.
        let mut rest = file.by_ref().take(found.len());
        loop {
            match rest.read(&mut buffer)? {
                0 => return Ok(digest.finalize().to_vec()),
                read => digest.update(&buffer[..read]),
            }
        }
    });
    hashed.unwrap_or_else(|error| format!("unreadable: {:?}", error.kind()).into_bytes())
}

/// Lengths are hashed too, so that moving text from one file to another changes the hash.
fn hash(sources: &Sources, watched: &[PathBuf]) -> String {
    let mut digest = Sha256::new();
    let mut add = |name: &str, text: &[u8]| {
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name.as_bytes());
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    for file in &sources.files {
        if file.origin == Origin::Project {
            add(&file.display_path, file.text.as_bytes());
        }
    }
    for (name, text) in &sources.texts {
        add(name, text.as_bytes());
    }
    for path in watched {
        add(&path.display().to_string(), &content_hash(path));
    }
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
