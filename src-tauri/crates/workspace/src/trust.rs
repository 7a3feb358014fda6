//! Trust in a project's own config files.
//!
//! Trust is given to a path and a hash of everything there that could run a program or redirect
//! requests. When any of it changes, the person is asked again. Without trust a project can
//! define agents and commands and remove permissions; the rest of its config is ignored.

mod file;
mod wants;

use std::io::Read;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{TrustState, TrustWant};
use sha2::{Digest, Sha256};

use crate::config::{ConfigFile, Layer, McpServer, Origin, Sources};
pub use file::{TrustEntry, TrustFile};

/// Everything in a project's config that needs trust.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustRequest {
    pub wants: Vec<TrustWant>,
    pub hash: String,
    /// Files covered by the hash besides config files and definitions.
    pub watched: Vec<PathBuf>,
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
        match &entry.hash {
            _ if self.wants.is_empty() => TrustState::Nothing,
            Some(hash) if *hash == self.hash => TrustState::Trusted,
            Some(_) => TrustState::Changed,
            None => TrustState::Untrusted,
        }
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
fn content_hash(path: &Path) -> Vec<u8> {
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
