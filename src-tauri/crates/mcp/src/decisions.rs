//! The user's decisions about servers: which are on, and which tool descriptions they accepted.
//!
//! The model reads a description as an instruction. A description that changes later could say
//! anything, so its tool is offered again only after the user has accepted the new text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

pub type Fingerprint = String;

pub struct Decisions {
    file: PathBuf,
    /// Serializes changes. Each one starts by reading the file again, because another process
    /// may have written it.
    changing: Mutex<()>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Contents {
    #[serde(default)]
    servers: BTreeMap<String, ServerDecision>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct ServerDecision {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    /// Accepted tool descriptions by tool name; `None` until the server has listed its tools
    /// for the first time.
    #[serde(rename = "seen", default, skip_serializing_if = "Option::is_none")]
    accepted: Option<BTreeMap<String, Fingerprint>>,
}

impl Decisions {
    pub fn new(file: PathBuf) -> Self {
        Decisions {
            file,
            changing: Mutex::default(),
        }
    }

    pub fn enabled(&self, server: &str) -> Option<bool> {
        self.decision(server).enabled
    }

    pub fn set_enabled(&self, server: &str, on: bool) {
        self.change(server, |decision| decision.enabled = Some(on));
    }

    pub fn accepted(&self, server: &str) -> Option<BTreeMap<String, Fingerprint>> {
        self.decision(server).accepted
    }

    pub fn set_accepted(&self, server: &str, accepted: BTreeMap<String, Fingerprint>) {
        self.change(server, |decision| decision.accepted = Some(accepted));
    }

    fn decision(&self, server: &str) -> ServerDecision {
        let mut contents = read(&self.file);
        contents.servers.remove(server).unwrap_or_default()
    }

    fn change(&self, server: &str, change: impl FnOnce(&mut ServerDecision)) {
        let _guard = self.changing.lock();
        let mut contents = read(&self.file);
        change(contents.servers.entry(server.to_owned()).or_default());
        if let Err(error) = write(&self.file, &contents) {
            tracing::warn!(%error, "a decision about an MCP server could not be saved");
        }
    }
}

fn read(file: &Path) -> Contents {
    let Ok(text) = std::fs::read(file) else {
        return Contents::default();
    };
    serde_json::from_slice(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, "the decisions about MCP servers cannot be read");
        Contents::default()
    })
}

fn write(file: &Path, contents: &Contents) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    lathe_files::write_private_file(file, &serde_json::to_vec_pretty(contents)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_what_another_process_has_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        let (one, other) = (Decisions::new(file.clone()), Decisions::new(file));
        assert_eq!((one.enabled("a"), one.accepted("a")), (None, None));
        let accepted: BTreeMap<_, _> = [("t".to_owned(), "f".to_owned())].into();
        one.set_enabled("a", false);
        other.set_accepted("a", accepted.clone());
        other.set_enabled("b", true);
        assert_eq!(
            (one.enabled("a"), one.accepted("a")),
            (Some(false), Some(accepted))
        );
        assert_eq!((one.enabled("b"), one.accepted("b")), (Some(true), None));
    }

    #[test]
    fn a_damaged_file_counts_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, "{").unwrap();
        assert_eq!(Decisions::new(file).enabled("a"), None);
    }
}
