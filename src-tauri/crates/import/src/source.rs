//! Which program's sessions are at a path, and the import of all of them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::{Control, Report};
use crate::writer::Writer;
use crate::{claude, codex};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Codex,
    Claude,
}

impl Program {
    pub fn name(self) -> &'static str {
        match self {
            Program::Codex => "codex",
            Program::Claude => "claude",
        }
    }

    /// The number of sessions that a person began; subagents and forks are not counted.
    pub fn count(self, path: &Path) -> usize {
        match self {
            Program::Codex => codex::files(path).len(),
            Program::Claude => claude::files(path).len(),
        }
    }
}

/// The program whose folder or file this is.
pub fn find_at(path: &Path) -> Option<Program> {
    let name = path.file_name()?.to_string_lossy();
    if path.is_file() {
        let is_rollout = name.starts_with("rollout-")
            && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"));
        return match is_rollout {
            true => Some(Program::Codex),
            false => name.ends_with(".jsonl").then_some(Program::Claude),
        };
    }
    let is_codex = ["sessions", "archived_sessions"]
        .iter()
        .any(|folder| path.join(folder).is_dir());
    if is_codex && !codex::files(path).is_empty() {
        return Some(Program::Codex);
    }
    (!claude::files(path).is_empty()).then_some(Program::Claude)
}

/// Imports every session at a path. Only the writer's error ends it.
pub fn import<W: Writer>(
    program: Program,
    path: &Path,
    writer: &mut W,
    control: &Control,
) -> Result<Report, W::Error> {
    match program {
        Program::Codex => codex::import(path, writer, control),
        Program::Claude => claude::import(path, writer, control),
    }
}

/// The entries of a folder in the order of their names; none if it cannot be read. A link is not
/// followed: it could lead in a circle.
pub(crate) fn entries(folder: &Path) -> Vec<(PathBuf, bool)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let usable = kind.is_dir() || kind.is_file();
            usable.then(|| (entry.path(), kind.is_dir()))
        })
        .collect();
    found.sort();
    found
}
