//! Replacing a file so that a reader, or a start after a crash, finds the old content or the new
//! one and never a mix of both.

use std::io;
use std::path::Path;

use crate::error::{IoContext, Result, StoreError};
use crate::fs::{Disk, Fs};

/// What is synced when a file is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    Nothing,
    /// The new bytes. After a power cut the name may still lead to the old file.
    Bytes,
    /// The new bytes and the name.
    BytesAndName,
}

/// Moves a finished temp file over `path`, which lies in the same folder.
pub(crate) fn replace(fs: &dyn Fs, temp: &Path, path: &Path, sync: Sync) -> Result<()> {
    if sync != Sync::Nothing {
        fs.sync_file(temp).doing("syncing", temp)?;
    }
    fs.rename(temp, path).doing("replacing", path)?;
    if sync == Sync::BytesAndName {
        let folder = folder_of(path);
        fs.sync_dir(folder).doing("syncing", folder)?;
    }
    Ok(())
}

/// Atomically replaces a file outside of the record tree, readable only by its owner. Its folder
/// must exist.
pub fn write_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temp = folder_of(path).join(format!(".{:016x}.tmp", random()));
    let written = Disk
        .create(&temp, bytes)
        .doing("writing", &temp)
        .and_then(|_| replace(&Disk, &temp, path, Sync::Bytes));
    written.map_err(|error| {
        if let Err(error) = Disk.remove_file(&temp) {
            tracing::debug!(%error, "a temp file could not be removed");
        }
        match error {
            StoreError::Io { source, .. } => io::Error::new(source.kind(), source),
            other => io::Error::other(other),
        }
    })
}

/// The folder that a file lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// A number that another process is not using in its temp file names.
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    if getrandom::fill(&mut bytes).is_err() {
        bytes = u64::from(std::process::id()).to_le_bytes();
    }
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_replaced_and_no_temp_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.json");
        for text in ["first", "second"] {
            write_private_file(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.json");
        write_private_file(&path, b"mine").unwrap();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_file_and_keeps_the_kind_of_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        std::fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(write_private_file(&taken, b"new").is_err());
        assert!(taken.join("inside").is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let missing = folder.path().join("nowhere").join("notes.json");
        let refused = write_private_file(&missing, b"new").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
    }
}
