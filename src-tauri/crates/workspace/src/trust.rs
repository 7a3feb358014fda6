//! Whether a project's own files may act, and what they would do.
//!
//! Trust is given to a path and to a hash of everything there that could run or redirect
//! something. When any of it changes, the person is asked again. Without trust a project may
//! describe agents and commands and take permissions away; nothing else of it counts.

mod file;
mod wants;

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{TrustState, TrustWant};
use sha2::{Digest, Sha256};

use crate::config::{ConfigFile, Layer, McpServer, Origin, Sources, read_small};
pub use file::{TrustFile, Trusted};

/// What a project asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub wants: Vec<TrustWant>,
    pub hash: String,
    /// Files beyond config and definitions that the hash covers.
    pub watched: Vec<PathBuf>,
}

impl Request {
    /// `layers` are those of the project's files, as they stand.
    pub fn of(sources: &Sources, layers: &[(&ConfigFile, Layer)], worktree: &Path) -> Self {
        let watched = referred(layers, worktree);
        Request {
            wants: wants::of(sources, layers),
            hash: hash(sources, &watched),
            watched,
        }
    }

    pub fn state(&self, trusted: &Trusted) -> TrustState {
        match &trusted.hash {
            _ if self.wants.is_empty() => TrustState::Nothing,
            Some(hash) if *hash == self.hash => TrustState::Trusted,
            Some(_) => TrustState::Changed,
            None => TrustState::Untrusted,
        }
    }
}

/// What values are taken from, and what servers run.
fn referred(layers: &[(&ConfigFile, Layer)], worktree: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for (file, layer) in layers {
        let folder = file.path.parent().unwrap_or(worktree);
        let named = file.references("file");
        files.extend(named.iter().map(|name| folder.join(name)));
        let mut ignored = Vec::new();
        for server in McpServer::all(&layer.mcp, |_| String::new(), &mut ignored) {
            files.extend(server.project_files(worktree));
        }
    }
    files.sort();
    files.dedup();
    files
}

/// Lengths go in too, so that text cannot move from one file to the next unnoticed.
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
            add(&file.shown, file.text.as_bytes());
        }
    }
    for (name, text) in &sources.texts {
        add(name, text.as_bytes());
    }
    for path in watched {
        let text = read_small(path, None).unwrap_or_default();
        add(&path.display().to_string(), text.as_bytes());
    }
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
