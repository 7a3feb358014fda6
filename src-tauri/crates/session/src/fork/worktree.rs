//! A git worktree of its own, so that two sessions can work side by side.
//!
//! Git registers the worktree and its branch; it checks nothing out, runs no hook and no
//! filter. The files come from a snapshot, byte for byte, as they were at the fork.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use lathe_records::{Failed, Result};

/// A new folder beside the project's, on a branch of its own. It is still empty.
pub async fn add(root: &Path, name: &str) -> Result<PathBuf> {
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
    // The index alone: what git would write passes through filters.
    git(&folder, &["read-tree", "HEAD"]).await?;
    Ok(folder)
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

/// Git, with everything switched off that a repository's own config could make it run.
async fn git(folder: &Path, args: &[&str]) -> Result<()> {
    const OFF: [&str; 8] = [
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
        .args(OFF)
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
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().last().unwrap_or("it said nothing").trim();
    Err(Failed::refused(format!("git made no worktree: {said}")))
}
