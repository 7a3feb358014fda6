//! Other names of a file in the project.
//!
//! Rules decide by name, and a hard link gives a file a second one. So a file with several names is
//! asked about by those of them, too, that may not be read without a question. Names outside the
//! project are not looked for: package managers link whole stores into projects.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ignore::WalkBuilder;

use crate::context::{MayRead, ToolContext, Want};
use crate::files::{self, FileError};
use crate::paths::{self, Place};
use crate::tool::ToolFailure;

/// The files of a project that may not be read without a question and have another name.
pub struct LinkedSecrets {
    root: PathBuf,
    may_read: MayRead,
    /// Looked for when the first file with several names turns up.
    found: OnceLock<HashMap<FileId, String>>,
}

impl LinkedSecrets {
    pub fn new(root: PathBuf, may_read: MayRead) -> Self {
        Self {
            root,
            may_read,
            found: OnceLock::new(),
        }
    }

    /// The name by which a file may not be read without a question. Reads folders.
    pub fn name_of(&self, file: &Metadata) -> Option<&str> {
        let id = linked(file)?;
        let found = self.found.get_or_init(|| self.find());
        found.get(&id).map(String::as_str)
    }

    fn find(&self) -> HashMap<FileId, String> {
        let mut found = HashMap::new();
        // Secrets are usually ignored by git, so nothing is left out here.
        let walk = WalkBuilder::new(&self.root)
            .standard_filters(false)
            .follow_links(false)
            .build();
        for entry in walk.flatten() {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let shown = paths::shown(entry.path(), &self.root);
            if !(self.may_read)(&shown)
                && let Ok(meta) = entry.metadata()
                && let Some(id) = linked(&meta)
            {
                found.insert(id, shown);
            }
        }
        found
    }
}

/// The content of a file, or `None` if it may not be read without a question by any of its names.
/// Blocks.
pub fn read_unasked(
    place: &Place,
    root: &Path,
    may_read: MayRead,
    max: u64,
) -> Result<Option<Vec<u8>>, FileError> {
    if !may_read(place.shown()) {
        return Ok(None);
    }
    let secrets = LinkedSecrets::new(root.to_owned(), may_read);
    let meta = files::open(place)?.metadata()?;
    if secrets.name_of(&meta).is_some() {
        return Ok(None);
    }
    files::read(place, max).map(Some)
}

/// What is known of a file's names before it is opened.
#[derive(Default)]
pub(crate) struct Names {
    /// What must be allowed besides its own name before it is read.
    pub secret: Option<Want>,
    /// To be compared with the file once it is open.
    pub linked: Option<FileId>,
}

impl ToolContext {
    pub(crate) async fn names_of(&self, place: &Place) -> Result<Names, ToolFailure> {
        let Ok(meta) = std::fs::symlink_metadata(place.path()) else {
            return Ok(Names::default());
        };
        let linked = linked(&meta);
        if linked.is_none() {
            return Ok(Names::default());
        }
        let secrets = LinkedSecrets::new(self.root.clone(), self.host.may_read().await?);
        let found =
            tokio::task::spawn_blocking(move || secrets.name_of(&meta).map(str::to_owned)).await;
        let name = found.map_err(|_| ToolFailure::failed("Looking at the file broke off."))?;
        let secret = name
            .filter(|name| name != place.shown())
            .map(|name| Want::new("read", name));
        Ok(Names { secret, linked })
    }
}

/// Device and number on it.
pub(crate) type FileId = (u64, u64);

/// Identifies a file with several names; `None` if it has only one.
#[cfg(unix)]
pub(crate) fn linked(file: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    (file.is_file() && file.nlink() > 1).then(|| (file.dev(), file.ino()))
}

/// Windows does not tell without opening each file.
#[cfg(not(unix))]
pub(crate) fn linked(_: &Metadata) -> Option<FileId> {
    None
}
