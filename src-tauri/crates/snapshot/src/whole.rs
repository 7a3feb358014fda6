//! Files of the side repository that are there whole or not at all.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

/// The content is there whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    write_whole_by(dir, path, bytes)
}

/// The same, where only `by` is looked through for what was left half written.
pub(crate) fn write_whole_by(by: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(dir)?;
    let mut temp = temporary(by)?;
    temp.write_all(bytes)?;
    temp.persist(path)?;
    Ok(())
}

/// Folders that hold what is the person's own, whatever lies around them.
pub(crate) fn create_private_dirs(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

pub(crate) const TEMPORARY: &str = ".tmp-";

pub(crate) fn temporary(dir: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(dir)
}

/// Removes temporary files that nobody writes any more.
pub(crate) fn sweep(dir: &Path) -> io::Result<()> {
    for name in entries(dir)? {
        if name.starts_with(TEMPORARY) {
            fs::remove_file(dir.join(name))?;
        }
    }
    Ok(())
}

/// The names in a folder, none if it is not there.
pub(crate) fn entries(dir: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
