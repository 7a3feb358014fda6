//! What the person decided about each project, in one small file of ours.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lathe_store::write_private_file;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trusted {
    /// Of what was trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Edits in this project need no question.
    pub edits: bool,
}

pub struct TrustFile {
    path: PathBuf,
    writing: Mutex<()>,
}

impl TrustFile {
    pub fn new(data_dir: &Path) -> Self {
        TrustFile {
            path: data_dir.join("trust.json"),
            writing: Mutex::default(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn of(&self, worktree: &Path) -> Trusted {
        self.read().remove(&key(worktree)).unwrap_or_default()
    }

    pub fn change(&self, worktree: &Path, edit: impl FnOnce(&mut Trusted)) -> io::Result<()> {
        let _writing = self.writing.lock();
        let mut all = self.read();
        let entry = all.entry(key(worktree)).or_default();
        edit(entry);
        if *entry == Trusted::default() {
            all.remove(&key(worktree));
        }
        write_private_file(&self.path, &serde_json::to_vec_pretty(&all)?)
    }

    /// A file that cannot be read trusts nobody.
    fn read(&self) -> BTreeMap<String, Trusted> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

/// One spelling for one folder.
fn key(worktree: &Path) -> String {
    let real = worktree.canonicalize();
    real.as_deref().unwrap_or(worktree).display().to_string()
}
