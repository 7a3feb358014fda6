//! Snapshots of the work tree around each step, so that its changes can be reviewed and reverted.
//!
//! Where no snapshot can be taken (the home directory, a full disk), the turn continues without one.
//! A snapshot is held for its session until none of the session's records name it.

pub mod for_fork;
mod referenced_trees;
pub mod unused;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_snapshot::{AbandonedRepo, Refused, SideRepo, SnapshotError, SnapshotRef, TreeId};
use parking_lot::Mutex;

use crate::error::{Result, ReviewError};

#[derive(Clone)]
pub struct Snapshots {
    data_dir: PathBuf,
    /// One per work tree, or why there can never be one.
    repos: Arc<Mutex<HashMap<PathBuf, Opened>>>,
}

type Opened = Result<Arc<SideRepo>, NoSnapshot>;

/// Why no snapshot was taken, as a text for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoSnapshot(String);

impl Snapshots {
    pub fn new(data_dir: PathBuf) -> Self {
        Snapshots {
            data_dir,
            repos: Arc::default(),
        }
    }

    /// Takes a snapshot of the work tree as it is now.
    pub async fn take(&self, worktree: &Path, session: &SessionId) -> Result<TreeId, NoSnapshot> {
        let (snapshots, worktree, label) = (self.clone(), worktree.to_owned(), session.to_string());
        let taken = tokio::task::spawn_blocking(move || {
            let repo = snapshots.repo(&worktree)?;
            let mut taken = repo.take(&label);
            if let Err(SnapshotError::OverLimit { .. }) = taken
                && repo.collect_garbage().is_ok()
            {
                taken = repo.take(&label);
            }
            if repo.needs_repack() {
                // In the background: only the next snapshot may have to wait for it.
                let repo = repo.clone();
                tokio::task::spawn_blocking(move || repo.collect_garbage());
            }
            taken.map(|snapshot| snapshot.hash).map_err(|error| {
                tracing::warn!(%error, "no snapshot was taken");
                NoSnapshot::new(&error)
            })
        });
        let taken = taken.await;
        taken.unwrap_or_else(|error| Err(NoSnapshot(error.to_string())))
    }

    /// The paths that differ between two trees, absolute.
    pub async fn changed(&self, worktree: &Path, from: TreeId, to: TreeId) -> Vec<String> {
        let (snapshots, worktree) = (self.clone(), worktree.to_owned());
        let changed = tokio::task::spawn_blocking(move || {
            let repo = snapshots.repo(&worktree).ok()?;
            let files = repo.changed_files(from, to).ok()?;
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

    /// Runs blocking work on the repository of a work tree.
    pub async fn with_repo<T: Send + 'static>(
        &self,
        worktree: &Path,
        work: impl FnOnce(&SideRepo) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (snapshots, worktree) = (self.clone(), worktree.to_owned());
        let done = tokio::task::spawn_blocking(move || match snapshots.repo(&worktree) {
            Ok(repo) => work(&repo),
            Err(_) => Err(ReviewError::refused(
                "There are no snapshots of this folder",
            )),
        });
        done.await
            .map_err(|error| ReviewError::refused(error.to_string()))?
    }

    /// The owners of a work tree's snapshots and the bytes on disk; `None` if no snapshot was
    /// ever taken.
    pub async fn usage(&self, worktree: &Path) -> Result<Option<(BTreeSet<String>, u64)>> {
        if !SideRepo::exists(&self.data_dir, worktree) {
            return Ok(None);
        }
        let usage = |repo: &SideRepo| {
            let all = repo.all_references()?;
            let labels = all.iter().map(|one| one.label().to_owned()).collect();
            Ok(Some((labels, repo.disk_use()?)))
        };
        self.with_repo(worktree, usage).await
    }

    /// The snapshots that are held for an owner.
    pub async fn references(&self, worktree: &Path, label: &str) -> Result<Vec<SnapshotRef>> {
        let label = label.to_owned();
        let references = move |repo: &SideRepo| Ok(repo.references(&label)?);
        self.with_repo(worktree, references).await
    }

    /// The disk space is freed by [`Snapshots::collect_garbage`], or once enough was released.
    pub async fn release(&self, worktree: &Path, references: Vec<SnapshotRef>) -> Result<()> {
        let release = move |repo: &SideRepo| Ok(repo.release(&references)?);
        self.with_repo(worktree, release).await
    }

    /// Frees the disk space of released snapshots, also of those that another process released.
    pub async fn collect_garbage(&self, worktree: &Path) -> Result<()> {
        let collect = |repo: &SideRepo| {
            if repo.has_garbage() {
                repo.collect_garbage()?;
            }
            Ok(())
        };
        self.with_repo(worktree, collect).await
    }

    /// Snapshots of work trees that no longer exist.
    pub async fn abandoned(&self) -> Result<Vec<AbandonedRepo>> {
        let data_dir = self.data_dir.clone();
        let found = tokio::task::spawn_blocking(move || AbandonedRepo::find(&data_dir)).await;
        Ok(found.map_err(|error| ReviewError::refused(error.to_string()))??)
    }

    pub async fn remove(&self, abandoned: AbandonedRepo) -> Result<()> {
        self.repos.lock().retain(|worktree, _| worktree.exists());
        let removed = tokio::task::spawn_blocking(move || abandoned.remove()).await;
        Ok(removed.map_err(|error| ReviewError::refused(error.to_string()))??)
    }

    fn repo(&self, worktree: &Path) -> Opened {
        if let Some(known) = self.repos.lock().get(worktree) {
            return known.clone();
        }
        // Opened outside the lock: the first scan of a large tree takes a while.
        let opened = SideRepo::open(&self.data_dir, worktree).map(Arc::new);
        let is_final = opened.as_ref().map_or_else(is_permanent, |_| true);
        let opened = opened.map_err(|refused| {
            tracing::info!(%refused, "this tree is not snapshotted");
            NoSnapshot(refused.to_string())
        });
        if !is_final {
            return opened;
        }
        let mut repos = self.repos.lock();
        repos.entry(worktree.to_owned()).or_insert(opened).clone()
    }
}

/// A missing folder or a failing disk may come back.
fn is_permanent(refused: &Refused) -> bool {
    match refused {
        Refused::RootDirectory | Refused::HomeDirectory | Refused::HoldsOurData => true,
        Refused::NotADirectory { .. } | Refused::NoRepository(_) => false,
    }
}

impl NoSnapshot {
    fn new(error: &SnapshotError) -> Self {
        let gigabytes = |bytes: u64| bytes >> 30;
        NoSnapshot(match error {
            SnapshotError::OverLimit { limit } => format!(
                "the snapshots of this project take {} GB already",
                gigabytes(*limit)
            ),
            SnapshotError::DiskNearlyFull { keep } => {
                format!("less than {} GB are free on the disk", gigabytes(*keep))
            }
            other => other.to_string(),
        })
    }
}

/// Stored in the side repository: keep it as it is.
const TEMPORARY: &str = "passing-";

/// The label of a snapshot that is released as soon as its reader is done.
pub(crate) fn temporary_label(session: &SessionId) -> String {
    format!("{TEMPORARY}{session}")
}

/// A snapshot under such a label that is still there was left by a crash.
fn is_temporary(label: &str) -> bool {
    label.starts_with(TEMPORARY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_that_was_missing_is_snapshotted_when_it_exists_again() {
        let data = tempfile::tempdir().unwrap();
        let home = tempfile::tempdir().unwrap();
        let worktree = home.path().join("usb");
        let snapshots = Snapshots::new(data.path().to_owned());
        let session = SessionId::parse("ses_000000000001aaaaaaaaaaaaaa").unwrap();
        assert!(snapshots.take(&worktree, &session).await.is_err());
        std::fs::create_dir(&worktree).unwrap();
        assert!(snapshots.take(&worktree, &session).await.is_ok());
    }
}
