//! What the person decided about servers: on or off, and which descriptions they have seen.
//!
//! A description is read by the model as an instruction. One that changes after it was seen
//! could say anything, so it counts again only when the person has looked.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

pub type Fingerprint = String;

pub struct Memory {
    file: PathBuf,
    /// One change at a time; each begins with what is on disk, where another process may have
    /// written too.
    changing: Mutex<()>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Notes {
    #[serde(default)]
    servers: BTreeMap<String, Note>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    /// Nothing until the server was met for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<BTreeMap<String, Fingerprint>>,
}

impl Memory {
    pub fn new(file: PathBuf) -> Self {
        Memory {
            file,
            changing: Mutex::default(),
        }
    }

    pub fn enabled(&self, server: &str) -> Option<bool> {
        self.note(server).enabled
    }

    pub fn set_enabled(&self, server: &str, on: bool) {
        self.change(server, |note| note.enabled = Some(on));
    }

    pub fn seen(&self, server: &str) -> Option<BTreeMap<String, Fingerprint>> {
        self.note(server).seen
    }

    pub fn set_seen(&self, server: &str, seen: BTreeMap<String, Fingerprint>) {
        self.change(server, |note| note.seen = Some(seen));
    }

    fn note(&self, server: &str) -> Note {
        let mut notes = read(&self.file);
        notes.servers.remove(server).unwrap_or_default()
    }

    fn change(&self, server: &str, change: impl FnOnce(&mut Note)) {
        let _one = self.changing.lock();
        let mut notes = read(&self.file);
        change(notes.servers.entry(server.to_owned()).or_default());
        if let Err(error) = write(&self.file, &notes) {
            tracing::warn!(%error, "a decision about an MCP server could not be kept");
        }
    }
}

fn read(file: &Path) -> Notes {
    let Ok(text) = std::fs::read(file) else {
        return Notes::default();
    };
    serde_json::from_slice(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, "what was decided about MCP servers cannot be read");
        Notes::default()
    })
}

/// Whole or not at all, and for this person only (which is how temporary files are made).
fn write(file: &Path, notes: &Notes) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut new = tempfile::Builder::new()
        .prefix(".mcp-")
        .tempfile_in(folder)?;
    new.write_all(&serde_json::to_vec_pretty(notes)?)?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_kept_and_those_of_another_process_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        let (one, other) = (Memory::new(file.clone()), Memory::new(file));
        assert_eq!((one.enabled("a"), one.seen("a")), (None, None));
        let seen: BTreeMap<_, _> = [("t".to_owned(), "f".to_owned())].into();
        one.set_enabled("a", false);
        other.set_seen("a", seen.clone());
        other.set_enabled("b", true);
        assert_eq!((one.enabled("a"), one.seen("a")), (Some(false), Some(seen)));
        assert_eq!((one.enabled("b"), one.seen("b")), (Some(true), None));
    }

    #[test]
    fn a_damaged_file_is_no_decision() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, "{").unwrap();
        assert_eq!(Memory::new(file).enabled("a"), None);
    }
}
