//! Atomic writes: a file of the side repository is either complete or absent.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

/// Writes a temporary file in the same folder and renames it to `path`.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    write_atomic_via(dir, path, bytes)
}

/// The same with the temporary file in `temporary_dir`, for when only that folder is cleaned of
/// temporary files.
pub(crate) fn write_atomic_via(temporary_dir: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(dir)?;
    let mut temp = temporary_file(temporary_dir)?;
    temp.write_all(bytes)?;
    temp.persist(path)?;
    Ok(())
}

/// Creates folders that only the user may read.
pub(crate) fn create_private_dirs(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

pub(crate) const TEMPORARY_PREFIX: &str = ".tmp-";

pub(crate) fn temporary_file(dir: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .tempfile_in(dir)
}

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
