//! Shared by the tools that change files: the content as it was found, the change as it is shown
//! to the user and the model, and the only way to write it.
//!
//! Knows files and permissions, but not how a tool computes the new content.

mod text_file;
mod unified;

use lathe_protocol::{FileDiff, FileStatus};
use serde_json::Value;

pub(crate) use self::text_file::{Endings, Found, LineEnding, count_lines};
use self::unified::Unified;
use crate::context::{ContentHash, PermissionAsk, ToolContext, Want};
use crate::files::{self, Expected, FileError};
use crate::paths::{Place, Target};
use crate::text;
use crate::tool::{ToolFailure, ToolOutput};
use crate::written::FileChange;

/// The permission that all of them ask for.
const PERMISSION: &str = "edit";
/// Larger files are refused.
const MAX_FILE: u64 = 20 * 1024 * 1024;
/// Above this size a card gets only the patch, not both whole texts.
const MAX_WHOLE: usize = 256 * 1024;

/// A file's new content, computed but not written yet.
pub(crate) struct Change {
    pub place: Place,
    pub found: Option<Found>,
    pub after: Vec<u8>,
}

impl Change {
    pub fn expected(&self) -> Expected {
        self.found
            .as_ref()
            .map_or(Expected::Absent, |found| Expected::Content(found.hash))
    }

    pub fn shown(&self) -> ShownChange {
        ShownChange::new(
            self.place.shown(),
            self.found.as_ref().map(|found| found.bytes.as_slice()),
            Some(&self.after),
        )
    }

    /// Asks for permission, then writes if the file still is what the user was shown.
    pub async fn ask_and_write(self, cx: &ToolContext) -> Result<ShownChange, ToolFailure> {
        let shown = self.shown();
        let ask = ask(cx, std::slice::from_ref(&self.place))
            .with("filepath", self.place.shown())
            .with("diff", shown.patch())
            .with("filediff", shown.to_json());
        cx.host.ask(ask).await?;
        let change = FileChange {
            path: self.place.path().to_owned(),
            before: self.found.as_ref().map(|found| found.bytes.clone()),
            after: Some(self.after.clone()),
        };
        about_to_write(cx, vec![change]).await?;
        let hash = ContentHash::of(&self.after);
        let expected = self.expected();
        let (place, after) = (self.place.clone(), self.after);
        blocking(move || {
            files::replace(&place, &after, expected).map_err(|error| not_written(&place, &error))
        })
        .await?;
        cx.reads.record(self.place.path(), hash);
        cx.host.file_edited(self.place.path()).await;
        Ok(shown)
    }
}

/// A change as cards and dialogs show it.
pub(crate) struct ShownChange {
    diff: FileDiff,
    patch: String,
}

impl ShownChange {
    pub fn new(name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Self {
        let status = match (before, after) {
            (None, _) => FileStatus::Added,
            (Some(_), None) => FileStatus::Deleted,
            _ => FileStatus::Modified,
        };
        let text =
            |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let (old, new) = (text(before), text(after));
        let unified = Unified::between(name, &status, &old, &new);
        let whole = old.len().max(new.len()) <= MAX_WHOLE;
        let diff = FileDiff {
            file: name.to_owned(),
            before: whole.then_some(old),
            after: whole.then_some(new),
            patch: (!whole).then(|| unified.patch.clone()),
            additions: unified.additions.into(),
            deletions: unified.deletions.into(),
            status: Some(status),
            ..FileDiff::default()
        };
        Self {
            diff,
            patch: unified.patch,
        }
    }

    pub fn moved_from(mut self, old: &str) -> Self {
        self.diff.status = Some(FileStatus::Renamed);
        self.diff.from = Some(old.to_owned());
        self
    }

    pub fn patch(&self) -> &str {
        &self.patch
    }

    /// `+2 -1`
    pub fn counts(&self) -> String {
        format!("+{} -{}", self.diff.additions, self.diff.deletions)
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(&self.diff).unwrap_or_default()
    }

    pub fn output(&self, place: &Place, text: impl Into<String>) -> ToolOutput {
        ToolOutput::new(text::visible(place.shown()), text)
            .with("filepath", place.shown())
            .with("diff", self.patch())
            .with("filediff", self.to_json())
    }
}

/// Everything that changing these files needs.
pub(crate) fn ask(cx: &ToolContext, places: &[Place]) -> PermissionAsk {
    let edit = Want {
        permission: PERMISSION.to_owned(),
        patterns: places
            .iter()
            .map(|place| place.shown().to_owned())
            .collect(),
        always: vec!["*".to_owned()],
        opaque: false,
    };
    let outside = places
        .iter()
        .filter_map(|place| cx.outside(place, Target::File));
    PermissionAsk::from(edit).and(outside)
}

/// To be called when everything is allowed, right before the first write.
pub(crate) async fn about_to_write(
    cx: &ToolContext,
    changes: Vec<FileChange>,
) -> Result<(), ToolFailure> {
    cx.host.about_to_write(changes).await?;
    if cx.cancel.is_cancelled() {
        return Err(ToolFailure::aborted());
    }
    // Missing folders are created with a file, but never the project itself: it was deleted or
    // moved, and a new one in its place would hide that.
    if !cx.root.is_dir() {
        let root = text::quoted(&cx.root.to_string_lossy());
        return Err(ToolFailure::failed(format!(
            "The project folder {root} is gone, so nothing was written."
        )));
    }
    Ok(())
}

/// The current content; `None` if there is no file.
pub(crate) async fn find(place: &Place) -> Result<Option<Found>, ToolFailure> {
    let place = place.clone();
    blocking(move || match files::read(&place, MAX_FILE) {
        Ok(bytes) => Ok(Some(Found::new(bytes))),
        Err(FileError::Missing) => Ok(None),
        Err(error) => Err(ToolFailure::failed(format!(
            "{} can’t be changed: {error}.",
            text::quoted(place.shown())
        ))),
    })
    .await
}

/// Fails unless the model has read exactly this content. An empty file need not be read.
pub(crate) fn ensure_read(
    cx: &ToolContext,
    place: &Place,
    found: &Found,
) -> Result<(), ToolFailure> {
    let shown = text::quoted(place.shown());
    match cx.reads.hash_of(place.path()) {
        _ if found.bytes.is_empty() => Ok(()),
        Some(hash) if hash == found.hash => Ok(()),
        Some(_) => Err(ToolFailure::failed(format!(
            "{shown} has been changed since you read it. Read it again before you change it."
        ))),
        None => Err(ToolFailure::failed(format!(
            "You have not read {shown} in this session. Read it before you change it."
        ))),
    }
}

pub(crate) fn not_written(place: &Place, error: &FileError) -> ToolFailure {
    let shown = text::quoted(place.shown());
    match error {
        FileError::Changed => ToolFailure::failed(format!(
            "{shown} was changed by someone else in the meantime, so it was left as it is. Read it \
             again and repeat the change if it is still wanted."
        )),
        error => ToolFailure::failed(format!("{shown} couldn’t be written: {error}.")),
    }
}

/// Runs blocking file operations outside of the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolFailure> + Send + 'static,
) -> Result<T, ToolFailure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(ToolFailure::failed("The change broke off.")))
}
