//! Which project a folder belongs to.

mod history;

pub use history::branch;

use std::path::{Path, PathBuf};

use lathe_protocol::{Extra, Millis, Project, ProjectId, ProjectTime};
use sha2::{Digest, Sha256};

use crate::error::{Failed, Result};
use crate::records::Records;

/// The project of a folder, remembered from now on.
pub async fn open(records: &Records, folder: &Path) -> Result<Project> {
    let project = find(records, folder).await?;
    records.store().write_project(&project).await?;
    Ok(project)
}

/// The same without a trace.
pub async fn find(records: &Records, folder: &Path) -> Result<Project> {
    let folder = folder.to_owned();
    let projects = records.store().projects().await?.items;
    let found = tokio::task::spawn_blocking(move || identify(&folder, &projects)).await;
    let found = found.map_err(|error| Failed::refused(error.to_string()))??;
    let now = records.now();
    let known = records.store().project(&found.id).await?;
    Ok(merge(known, found, now))
}

struct Found {
    id: ProjectId,
    worktree: PathBuf,
    vcs: Option<&'static str>,
}

fn identify(folder: &Path, known: &[Project]) -> Result<Found> {
    let canonical = folder.canonicalize().map_err(|error| {
        Failed::refused(format!(
            "The folder {} cannot be opened: {error}",
            folder.display()
        ))
    })?;
    if !canonical.is_dir() {
        return Err(Failed::refused(format!(
            "{} is not a folder",
            folder.display()
        )));
    }
    let worktree = root_of(&canonical);
    let root = worktree.join(".git").exists().then_some(&*worktree);
    let vcs = root.map(|_| "git");
    // A long history takes a while to walk, so it is walked once.
    let known = known
        .iter()
        .find(|project| Path::new(&project.worktree) == worktree);
    let id = match known {
        Some(project) => project.id.clone(),
        None => {
            let commit = root.and_then(history::root_commit);
            ProjectId::parse(&commit.unwrap_or_else(|| path_hash(&worktree)))?
        }
    };
    Ok(Found { id, worktree, vcs })
}

/// The repository's root above a folder, or the folder itself.
pub fn root_of(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|above| above.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

/// For folders without a history.
fn path_hash(path: &Path) -> String {
    let digest = Sha256::digest(path.to_string_lossy().as_bytes());
    digest
        .iter()
        .take(20)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn merge(known: Option<Project>, found: Found, now: Millis) -> Project {
    let worktree = found.worktree.display().to_string();
    match known {
        Some(mut project) => {
            // A further worktree of a project is not where the project lives.
            let further = found.worktree.join(".git").is_file();
            if !further || !Path::new(&project.worktree).is_dir() {
                project.worktree = worktree;
            } else if project.worktree != worktree {
                let sandboxes = project.sandboxes.get_or_insert_default();
                if !sandboxes.contains(&worktree) {
                    sandboxes.push(worktree);
                }
            }
            project.vcs = found.vcs.map(str::to_owned);
            project.time.updated = Some(now);
            project
        }
        None => Project {
            id: found.id,
            worktree,
            vcs: found.vcs.map(str::to_owned),
            name: None,
            time: ProjectTime {
                created: now,
                updated: Some(now),
                initialized: None,
                extra: Extra::default(),
            },
            sandboxes: Some(Vec::new()),
            extra: Extra::default(),
        },
    }
}
