//! The names in a folder of the side repository, and those that a killed writer left there.

use std::{fs, io, path::Path};

use lathe_files::TEMPORARY_PREFIX;

/// Removes temporary files of writers that were killed. The caller holds the lock, so no
/// other process is writing one.
pub(crate) fn remove_temporary_files(dir: &Path) -> io::Result<()> {
    for name in file_names(dir)? {
        if name.starts_with(TEMPORARY_PREFIX) {
            fs::remove_file(dir.join(name))?;
        }
    }
    Ok(())
}

/// The names in a folder; empty if the folder does not exist.
pub(crate) fn file_names(dir: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
