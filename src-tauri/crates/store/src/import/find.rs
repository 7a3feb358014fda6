//! What lies at a path, and where to look for it.

use std::path::{Path, PathBuf};

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
}

/// Something that could be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    pub kind: SourceKind,
    pub sessions: usize,
}

/// Where OpenCode keeps its data. It follows the XDG convention on every platform.
pub fn usual_places() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let named = std::env::var_os("XDG_DATA_HOME").filter(|dir| !dir.is_empty());
    let data = named
        .map(PathBuf::from)
        .or_else(|| Some(home.as_ref()?.join(".local").join("share")));
    let mut places: Vec<_> = data.into_iter().map(|data| data.join("opencode")).collect();
    places.extend(home.map(|home| home.join(".opencode")));
    places
}

/// The sources at a path. The newer form comes first: a program that moved its data to a
/// database leaves the old files behind.
pub(super) fn sources_at(path: &Path) -> Result<Vec<(SourceKind, PathBuf)>> {
    // The folder around `.` has a name only in the whole path.
    let whole = optional(dunce::canonicalize(path)).doing("looking at", path)?;
    let Some(path) = &whole else {
        return Ok(Vec::new());
    };
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
    let named_storage = path.file_name().is_some_and(|name| name == "storage");
    if tree::is_tree(path) {
        sources.push((SourceKind::Json, path.to_owned()));
    } else if named_storage && let Some(above) = path.parent().filter(|above| tree::is_tree(above))
    {
        sources.push((SourceKind::Json, above.to_owned()));
    }
    Ok(sources)
}

/// A build of another channel has a database of its own name.
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
    /// Places that hold nothing, or cannot be looked at, are not worth a word.
    pub(super) fn find_sources(&self, places: &[PathBuf]) -> Vec<Found> {
        let lock = self.places.locks.join("import");
        let Ok(_alone) = SessionWriter::acquire(&lock, "the import".to_owned()) else {
            return Vec::new();
        };
        let sources = places
            .iter()
            .flat_map(|place| sources_at(place).unwrap_or_default());
        let found = sources.filter_map(|(kind, path)| {
            let sessions = self.count(kind, &path).ok()?;
            Some(Found {
                path,
                kind,
                sessions,
            })
        });
        found.filter(|found| found.sessions > 0).collect()
    }

    fn count(&self, kind: SourceKind, path: &Path) -> Result<usize> {
        let staging = Staging::begin(&self.places.root)?;
        match kind {
            SourceKind::Json => tree::count(path),
            SourceKind::Sqlite => {
                let mut database = database::Database::open(path, &staging)?;
                Ok(database.sessions(&mut Vec::new())?.len())
            }
            SourceKind::Exported => Ok(1),
        }
    }
}
