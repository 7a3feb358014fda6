//! What another program wrote to a file after a revert had moved it to the trash: through a handle
//! that it had open by then. It is listed with what can be restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_protocol::ipc::{RevertOptions, RevertOutcome, RevertedItem};
use lathe_protocol::{Millis, Session, SessionId};
use lathe_snapshot::{FileContent, FileImage, RelPath, SideRepo};

use super::undo_log::{self, RevertedFile, UndoEntry};
use super::{Revert, archive, left, trash};
use crate::Review;
use crate::error::{Result, ReviewError};
use crate::snapshots::OUTSIDE;

/// The clock of a file system may be so coarse.
const TICK: Duration = Duration::from_millis(20);
/// For what was restored: it is not listed again, and still there for the open handle.
pub(super) const RESTORED: &str = "restored";

/// A file in the trash that was written since it was moved there.
struct LateSave {
    /// The number of the revert and the path.
    id: String,
    at: PathBuf,
    path: RelPath,
    outside: bool,
    time: Millis,
}

/// Those of archived reverts are numbers.
pub fn is_id(id: &str) -> bool {
    id.contains('/')
}

impl LateSave {
    fn name(&self) -> String {
        match self.outside {
            true => format!("/{}", self.path),
            false => self.path.to_string(),
        }
    }
}

pub async fn list(
    review: &Review,
    session: &SessionId,
    worktree: &Path,
) -> Result<Vec<RevertedItem>> {
    let found = find(review, session, worktree).await?;
    let item = |late: LateSave| RevertedItem {
        title: format!("{}, written after it was reverted", late.name()),
        files: vec![late.name()],
        id: late.id,
        session_id: session.clone(),
        time: late.time,
        messages: 0,
    };
    Ok(found.into_iter().map(item).collect())
}

/// Writes it where it was; beside that if something is there now.
pub async fn restore(
    review: &Arc<Review>,
    session: Session,
    worktree: &Path,
    id: &str,
    options: &RevertOptions,
) -> Result<RevertOutcome> {
    let found = find(review, &session.id, worktree).await?;
    let late = found.into_iter().find(|late| late.id == id);
    let late = late.ok_or_else(|| ReviewError::missing("reverted item", id))?;
    let root = match late.outside {
        true => Path::new(OUTSIDE),
        false => worktree,
    };
    let (at, path, outside) = (late.at.clone(), late.path, late.outside);
    let label = session.id.to_string();
    let keep = move |repo: &SideRepo| {
        let bytes = fs::read(&at).map_err(|error| ReviewError::refused(error.to_string()))?;
        let content = FileContent::like_file_at(&at, bytes);
        let is_free = repo
            .read_image(&path)
            .is_ok_and(|image| image.content.is_none());
        let path = match is_free {
            true => Some(path),
            false => left::free_name(repo, &path, "saved"),
        };
        let path = path.ok_or_else(|| ReviewError::refused("There is no free name for it"))?;
        let image = |content| FileImage {
            path: path.clone(),
            content,
        };
        let absent = repo.keep_images(&label, &[image(None)])?;
        let written = repo.keep_images(&label, &[image(Some(content))])?;
        Ok(RevertedFile::new(&path, written, absent, outside))
    };
    let file = review.snapshots.with_repo(root, keep).await?;
    let trash = trash::folder(review, &session.id);
    let entry = UndoEntry {
        files: vec![file],
        ..UndoEntry::default()
    };
    let revert = Revert::open(review, session, worktree).await?;
    let (mut outcome, remaining) = revert.bring_back(&[entry], options).await?;
    outcome.left_in = (!remaining.is_empty()).then(|| id.to_owned());
    if remaining.is_empty() {
        let aside = trash.join(RESTORED).join(id);
        let moved = fs::create_dir_all(aside.parent().unwrap_or(&trash))
            .and_then(|()| fs::rename(&late.at, &aside));
        moved.map_err(|error| ReviewError::refused(error.to_string()))?;
    }
    Ok(outcome)
}

async fn find(review: &Review, session: &SessionId, worktree: &Path) -> Result<Vec<LateSave>> {
    let folder = trash::folder(review, session);
    let written = tokio::task::spawn_blocking(move || written_in(&folder)).await;
    let mut written = written.unwrap_or_default();
    if written.is_empty() {
        return Ok(written);
    }
    let mut entries = undo_log::load(review, session).await?;
    let archived = archive::load(review, session).await?;
    entries.extend(archived.into_iter().flat_map(|one| one.entries));
    for outside in [false, true] {
        let root = match outside {
            true => Path::new(OUTSIDE),
            false => worktree,
        };
        if !entries.iter().any(|entry| entry.is_about(outside)) {
            continue;
        }
        let (entries, found) = (entries.clone(), std::mem::take(&mut written));
        let compare = move |repo: &SideRepo| {
            let mut late = Vec::new();
            for mut one in found {
                match compare(repo, &entries, &one, outside) {
                    Some(true) => continue,
                    Some(false) => one.outside = outside,
                    None => {}
                }
                late.push(one);
            }
            Ok(late)
        };
        written = review.snapshots.with_repo(root, compare).await?;
    }
    Ok(written)
}

/// Whether a file is as a revert found it, and so was not written since; `None` if no revert of
/// such a file is known.
fn compare(repo: &SideRepo, entries: &[UndoEntry], one: &LateSave, outside: bool) -> Option<bool> {
    let bytes = fs::read(&one.at).ok()?;
    let mut is_known = None;
    for entry in entries {
        for (path, from, _) in entry.spans(outside).filter(|(path, ..)| *path == one.path) {
            let found = repo
                .image_in(from, &path)
                .ok()
                .and_then(|image| image.content);
            if found.is_some_and(|content| content.bytes == bytes) {
                return Some(true);
            }
            is_known = Some(false);
        }
    }
    is_known
}

/// Moving a file changes the time at which its entry was changed; writing to it changes both
/// times.
fn written_in(trash: &Path) -> Vec<LateSave> {
    let mut found = Vec::new();
    for batch in fs::read_dir(trash).into_iter().flatten().flatten() {
        let name = batch.file_name();
        let Some(number) = name.to_str().filter(|name| name.parse::<u64>().is_ok()) else {
            continue;
        };
        gather(&batch.path(), &batch.path(), number, &mut found);
    }
    found
}

fn gather(batch: &Path, folder: &Path, number: &str, found: &mut Vec<LateSave>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let at = entry.path();
        let Ok(meta) = at.symlink_metadata() else {
            continue;
        };
        if meta.is_dir() {
            gather(batch, &at, number, found);
            continue;
        }
        let path = at.strip_prefix(batch).ok();
        let path = path.and_then(|path| RelPath::new(path.as_os_str().as_encoded_bytes()).ok());
        if let (true, Some(path), Some(time)) = (meta.is_file(), path, written_since(&meta)) {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            found.push(LateSave {
                id: format!("{number}/{path}"),
                at,
                path,
                outside: false,
                time: Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            });
        }
    }
}

#[cfg(unix)]
fn written_since(meta: &fs::Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let changed = Duration::new(
        u64::try_from(meta.ctime()).ok()?,
        u32::try_from(meta.ctime_nsec()).ok()?,
    );
    let written = meta.modified().ok()?;
    (written + TICK >= UNIX_EPOCH + changed).then_some(written)
}

/// There, a file that is open cannot be moved.
#[cfg(not(unix))]
fn written_since(_: &fs::Metadata) -> Option<SystemTime> {
    None
}
