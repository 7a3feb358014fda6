//! The work tree around each step, so that what a step changed can be seen and taken back.
//!
//! A tree that cannot be taken (the home directory, a full disk) costs the step its snapshot,
//! never the turn.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_snapshot::{SideRepo, SnapshotError, TreeId};
use parking_lot::Mutex;

use crate::core::Core;
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

    /// Whose snapshots there are of a work tree; nobody's if none was ever taken.
    pub async fn labels(&self, worktree: &Path) -> Result<BTreeSet<String>> {
        if !SideRepo::exists(&self.data_dir, worktree) {
            return Ok(BTreeSet::new());
        }
        let labels = |repo: &SideRepo| {
            let all = repo.all_references()?;
            Ok(all.iter().map(|one| one.label().to_owned()).collect())
        };
        self.with(worktree, labels).await
    }

    /// Lets go of all snapshots of these owners, and of the room they took.
    pub async fn release(&self, worktree: &Path, labels: Vec<String>) -> Result<()> {
        let release = move |repo: &SideRepo| {
            for label in &labels {
                repo.release(&repo.references(label)?)?;
            }
            repo.collect_garbage()?;
            Ok(())
        };
        self.with(worktree, release).await
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

impl From<SnapshotError> for Failed {
    fn from(error: SnapshotError) -> Self {
        Failed::refused(error.to_string())
    }
}

impl Core {
    /// Drops what belongs to no session, neither one that is there nor one in the trash.
    ///
    /// A session is stored before its first snapshot is taken, so an owner that is listed and
    /// then not found is gone.
    pub async fn clean_snapshots(&self, worktree: &Path) {
        let cleaned = async {
            let mut gone = Vec::new();
            for label in self.snapshots.labels(worktree).await? {
                if !self.is_needed(&label).await? {
                    gone.push(label);
                }
            }
            if gone.is_empty() {
                return Ok(());
            }
            self.snapshots.release(worktree, gone).await
        };
        if let Err(error) = cleaned.await {
            tracing::info!(%error, "snapshots were not cleaned up");
        }
    }

    async fn is_needed(&self, label: &str) -> Result<bool> {
        let Ok(id) = SessionId::parse(label) else {
            return Ok(true);
        };
        let in_trash = self.data_dir.join("trash").join(label).exists();
        Ok(in_trash || self.records.store().session(&id).await?.is_some())
    }
}
