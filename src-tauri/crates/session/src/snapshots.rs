//! The work tree around each step, so that what a step changed can be seen and taken back.
//!
//! A tree that cannot be taken (the home directory, a full disk) costs the step its snapshot,
//! never the turn.
//!
//! A tree is held for the session it was taken for, until nothing of the session names it.

pub mod needed;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_snapshot::{Abandoned, SideRepo, SnapshotError, SnapshotRef, TreeId};
use parking_lot::Mutex;

use crate::error::{Failed, Result};

#[derive(Clone)]
pub struct Snapshots {
    data_dir: PathBuf,
    /// One per work tree; nothing for one that is refused.
    repos: Arc<Mutex<HashMap<PathBuf, Option<Arc<SideRepo>>>>>,
}

impl Snapshots {
    pub fn new(data_dir: PathBuf) -> Self {
        Snapshots {
            data_dir,
            repos: Arc::default(),
        }
    }

    /// The tree as it is now. Runs beside whatever the caller does until it is awaited.
    pub async fn take(&self, worktree: &Path, session: &SessionId) -> Option<TreeId> {
        let (snapshots, worktree, label) = (self.clone(), worktree.to_owned(), session.to_string());
        let taken = tokio::task::spawn_blocking(move || {
            let repo = snapshots.repo(&worktree)?;
            let mut taken = repo.take(&label);
            if let Err(SnapshotError::OverCap { .. }) = taken
                && repo.collect_garbage().is_ok()
            {
                taken = repo.take(&label);
            }
            if repo.wants_joining() {
                // Beside the step: only the next snapshot may have to wait for it.
                let repo = repo.clone();
                tokio::task::spawn_blocking(move || repo.collect_garbage());
            }
            match taken {
                Ok(snapshot) => Some(snapshot.hash),
                Err(error) => {
                    tracing::warn!(%error, "no snapshot was taken");
                    None
                }
            }
        });
        taken.await.ok().flatten()
    }

    /// The paths that differ between two trees, absolute.
    pub async fn changed(&self, worktree: &Path, from: TreeId, to: TreeId) -> Vec<String> {
        let (snapshots, worktree) = (self.clone(), worktree.to_owned());
        let changed = tokio::task::spawn_blocking(move || {
            let files = snapshots.repo(&worktree)?.changed_files(from, to).ok()?;
            let path = |file: &[u8]| worktree.join(String::from_utf8_lossy(file).as_ref());
            Some(
                files
                    .iter()
                    .map(|file| path(file.as_bytes()).display().to_string())
                    .collect(),
            )
        });
        changed.await.ok().flatten().unwrap_or_default()
    }

    /// Runs beside the async world: trees are read and files written.
    pub async fn with<T: Send + 'static>(
        &self,
        worktree: &Path,
        work: impl FnOnce(&SideRepo) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (snapshots, worktree) = (self.clone(), worktree.to_owned());
        let done = tokio::task::spawn_blocking(move || match snapshots.repo(&worktree) {
            Some(repo) => work(&repo),
            None => Err(Failed::refused("There are no snapshots of this folder")),
        });
        done.await
            .map_err(|error| Failed::refused(error.to_string()))?
    }

    /// Whose snapshots there are of a work tree, and the bytes they take; nothing if none was
    /// ever taken.
    pub async fn holdings(&self, worktree: &Path) -> Result<Option<(BTreeSet<String>, u64)>> {
        if !SideRepo::exists(&self.data_dir, worktree) {
            return Ok(None);
        }
        let holdings = |repo: &SideRepo| {
            let all = repo.all_references()?;
            let labels = all.iter().map(|one| one.label().to_owned()).collect();
            Ok(Some((labels, repo.disk_use()?)))
        };
        self.with(worktree, holdings).await
    }

    /// What is held for an owner.
    pub async fn references(&self, worktree: &Path, label: &str) -> Result<Vec<SnapshotRef>> {
        let label = label.to_owned();
        let references = move |repo: &SideRepo| Ok(repo.references(&label)?);
        self.with(worktree, references).await
    }

    /// Their room comes back with [`Snapshots::collect`], or when enough has come together.
    pub async fn release(&self, worktree: &Path, references: Vec<SnapshotRef>) -> Result<()> {
        let release = move |repo: &SideRepo| Ok(repo.release(&references)?);
        self.with(worktree, release).await
    }

    /// Makes room of what was let go, now or by somebody who did not come that far.
    pub async fn collect(&self, worktree: &Path) -> Result<()> {
        let collect = |repo: &SideRepo| {
            if repo.has_garbage() {
                repo.collect_garbage()?;
            }
            Ok(())
        };
        self.with(worktree, collect).await
    }

    /// Snapshots of work trees that are not there any more.
    pub async fn abandoned(&self) -> Result<Vec<Abandoned>> {
        let data_dir = self.data_dir.clone();
        let found = tokio::task::spawn_blocking(move || Abandoned::find(&data_dir)).await;
        Ok(found.map_err(|error| Failed::refused(error.to_string()))??)
    }

    pub async fn remove(&self, abandoned: Abandoned) -> Result<()> {
        self.repos.lock().retain(|worktree, _| worktree.exists());
        let removed = tokio::task::spawn_blocking(move || abandoned.remove()).await;
        Ok(removed.map_err(|error| Failed::refused(error.to_string()))??)
    }

    fn repo(&self, worktree: &Path) -> Option<Arc<SideRepo>> {
        if let Some(known) = self.repos.lock().get(worktree) {
            return known.clone();
        }
        // Opened outside the lock: the first look at a large tree takes a while.
        let opened = match SideRepo::open(&self.data_dir, worktree) {
            Ok(repo) => Some(Arc::new(repo)),
            Err(refused) => {
                tracing::info!(%refused, "this tree is not snapshotted");
                None
            }
        };
        self.repos
            .lock()
            .entry(worktree.to_owned())
            .or_insert(opened)
            .clone()
    }
}

const PASSING: &str = "passing-";

/// The owner of a tree that is only looked at on a session's behalf, and let go right after.
pub fn passing(session: &SessionId) -> String {
    format!("{PASSING}{session}")
}

/// What such an owner still holds was left by a crash.
pub fn is_passing(label: &str) -> bool {
    label.starts_with(PASSING)
}

impl From<SnapshotError> for Failed {
    fn from(error: SnapshotError) -> Self {
        Failed::refused(error.to_string())
    }
}
