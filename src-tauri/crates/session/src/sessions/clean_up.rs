//! Snapshots that nobody needs any more go.
//!
//! A session is held while its trees are looked through: one that is taken, and named only
//! afterwards, would look like nobody's.

use std::path::Path;
use std::time::Duration;

use lathe_protocol::{SessionId, SessionStatus};
use lathe_snapshot::SnapshotRef;

use super::Sessions;
use lathe_records::Result;
use lathe_review::snapshots::{is_passing, needed};
use lathe_store::write_private_file;

/// How long a removed session can be taken back.
const TRASH_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// So many bytes of snapshots are no reason to read through sessions at every start.
const SPARE: u64 = 256 << 20;

/// How often that happens by itself.
const EVERY: i64 = 24 * 3600 * 1000;

impl Sessions {
    /// Cleans up, unless somebody did lately: a short command should not look through
    /// everything each time.
    pub async fn clean_up_now_and_then(&self) {
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
            tracing::debug!(%error, "nobody will know that it was cleaned up");
        }
    }

    /// Lets go of snapshots that no session needs, also none that can still be taken back.
    /// Sessions that are there are read for it only where the snapshots of a work tree take
    /// more than `spare` bytes.
    pub async fn clean_up(&self, spare: u64) {
        let store = self.core.records.store();
        if let Err(error) = store.empty_trash(TRASH_KEPT).await {
            tracing::warn!(%error, "the trash was not emptied");
        }
        let Ok(projects) = store.projects().await else {
            return;
        };
        for project in projects.items {
            let sandboxes = project.sandboxes.into_iter().flatten();
            for root in std::iter::once(project.worktree).chain(sandboxes) {
                if let Err(error) = self.clean_worktree(Path::new(&root), spare).await {
                    tracing::info!(%error, "snapshots were not cleaned up");
                }
            }
        }
        if let Err(error) = self.clean_abandoned().await {
            tracing::info!(%error, "snapshots of folders that are gone were not cleaned up");
        }
    }

    /// A folder may come back, so its snapshots stay while a session needs them.
    async fn clean_abandoned(&self) -> Result<()> {
        for abandoned in self.core.review.snapshots.abandoned().await? {
            let mut needed = false;
            for label in abandoned.labels() {
                needed |= !self.is_unowned(label).await?;
            }
            if !needed {
                self.core.review.snapshots.remove(abandoned).await?;
            }
        }
        Ok(())
    }

    async fn clean_worktree(&self, root: &Path, spare: u64) -> Result<()> {
        let snapshots = &self.core.review.snapshots;
        let Some((labels, used)) = snapshots.holdings(root).await? else {
            return Ok(());
        };
        for label in labels {
            if self.is_unowned(&label).await? {
                let all = snapshots.references(root, &label).await?;
                snapshots.release(root, all).await?;
            } else if let Ok(id) = SessionId::parse(&label)
                && used > spare
            {
                self.let_go(&id, root).await?;
            }
        }
        Ok(snapshots.collect(root).await?)
    }

    /// Neither there nor in the trash. A session is stored before its first snapshot is taken,
    /// so one that is listed and then not found is gone.
    async fn is_unowned(&self, label: &str) -> Result<bool> {
        let Ok(id) = SessionId::parse(label) else {
            return Ok(is_passing(label));
        };
        let store = self.core.records.store();
        let grave = self.core.data_dir.join("trash").join(label);
        // One that is being moved either way is in both places for a while and never in none:
        // whoever looks there, in the trash and there again cannot miss it.
        Ok(store.session(&id).await?.is_none()
            && !grave.exists()
            && store.session(&id).await?.is_none())
    }

    /// The same for one session, unless somebody works on it.
    async fn let_go(&self, id: &SessionId, root: &Path) -> Result<()> {
        if self.unneeded(id, root).await?.is_empty() {
            return Ok(());
        }
        let _prompt = self.core.running.lock_prompt(id).await;
        if self.status(id) != SessionStatus::Idle {
            return Ok(());
        }
        let Ok(_writer) = self.core.records.store().lock_session(id).await else {
            return Ok(());
        };
        self.let_go_held(id, root).await
    }

    /// The caller holds the session.
    pub(super) async fn let_go_held(&self, id: &SessionId, root: &Path) -> Result<()> {
        let unneeded = self.unneeded(id, root).await?;
        if unneeded.is_empty() {
            return Ok(());
        }
        Ok(self.core.review.snapshots.release(root, unneeded).await?)
    }

    /// What is held for a session though nothing of it names it.
    async fn unneeded(&self, id: &SessionId, root: &Path) -> Result<Vec<SnapshotRef>> {
        let held = self
            .core
            .review
            .snapshots
            .references(root, id.as_str())
            .await?;
        let Some(needed) = needed::by(&self.core.review, id).await? else {
            return Ok(Vec::new());
        };
        let unneeded = held.into_iter();
        Ok(unneeded
            .filter(|one| !needed.contains(&one.tree()))
            .collect())
    }
}
