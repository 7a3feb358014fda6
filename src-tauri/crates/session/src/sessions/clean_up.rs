//! Removes snapshots and trash that no session needs any more.
//!
//! A session is locked while its snapshots are checked: a tree that has been taken and is not
//! recorded yet would look unused.

use std::path::Path;
use std::time::Duration;

use lathe_files::write_private_file;
use lathe_protocol::{SessionId, SessionStatus};
use lathe_records::Result;
use lathe_review::revert::{archive, is_interrupted, trash};
use lathe_review::snapshots::{OUTSIDE, unused};
use lathe_store::Key;

use super::Sessions;

/// How long a removed session can be restored.
const TRASH_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Below this many bytes of snapshots, stored sessions are not read for a clean-up.
const SPARE: u64 = 256 << 20;

/// Milliseconds between two automatic clean-ups.
const EVERY: i64 = 24 * 3600 * 1000;

impl Sessions {
    /// Cleans up once a day: a short command should not read everything each time.
    pub async fn clean_up_if_due(&self) {
        let stamp = self.core.data_dir.join("cleaned");
        let now = self.core.records.now().0;
        let text = tokio::fs::read_to_string(&stamp).await.ok();
        let last: Option<i64> = text.and_then(|text| text.parse().ok());
        if last.is_some_and(|last| (last..last.saturating_add(EVERY)).contains(&now)) {
            return;
        }
        self.clean_up(SPARE).await;
        // Not before: a command that ends in the middle leaves it to the next one.
        if let Err(error) = write_private_file(&stamp, now.to_string().as_bytes()) {
            tracing::debug!(%error, "the time of the clean-up was not stored");
        }
    }

    /// Removes snapshots that belong to no stored session and to none in the trash. Stored
    /// sessions are read for it only where the snapshots of a work tree take more than `spare`
    /// bytes.
    pub async fn clean_up(&self, spare: u64) {
        let store = self.core.records.store();
        if let Err(error) = store.empty_trash(TRASH_KEPT).await {
            tracing::warn!(%error, "the trash was not emptied");
        }
        if let Err(error) = store.remove_stale_locks().await {
            tracing::info!(%error, "old locks were not removed");
        }
        let Ok(projects) = store.projects().await else {
            return;
        };
        self.forget_old_reverts().await;
        for project in projects.items {
            let sandboxes = project.sandboxes.into_iter().flatten();
            for root in std::iter::once(project.worktree).chain(sandboxes) {
                if let Err(error) = self.clean_worktree(Path::new(&root), spare).await {
                    tracing::info!(%error, "snapshots were not cleaned up");
                }
            }
        }
        if let Err(error) = self.clean_worktree(Path::new(OUTSIDE), spare).await {
            tracing::info!(%error, "images of files outside of projects were not cleaned up");
        }
        self.empty_trash_of_reverts().await;
        if let Err(error) = unused::remove_abandoned(&self.core.review).await {
            tracing::info!(%error, "snapshots of folders that are gone were not cleaned up");
        }
    }

    /// What reverts removed is kept for 30 days.
    async fn forget_old_reverts(&self) {
        let store = self.core.records.store();
        let Ok(keys) = Key::new(["session_reverted"]) else {
            return;
        };
        let stored = store.list(&keys).await.unwrap_or_default();
        for key in stored {
            let Ok(id) = SessionId::parse(key.name()) else {
                continue;
            };
            let _prompt = self.core.active.lock_prompt(&id).await;
            let Ok(_writer) = store.lock_session(&id).await else {
                continue;
            };
            if let Err(error) = archive::forget_old(&self.core.review, &id).await {
                tracing::info!(%error, "old reverts were not forgotten");
            }
        }
    }

    /// So are the files that reverts replaced or removed. A revert that was killed still needs them.
    async fn empty_trash_of_reverts(&self) {
        let (store, review) = (self.core.records.store(), &self.core.review);
        for id in trash::sessions(review).await {
            let _prompt = self.core.active.lock_prompt(&id).await;
            let Ok(_writer) = store.lock_session(&id).await else {
                continue;
            };
            let session = store.session(&id).await;
            let is_settled = match session {
                Ok(Some(session)) => !is_interrupted(review, &session).await.unwrap_or(true),
                Ok(None) => true,
                Err(_) => false,
            };
            if is_settled {
                trash::empty(review, &id).await;
            }
        }
    }

    async fn clean_worktree(&self, root: &Path, spare: u64) -> Result<()> {
        let review = &self.core.review;
        let Some((labels, used)) = review.snapshots.usage(root).await? else {
            return Ok(());
        };
        for label in labels {
            if unused::is_orphaned(review, &label).await? {
                unused::release_all(review, &label, root).await?;
            } else if let Ok(id) = SessionId::parse(&label)
                && used > spare
            {
                self.release_unused_snapshots(&id, root).await?;
            }
        }
        Ok(review.snapshots.collect_garbage(root).await?)
    }

    /// Does nothing while a turn, a prompt or another process works on the session.
    async fn release_unused_snapshots(&self, id: &SessionId, root: &Path) -> Result<()> {
        if unused::find(&self.core.review, id, root).await?.is_empty() {
            return Ok(());
        }
        let _prompt = self.core.active.lock_prompt(id).await;
        if self.status(id) != SessionStatus::Idle {
            return Ok(());
        }
        let Ok(_writer) = self.core.records.store().lock_session(id).await else {
            return Ok(());
        };
        Ok(unused::release(&self.core.review, id, root).await?)
    }
}
