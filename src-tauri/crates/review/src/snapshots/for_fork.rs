//! The snapshots that a fork takes over from the session it was made from.

use std::path::Path;

use lathe_protocol::{MessageWithParts, SessionId};
use lathe_snapshot::{SideRepo, TreeId};

use super::{OUTSIDE, referenced_trees, temporary_label};
use crate::Review;
use crate::error::Result;
use crate::steps;

/// Holds the trees that the copied messages name for the fork as well, so that they outlive
/// the original session.
pub async fn share(
    review: &Review,
    original: &SessionId,
    fork: &SessionId,
    copied: &[MessageWithParts],
    worktree: &Path,
) -> Result<()> {
    let (from, to) = (original.to_string(), fork.to_string());
    let referenced = referenced_trees::named_in(&copied);
    let share = move |repo: &SideRepo| {
        let mut held = repo.references(&from)?;
        held.retain(|one| referenced.contains(&one.tree()));
        Ok(repo.add_label(&to, &held)?)
    };
    let shared = review.snapshots.with_repo(worktree, share.clone()).await;
    if review.snapshots.has_outside() {
        review
            .snapshots
            .with_repo(Path::new(OUTSIDE), share)
            .await?;
    }
    shared
}

/// The tree as it was when the message at `end` began: the tree before the next step, or the
/// work tree as it is now. A new snapshot is held until [`write_files`] has run.
pub async fn find_tree(
    review: &Review,
    fork: &SessionId,
    worktree: &Path,
    messages: &[MessageWithParts],
    end: usize,
) -> Result<TreeId> {
    let before = steps::whole_tree_before(messages, end);
    let label = temporary_label(fork);
    let find = move |repo: &SideRepo| {
        Ok(match before.filter(|tree| repo.contains(*tree)) {
            Some(tree) => tree,
            None => repo.take(&label)?.hash,
        })
    };
    review.snapshots.with_repo(worktree, find).await
}

/// Writes the files of a tree into an empty folder.
pub async fn write_files(
    review: &Review,
    fork: &SessionId,
    worktree: &Path,
    tree: TreeId,
    into: &Path,
) -> Result<()> {
    let (label, into) = (temporary_label(fork), into.to_owned());
    let write = move |repo: &SideRepo| {
        repo.write_out(tree, &into)?;
        Ok(repo.release(&repo.references(&label)?)?)
    };
    review.snapshots.with_repo(worktree, write).await
}
