//! The file system as the analysis of shell commands asks for it.

use std::path::{Path, PathBuf};

use lathe_policy::shell::{Located, PathLookup};
use lathe_tools::paths;

/// More names than this in one directory are not searched for links.
const MOST_ENTRIES: usize = 2_000;

/// Looks paths up on disk, for work in one project.
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
            .take(MOST_ENTRIES)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
            .map(|entry| entry.path())
            .collect()
    }
}
