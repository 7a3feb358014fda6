//! Replacing a record's file so that a reader, or a start after a crash, finds the old content or
//! the new one and never a mix of both.
//!
//! Files outside of the record tree are written by `lathe_files`. Records go through [`Fs`], so
//! that a test can make every step fail.

use std::path::Path;

use crate::error::{IoContext, Result};
use crate::fs::Fs;

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
