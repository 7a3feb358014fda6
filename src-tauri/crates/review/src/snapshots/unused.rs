//! Snapshots that no session needs any more.

use std::path::Path;

use lathe_protocol::SessionId;
use lathe_snapshot::SnapshotRef;

use super::{is_temporary, referenced_trees};
use crate::Review;
use crate::error::Result;

/// Whether the session that owns these snapshots is neither stored nor in the trash.
///
/// A session is stored before its first snapshot is taken, so a missing one has been removed.
pub async fn is_orphaned(review: &Review, label: &str) -> Result<bool> {
    let Ok(id) = SessionId::parse(label) else {
        return Ok(is_temporary(label));
    };
    let store = review.records.store();
    let trashed = review.data_dir.join("trash").join(label);
    // A session that is being moved to the trash or back is in both places for a moment and
    // never in neither. Checking store, trash and store again cannot miss it.
    Ok(store.session(&id).await?.is_none()
        && !trashed.exists()
        && store.session(&id).await?.is_none())
}

/// Removes the snapshots of folders that no longer exist. A folder may come back, so they stay
/// while a session needs them.
pub async fn remove_abandoned(review: &Review) -> Result<()> {
    for abandoned in review.snapshots.abandoned().await? {
        let mut needed = false;
        for label in abandoned.labels() {
            needed |= !is_orphaned(review, label).await?;
        }
        if !needed {
            review.snapshots.remove(abandoned).await?;
        }
    }
    Ok(())
}

/// Releases every snapshot that is held for this owner.
pub async fn release_all(review: &Review, label: &str, worktree: &Path) -> Result<()> {
    let held = review.snapshots.references(worktree, label).await?;
    review.snapshots.release(worktree, held).await
}

/// Releases the snapshots of a session that none of its records name.
///
/// The caller holds the session's lock: a snapshot that was taken a moment ago and is not
/// recorded yet would look unused.
pub async fn release(review: &Review, session: &SessionId, worktree: &Path) -> Result<()> {
    let unused = find(review, session, worktree).await?;
    if unused.is_empty() {
        return Ok(());
    }
    review.snapshots.release(worktree, unused).await
}

/// The snapshots that are held for a session although none of its records name them.
pub async fn find(
    review: &Review,
    session: &SessionId,
    worktree: &Path,
) -> Result<Vec<SnapshotRef>> {
    let held = review
        .snapshots
        .references(worktree, session.as_str())
        .await?;
    let Some(referenced) = referenced_trees::read(review, session).await? else {
        return Ok(Vec::new());
    };
    let unused = held.into_iter();
    Ok(unused
        .filter(|one| !referenced.contains(&one.tree()))
        .collect())
}
