//! Which project a folder belongs to.

mod history;

pub use history::branch;

use std::path::{Path, PathBuf};

use lathe_protocol::{Extra, Millis, Project, ProjectId, ProjectTime};
use sha2::{Digest, Sha256};

use lathe_records::Records;
use lathe_records::{Failed, Result};

/// Finds the project of a folder and records it. The returned worktree is the checkout that
/// contains the folder; a project may have several.
pub async fn open(records: &Records, folder: &Path) -> Result<Project> {
    let (recorded, worktree) = look_up(records, folder).await?;
    records.store().write_project(&recorded).await?;
    Ok(Project {
        worktree,
        ..recorded
    })
}

/// Like [`open`], but records nothing.
pub async fn find(records: &Records, folder: &Path) -> Result<Project> {
    let (recorded, worktree) = look_up(records, folder).await?;
    Ok(Project {
        worktree,
        ..recorded
    })
}

/// The project as it is to be recorded, and the checkout that contains the folder.
async fn look_up(records: &Records, folder: &Path) -> Result<(Project, String)> {
    let folder = folder.to_owned();
    let projects = records.store().projects().await?.items;
    let found = tokio::task::spawn_blocking(move || identify(&folder, &projects)).await;
    let found = found.map_err(|error| Failed::refused(error.to_string()))??;
    let now = records.now();
    let known = records.store().project(&found.id).await?;
    let worktree = found.worktree.display().to_string();
    Ok((merge(known, found, now), worktree))
}

struct Found {
    id: ProjectId,
    worktree: PathBuf,
    vcs: Option<&'static str>,
}

fn identify(folder: &Path, known: &[Project]) -> Result<Found> {
    let canonical = folder.canonicalize().map_err(|error| {
        Failed::refused(format!(
            "The folder {} can’t be opened: {error}",
            folder.display()
        ))
    })?;
    if !canonical.is_dir() {
        return Err(Failed::refused(format!(
            "{} is not a folder",
            folder.display()
        )));
    }
    // Paths are stored as text: any other name would lead to a different folder.
    if canonical.to_str().is_none() {
        return Err(Failed::refused(format!(
            "The folder {} can’t be opened: its name is not valid text (UTF-8). Rename it first.",
            canonical.display()
        )));
    }
    let worktree = root_of(&canonical);
    let root = worktree.join(".git").exists().then_some(&*worktree);
    let vcs = root.map(|_| "git");
    // Walking a long history is slow, so a known worktree keeps its id.
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

/// The project of a folder that a session names, and not a person: the folder's files are read
/// without a question, so it is one that a person opened, or at least no home folder and no place
/// of settings and keys.
pub async fn open_named(records: &Records, folder: &Path) -> Result<Project> {
    find_named(records, folder).await?;
    open(records, folder).await
}

/// Like [`open_named`], but records nothing.
pub async fn find_named(records: &Records, folder: &Path) -> Result<Project> {
    let found = find(records, folder).await?;
    let known = records.store().project(&found.id).await?;
    let opened = known.is_some_and(|project| {
        let mut sandboxes = project.sandboxes.iter().flatten();
        project.worktree == found.worktree || sandboxes.any(|one| *one == found.worktree)
    });
    if !opened && lathe_files::is_personal(Path::new(&found.worktree)) {
        return Err(Failed::refused(format!(
            "{} is no folder of a project. Open it first, if the agent may read everything in it.",
            found.worktree
        )));
    }
    Ok(found)
}

/// The repository's root above a folder, or the folder itself.
pub fn root_of(folder: &Path) -> PathBuf {
    checkout_of(folder).unwrap_or(folder).to_owned()
}

fn checkout_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| above.join(".git").exists())
}

/// The root for work in a folder: the nearest checkout that contains it, which need not be the
/// project's own worktree or the checkout that was opened last. Without git it is a root that
/// the project has recorded. Any other folder is outside the project and gets the project's
/// worktree: a session's directory may be imported data and is not trusted as a root.
pub fn root_for(directory: &Path, project: &Project) -> PathBuf {
    let sandboxes = project.sandboxes.iter().flatten();
    let known = std::iter::once(&project.worktree)
        .chain(sandboxes)
        .map(Path::new)
        .filter(|root| directory.starts_with(root));
    let nearest = known
        .chain(checkout_of(directory))
        .max_by_key(|root| root.components().count());
    nearest.unwrap_or(Path::new(&project.worktree)).to_owned()
}

/// The project id of a folder without git history.
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
            let sandboxes = project.sandboxes.get_or_insert_default();
            // While its worktree exists the project stays there: its sessions work in it.
            if !Path::new(&project.worktree).is_dir() {
                sandboxes.retain(|known| *known != worktree);
                project.worktree = worktree;
            } else if project.worktree != worktree && !sandboxes.contains(&worktree) {
                sandboxes.push(worktree);
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
