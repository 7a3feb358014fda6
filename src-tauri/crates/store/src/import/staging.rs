//! A folder of our own for what must be changed to be read.
//!
//! The caller holds the import's lock, so there is one at a time; what a kill left goes before
//! the next begins.

use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result, optional};
use crate::fs::{Disk, Fs};

pub(super) struct Staging {
    folder: PathBuf,
}

impl Staging {
    pub(super) fn begin(root: &Path) -> Result<Staging> {
        let folder = root.join("staging");
        optional(Disk.remove_dir_all(&folder)).doing("clearing", &folder)?;
        Ok(Staging { folder })
    }

    pub(super) fn folder(&self) -> Result<&Path> {
        Disk.create_dir_all(&self.folder)
            .doing("creating", &self.folder)?;
        Ok(&self.folder)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = optional(Disk.remove_dir_all(&self.folder)) {
            tracing::warn!(%error, "the copy of an import stays until the next one");
        }
    }
}
