//! A git worktree for a fork, so that two sessions can work side by side.
//!
//! Git registers the worktree and its branch but checks nothing out, so no hook and no filter
//! runs. The caller writes the files from a snapshot, byte for byte as they were at the fork.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use lathe_protocol::ProjectId;
use lathe_records::{Failed, Records, Result};
use tokio::process::Command;

/// Creates an empty folder beside the project's, registered as a worktree on a new branch.
pub async fn create(root: &Path, name: &str) -> Result<PathBuf> {
    let folder = folder_for(root, name)?;
    let branch = format!("lathe/{name}");
    let place = folder.display().to_string();
    let add = [
        "worktree",
        "add",
        "--no-checkout",
        "-b",
        &branch,
        &place,
        "HEAD",
    ];
    git(root, &add).await?;
    // Only the index: files that git writes would pass through filters.
    git(&folder, &["read-tree", "HEAD"]).await?;
    Ok(folder)
}

/// Stores the folder as one of the project's checkouts.
pub async fn register(records: &Records, id: &ProjectId, folder: &Path) -> Result<()> {
    let store = records.store();
    let project = store.project(id).await?;
    let mut project = project.ok_or_else(|| Failed::missing("project", id.as_str()))?;
    let folder = folder.display().to_string();
    let sandboxes = project.sandboxes.get_or_insert_default();
    if !sandboxes.contains(&folder) {
        sandboxes.push(folder);
    }
    Ok(store.write_project(&project).await?)
}

fn folder_for(root: &Path, name: &str) -> Result<PathBuf> {
    let base = root
        .file_name()
        .map(|base| base.to_string_lossy().into_owned());
    let (Some(parent), Some(base)) = (root.parent(), base) else {
        return Err(Failed::refused("There is no folder beside this project"));
    };
    let folder = parent.join(format!("{base}-{name}"));
    if folder.exists() {
        let taken = format!("{} is already there", folder.display());
        return Err(Failed::refused(taken));
    }
    Ok(folder)
}

/// Runs git with everything disabled that a repository's own config could make it run.
async fn git(folder: &Path, args: &[&str]) -> Result<()> {
    const DISABLED: [&str; 8] = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "gc.auto=0",
        "-c",
        "maintenance.auto=false",
    ];
    let mut command = Command::new("git");
    command
        .arg("--no-pager")
        .args(DISABLED)
        .args(args)
        .current_dir(folder)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null());
    let output = command.output().await.map_err(|error| {
        Failed::refused(format!(
            "A worktree needs git, which could not be run: {error}"
        ))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let reason = stderr.lines().last().unwrap_or("it said nothing").trim();
    Err(Failed::refused(format!("git made no worktree: {reason}")))
}
