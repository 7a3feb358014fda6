//! Opens and replaces exactly the files that a [`Place`] names.
//!
//! A place contains no symlinks, so no component of its path may be one: if a component is
//! replaced with a link between the check and the use, the result is an error, never another file.

#[cfg(unix)]
#[path = "files/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "files/windows.rs"]
mod system;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::context::ContentHash;
use crate::paths::Place;

/// More than any tool reads of a file that it then changes.
const MAX_CHECKED: u64 = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("the file does not exist")]
    Missing,
    #[error("it is a directory")]
    Directory,
    #[error("it is not a regular file")]
    Special,
    #[error("the path was changed to lead elsewhere while it was used")]
    Swapped,
    #[error("the file was changed by someone else in the meantime")]
    Changed,
    #[error("the file is larger than {0} bytes")]
    TooLarge(u64),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// What must be on disk at the time of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Absent,
    Content(ContentHash),
}

/// Opens a regular file for reading.
pub fn open(place: &Place) -> Result<File, FileError> {
    open_path(place.path()).map(|(file, _)| file)
}

/// For walks, whose paths are below an opened place and contain no links either.
pub(crate) fn open_path(path: &Path) -> Result<(File, Metadata), FileError> {
    let file = system::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(FileError::Directory);
    }
    if !meta.is_file() {
        return Err(FileError::Special);
    }
    Ok((file, meta))
}

/// Opens a directory for lookups, without following links.
#[cfg(unix)]
pub(crate) fn open_directory(path: &Path) -> Result<File, FileError> {
    system::open_directory(path)
}

/// Whether the place is a directory, without following links.
pub fn is_directory(place: &Place) -> bool {
    system::is_directory(place.path())
}

/// The whole content, if it is not more than `max` bytes.
pub fn read(place: &Place, max: u64) -> Result<Vec<u8>, FileError> {
    let file = open(place)?;
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(FileError::TooLarge(max));
    }
    Ok(bytes)
}

/// Replaces the file atomically: readers and a crash see the old or the new content. Missing
/// directories are created; an existing file keeps its mode.
pub fn replace(place: &Place, content: &[u8], expected: Expected) -> Result<(), FileError> {
    system::replace(place.path(), content, expected)
}

/// Removes the file if its content still is the expected one.
pub fn remove(place: &Place, expected: ContentHash) -> Result<(), FileError> {
    system::remove(place.path(), expected)
}

/// Gives a file, a link or a folder another name in its folder, unless something has that name.
pub fn rename_in_folder(path: &Path, name: &std::ffi::OsStr) -> Result<(), FileError> {
    system::rename_in_folder(path, name)
}

fn check(current: Result<File, FileError>, expected: Expected) -> Result<Option<File>, FileError> {
    match (current, expected) {
        (Err(FileError::Missing), Expected::Absent) => Ok(None),
        (Err(FileError::Missing), Expected::Content(_)) | (Ok(_), Expected::Absent) => {
            Err(FileError::Changed)
        }
        (Err(error), _) => Err(error),
        (Ok(mut file), Expected::Content(hash)) => {
            let meta = file.metadata()?;
            if meta.is_dir() {
                return Err(FileError::Directory);
            }
            if !meta.is_file() {
                return Err(FileError::Special);
            }
            let mut bytes = Vec::new();
            // More than was ever read of it is a change; a file that grows has no end.
            file.by_ref().take(MAX_CHECKED).read_to_end(&mut bytes)?;
            if ContentHash::of(&bytes) == hash {
                Ok(Some(file))
            } else {
                Err(FileError::Changed)
            }
        }
    }
}

fn temporary_name() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".lathe-{}-{count}.tmp", std::process::id())
}
