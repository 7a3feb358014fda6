//! Settles reverts and unreverts that a crash interrupted.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::Session;
use lathe_protocol::ipc::RevertOptions;

use super::undo_log::{self, Underway, UndoEntry};
use super::{Revert, has_cut};
use crate::Review;
use crate::error::Result;
use crate::snapshots::OUTSIDE;

/// Rolls back a revert that was killed before its messages were hidden, for the person it has not
/// happened; and finishes an unrevert. The caller holds the session's lock.
pub async fn recover(review: &Arc<Review>, session: &Session, worktree: &Path) -> Result<()> {
    review.snapshots.recover(worktree).await?;
    let outside = review.snapshots.recover(Path::new(OUTSIDE)).await;
    let mut entries = undo_log::load(review, &session.id).await?;
    let Some(first) = first_interrupted(session, &entries) else {
        return outside;
    };
    match outside {
        Err(error) if !entries[first..].iter().any(|entry| entry.is_about(true)) => {
            tracing::warn!(%error, "a restore outside of the project is not rolled back");
        }
        settled => settled?,
    }
    let newest = entries.last();
    if newest.is_some_and(|entry| is_only_not_closed(session, entry)) {
        return undo_log::close_newest(review, &session.id).await;
    }
    let interrupted = entries.split_off(first);
    let mut revert = Revert::open(review, session.clone(), worktree).await?;
    let options = RevertOptions::default();
    revert.undo_entries(&interrupted, &options).await?;
    if session.revert.is_some() && interrupted.iter().any(is_undone_with_messages) {
        revert.set_state(None).await?;
    }
    undo_log::save(review, &session.id, entries).await
}

/// Whether there is a revert to roll back, or an unrevert to finish.
pub async fn is_interrupted(review: &Review, session: &Session) -> Result<bool> {
    let entries = undo_log::load(review, &session.id).await?;
    Ok(first_interrupted(session, &entries).is_some())
}

/// The first entry that is undone by a recovery, with all later ones.
fn first_interrupted(session: &Session, entries: &[UndoEntry]) -> Option<usize> {
    let hides_nothing = session.revert.is_none();
    let is_it = |entry: &UndoEntry| entry.underway.is_some() || entry.hides && hides_nothing;
    entries.iter().position(is_it)
}

/// Its messages are hidden already.
fn is_only_not_closed(session: &Session, entry: &UndoEntry) -> bool {
    let state = session.revert.as_ref();
    entry.underway == Some(Underway::Hiding) && state.is_some_and(|state| has_cut(state, entry))
}

fn is_undone_with_messages(entry: &UndoEntry) -> bool {
    entry.hides && entry.underway == Some(Underway::Undoing)
}
