//! The folder for copies of what must be converted before it can be read.
//!
//! The caller holds the import's lock, so it is used by one import at a time. What a killed import
//! left there is removed before the next one starts.

use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result, optional};
use crate::fs::{Disk, Fs};

pub(super) struct Staging {
    folder: PathBuf,
}

impl Staging {
    pub(super) fn start(root: &Path) -> Result<Staging> {
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
            tracing::warn!(%error, "the copy of an import is left to the next one");
        }
    }
}
