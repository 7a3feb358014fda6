//! The file with the person's trust decision for each project.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lathe_files::write_private_file;
use lathe_protocol::PermissionMode;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustEntry {
    /// The hash of the files that were trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The hash of what the person lets the repository of this checkout run with git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// Edits in this project are allowed without asking.
    pub edits: bool,
    /// How much happens in this project without a question.
    pub mode: PermissionMode,
}

pub struct TrustFile {
    path: PathBuf,
    write_lock: Mutex<()>,
}

impl TrustFile {
    pub fn new(data_dir: &Path) -> Self {
        TrustFile {
            path: data_dir.join("trust.json"),
            write_lock: Mutex::default(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn get(&self, worktree: &Path) -> TrustEntry {
        self.read().remove(&key(worktree)).unwrap_or_default()
    }

    pub fn change(&self, worktree: &Path, edit: impl FnOnce(&mut TrustEntry)) -> io::Result<()> {
        let _guard = self.write_lock.lock();
        let mut all = self.read();
        let entry = all.entry(key(worktree)).or_default();
        edit(entry);
        if *entry == TrustEntry::default() {
            all.remove(&key(worktree));
        }
        write_private_file(&self.path, &serde_json::to_vec_pretty(&all)?)
    }

    /// If the file cannot be read, no project is trusted.
    fn read(&self) -> BTreeMap<String, TrustEntry> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

/// The canonical path, so that every spelling of a folder has the same key.
fn key(worktree: &Path) -> String {
    let real = worktree.canonicalize();
    real.as_deref().unwrap_or(worktree).display().to_string()
}
