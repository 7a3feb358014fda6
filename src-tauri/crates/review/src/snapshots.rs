//! Snapshots of the work tree around each step, so that its changes can be reviewed and reverted.
//!
//! Where no snapshot can be taken (the home directory, a full disk), the turn continues without one.
//! A snapshot is held for its session until none of the session's records name it.

pub mod for_fork;
mod referenced_trees;
pub mod unused;
pub mod with_room;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_snapshot::{
    AbandonedRepo, Options, Refused, SideRepo, SnapshotError, SnapshotRef, TreeId, in_units,
};
use parking_lot::Mutex;

use crate::error::{Result, ReviewError};

#[derive(Clone)]
pub struct Snapshots {
    data_dir: PathBuf,
    options: Options,
    /// One per work tree, or why there can never be one.
    repos: Arc<Mutex<HashMap<PathBuf, Opened>>>,
}

/// Stands for the work tree of files outside of all projects: their images have a repository of
/// their own, and no snapshot of it can be taken.
pub const OUTSIDE: &str = "/";

type Opened = Result<Arc<SideRepo>, NoSnapshot>;

/// Why no snapshot was taken, as a text for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct NoSnapshot {
    text: String,
    /// The snapshots of the project are at their limit.
    is_full: bool,
}

impl From<String> for NoSnapshot {
    fn from(text: String) -> Self {
        NoSnapshot {
            text,
            is_full: false,
        }
    }
}

impl Snapshots {
    pub fn new(data_dir: PathBuf) -> Self {
        let mut options = Options::default();
        if let Some(keep_free) = keep_free(std::env::var("LATHE_KEEP_FREE_MB").ok().as_deref()) {
            options.keep_free = keep_free;
        }
        Snapshots::with_options(data_dir, options)
    }

    pub fn with_options(data_dir: PathBuf, options: Options) -> Self {
        Snapshots {
            data_dir,
            options,
            repos: Arc::default(),
        }
    }

    /// The folder that a session's snapshots are of: its project, or its own folder where the
    /// project is the whole home folder.
    pub fn root_for(&self, worktree: &str, directory: &str) -> PathBuf {
        SideRepo::root_for(&self.data_dir, Path::new(worktree), Path::new(directory))
    }

    /// Takes a snapshot of the work tree as it is now.
    pub async fn take(&self, worktree: &Path, session: &SessionId) -> Result<TreeId, NoSnapshot> {
        let (snapshots, worktree, label) = (self.clone(), worktree.to_owned(), session.to_string());
        let taken = tokio::task::spawn_blocking(move || {
            if worktree.parent().is_none() {
                return Err(NoSnapshot::from(Refused::RootDirectory.to_string()));
            }
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
        taken.unwrap_or_else(|error| Err(NoSnapshot::from(error.to_string())))
    }

    /// Takes a snapshot that must not fail for want of room: the one just before a revert.
    pub async fn take_safety(
        &self,
        worktree: &Path,
        session: &SessionId,
    ) -> Result<TreeId, NoSnapshot> {
        let label = session.to_string();
        let take = move |repo: &SideRepo| Ok(repo.take_safety(&label)?.hash);
        let taken = match worktree.parent() {
            Some(_) => self.with_repo(worktree, take).await,
            None => Err(ReviewError::refused(Refused::RootDirectory.to_string())),
        };
        taken.map_err(|error| NoSnapshot::from(error.to_string()))
    }

    /// Rolls back restores of files that a killed program left half done. `root` is a work tree,
    /// or [`OUTSIDE`].
    pub async fn recover(&self, root: &Path) -> Result<()> {
        if !self.has_repo(root) {
            return Ok(());
        }
        let recover = |repo: &SideRepo| Ok(repo.recover()?);
        for done in self.with_repo(root, recover).await? {
            tracing::info!(?done, "a restore that was killed is rolled back");
        }
        Ok(())
    }

    fn has_repo(&self, worktree: &Path) -> bool {
        match worktree == Path::new(OUTSIDE) {
            true => self.has_outside(),
            false => SideRepo::exists(&self.data_dir, worktree),
        }
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
            Err(why) => Err(ReviewError::refused(format!(
                "There are no snapshots of this folder: {why}"
            ))),
        });
        done.await
            .map_err(|error| ReviewError::refused(error.to_string()))?
    }

    /// The owners of a work tree's snapshots and the bytes on disk; `None` if no snapshot was
    /// ever taken.
    pub async fn usage(&self, worktree: &Path) -> Result<Option<(BTreeSet<String>, u64)>> {
        if !self.has_repo(worktree) {
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

    /// Whether images of files outside of all projects were ever kept.
    pub fn has_outside(&self) -> bool {
        SideRepo::has_images(&self.data_dir)
    }

    /// Whether a work tree has a repository, or can have one.
    pub async fn is_covered(&self, worktree: &Path) -> Result<(), NoSnapshot> {
        if worktree.parent().is_none() {
            return Err(NoSnapshot::from(Refused::RootDirectory.to_string()));
        }
        let (snapshots, worktree) = (self.clone(), worktree.to_owned());
        let opened = tokio::task::spawn_blocking(move || snapshots.repo(&worktree).map(drop));
        opened
            .await
            .unwrap_or_else(|error| Err(NoSnapshot::from(error.to_string())))
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
        let opened = match worktree == Path::new(OUTSIDE) {
            true => SideRepo::open_for_images(&self.data_dir),
            false => SideRepo::open_with(&self.data_dir, worktree, self.options.clone()),
        };
        let opened = opened.map(Arc::new);
        let is_final = opened.as_ref().map_or_else(is_permanent, |_| true);
        let opened = opened.map_err(|refused| {
            tracing::info!(%refused, "this tree is not snapshotted");
            NoSnapshot::from(refused.to_string())
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
        let text = match error {
            SnapshotError::OverLimit { limit } => format!(
                "the snapshots of this project take {}, the most they may. Delete old sessions of \
                 the project permanently to make room",
                in_units(*limit)
            ),
            SnapshotError::DiskNearlyFull { keep } => format!(
                "less than {} is free on the disk. Free some space there",
                in_units(*keep)
            ),
            other => other.to_string(),
        };
        NoSnapshot {
            text,
            is_full: matches!(error, SnapshotError::OverLimit { .. }),
        }
    }
}

/// The bytes that must stay free on the disk, as a person with a small disk has set them.
fn keep_free(megabytes: Option<&str>) -> Option<u64> {
    let megabytes: u64 = megabytes?.trim().parse().ok()?;
    megabytes.checked_mul(1 << 20)
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

    #[test]
    fn less_may_be_kept_free_and_what_is_not_a_number_changes_nothing() {
        let read = [None, Some("500"), Some(" 0 "), Some("much"), Some("-1")].map(keep_free);
        assert_eq!(read, [None, Some(500 << 20), Some(0), None, None]);
    }

    #[test]
    fn the_room_that_is_kept_free_is_said_as_it_was_set() {
        let said = [500 << 20, 5 << 30].map(|keep| {
            let full = SnapshotError::DiskNearlyFull { keep };
            NoSnapshot::new(&full).to_string()
        });
        let sentence =
            |room| format!("less than {room} is free on the disk. Free some space there");
        assert_eq!(said, ["500 MB", "5 GB"].map(sentence));
    }

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
