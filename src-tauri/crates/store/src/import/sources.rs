//! Finds what can be imported.

use std::path::{Path, PathBuf};

use lathe_import::Program;

use super::staging::Staging;
use super::{Source, database, tree};
use crate::error::{IoContext, Result, optional};
use crate::locks::SessionWriter;
use crate::storage::Storage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A data directory with `storage/` in it.
    Json,
    Sqlite,
    Exported,
    /// The folder or a file of Codex.
    Codex,
    /// The folder or a file of Claude Code.
    Claude,
}

/// The program that wrote the sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFrom {
    OpenCode,
    Codex,
    Claude,
}

impl SourceKind {
    pub(super) fn foreign(self) -> Option<Program> {
        match self {
            SourceKind::Codex => Some(Program::Codex),
            SourceKind::Claude => Some(Program::Claude),
            SourceKind::Json | SourceKind::Sqlite | SourceKind::Exported => None,
        }
    }

    pub(super) fn program(self) -> ImportFrom {
        match self {
            SourceKind::Codex => ImportFrom::Codex,
            SourceKind::Claude => ImportFrom::Claude,
            SourceKind::Json | SourceKind::Sqlite | SourceKind::Exported => ImportFrom::OpenCode,
        }
    }

    fn of(program: Program) -> Self {
        match program {
            Program::Codex => SourceKind::Codex,
            Program::Claude => SourceKind::Claude,
        }
    }
}

/// A source that can be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSource {
    pub path: PathBuf,
    pub kind: SourceKind,
    pub sessions: usize,
}

/// Where the programs store their data. OpenCode follows the XDG convention on every platform.
pub fn default_import_paths() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let named = std::env::var_os("XDG_DATA_HOME").filter(|dir| !dir.is_empty());
    let data = named
        .map(PathBuf::from)
        .or_else(|| Some(home.as_ref()?.join(".local").join("share")));
    let mut paths: Vec<_> = data.into_iter().map(|data| data.join("opencode")).collect();
    paths.extend(home.as_ref().map(|home| home.join(".opencode")));
    for (variable, folder) in [("CODEX_HOME", ".codex"), ("CLAUDE_CONFIG_DIR", ".claude")] {
        let named = std::env::var_os(variable).filter(|dir| !dir.is_empty());
        let named = named.map(PathBuf::from);
        paths.extend(named.or_else(|| Some(home.as_ref()?.join(folder))));
    }
    paths
}

/// The sources at a path, the newer format first: a program that moved its data to a database left
/// the old files where they were.
pub(super) fn find_at(path: &Path) -> Result<Vec<(SourceKind, PathBuf)>> {
    // Only the absolute path has a name for the parent of `.`.
    let absolute = optional(dunce::canonicalize(path)).doing("looking at", path)?;
    let Some(path) = &absolute else {
        return Ok(Vec::new());
    };
    if let Some(program) = lathe_import::find_at(path) {
        return Ok(vec![(SourceKind::of(program), path.to_owned())]);
    }
    if path.is_file() {
        let kind = match database::is_database(path)? {
            true => SourceKind::Sqlite,
            false => SourceKind::Exported,
        };
        return Ok(vec![(kind, path.to_owned())]);
    }
    let mut sources: Vec<_> = databases_in(path)?
        .into_iter()
        .map(|file| (SourceKind::Sqlite, file))
        .collect();
    let is_storage = path.file_name().is_some_and(|name| name == "storage");
    if tree::is_tree(path) {
        sources.push((SourceKind::Json, path.to_owned()));
    } else if is_storage && let Some(parent) = path.parent().filter(|parent| tree::is_tree(parent))
    {
        sources.push((SourceKind::Json, parent.to_owned()));
    }
    Ok(sources)
}

/// Builds of other release channels have databases with other names.
fn databases_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).doing("listing", folder)? {
        let entry = entry.doing("listing", folder)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("opencode") && name.ends_with(".db") && entry.path().is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

impl Storage {
    /// Paths without sessions, or that cannot be read, are left out.
    pub(super) fn find_sources(&self, paths: &[PathBuf]) -> Vec<FoundSource> {
        let lock = self.dirs.locks.join("import");
        let Ok(_lock) = SessionWriter::acquire(&lock, "the import".to_owned(), "import") else {
            return Vec::new();
        };
        let sources = paths
            .iter()
            .flat_map(|path| find_at(path).unwrap_or_default());
        let found = sources.filter_map(|(kind, path)| {
            let sessions = self.count_sessions(kind, &path).ok()?;
            Some(FoundSource {
                path,
                kind,
                sessions,
            })
        });
        found.filter(|found| found.sessions > 0).collect()
    }

    fn count_sessions(&self, kind: SourceKind, path: &Path) -> Result<usize> {
        let staging = Staging::start(&self.dirs.root)?;
        match kind {
            SourceKind::Json => tree::count_sessions(path),
            SourceKind::Sqlite => {
                let mut database = database::Database::open(path, &staging)?;
                Ok(database.list_sessions(&mut Vec::new())?.len() + database.count_newer()?)
            }
            SourceKind::Exported => Ok(1),
            SourceKind::Codex => Ok(Program::Codex.count(path)),
            SourceKind::Claude => Ok(Program::Claude.count(path)),
        }
    }
}
