//! Path lookups on disk for the analysis of shell commands.

use std::path::{Path, PathBuf};

use lathe_policy::shell::{Located, PathLookup};
use lathe_tools::paths;

/// At most this many entries of a directory are searched for links.
const MAX_ENTRIES: usize = 2_000;

/// Resolves paths relative to one project.
pub struct DiskPaths<'a> {
    pub root: &'a Path,
    pub home: Option<&'a Path>,
}

impl PathLookup for DiskPaths<'_> {
    fn locate(&self, written: &str, from: &Path) -> Option<Located> {
        let place = paths::resolve(written, from, self.root, self.home).ok()?;
        Some(Located {
            inside: place.is_inside(),
            exists: place.path().exists(),
            is_directory: place.path().is_dir(),
            path: place.path().to_owned(),
        })
    }

    fn links_in(&self, directory: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries
            .take(MAX_ENTRIES)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
            .map(|entry| entry.path())
            .collect()
    }
}
