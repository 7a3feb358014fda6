//! Worktrees: a second checkout of a repository, in which a session works by itself.
//!
//! The worktree of a fork starts empty: the caller writes the files from a snapshot, byte for byte
//! as they were at the fork.

use std::path::{Path, PathBuf};

use lathe_protocol::ProjectId;
use lathe_protocol::ipc::WorktreeView;
use lathe_records::{Failed, Records, Result};

use super::Git;

/// What a new worktree has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The files of the newest commit.
    Files,
    /// Nothing but the index: the caller writes the files.
    Index,
}

/// Makes a folder beside the project's, as a worktree on a new branch.
pub async fn create(git: &Git, name: &str, start: Start) -> Result<PathBuf> {
    let folder = folder_for(git.folder(), name)?;
    let branch = format!("lathe/{name}");
    let place = folder.display().to_string();
    let mut args = vec!["worktree", "add", "--quiet"];
    if start == Start::Index {
        args.push("--no-checkout");
    }
    args.extend(["-b", &branch, &place, "HEAD"]);
    let made = git.run(&args).await;
    made.map_err(|error| Failed::refused(format!("git made no worktree: {error}")))?;
    if start == Start::Index {
        // Files that git writes would pass through filters.
        git.at(&folder).run(&["read-tree", "HEAD"]).await?;
    }
    Ok(folder)
}

/// Stores the folder as one of the project's checkouts.
pub async fn register(records: &Records, id: &ProjectId, folder: &Path) -> Result<()> {
    let folder = folder.display().to_string();
    change_checkouts(records, id, |checkouts| {
        if !checkouts.contains(&folder) {
            checkouts.push(folder);
        }
    })
    .await
}

/// The folder is no longer one of them.
pub async fn forget(records: &Records, id: &ProjectId, folder: &Path) -> Result<()> {
    let folder = folder.display().to_string();
    change_checkouts(records, id, |checkouts| {
        checkouts.retain(|one| *one != folder)
    })
    .await
}

async fn change_checkouts(
    records: &Records,
    id: &ProjectId,
    change: impl FnOnce(&mut Vec<String>),
) -> Result<()> {
    let store = records.store();
    let project = store.project(id).await?;
    let mut project = project.ok_or_else(|| Failed::missing("project", id.as_str()))?;
    change(project.sandboxes.get_or_insert_default());
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

impl Git {
    /// What the worktree is of; `None` in the original checkout.
    pub async fn worktree(&self) -> Result<Option<WorktreeView>> {
        let dirs = self
            .line(&[
                "rev-parse",
                "--path-format=absolute",
                "--git-dir",
                "--git-common-dir",
                "--show-toplevel",
            ])
            .await?;
        let mut dirs = dirs.lines().map(PathBuf::from);
        let (Some(own), Some(common), Some(folder)) = (dirs.next(), dirs.next(), dirs.next())
        else {
            return Ok(None);
        };
        if own == common {
            return Ok(None);
        }
        let Some(original) = common.parent().filter(|_| common.ends_with(".git")) else {
            return Ok(None);
        };
        let there = self.at(original);
        let branch = |git: Git| async move {
            git.line(&["symbolic-ref", "--short", "--quiet", "HEAD"])
                .await
                .ok()
        };
        let status = self.status().await?;
        let range = format!("{}..HEAD", there.line(&["rev-parse", "HEAD"]).await?);
        let commits = self.line(&["rev-list", "--count", &range]).await?;
        Ok(Some(WorktreeView {
            folder: folder.display().to_string(),
            branch: branch(self.clone()).await,
            original: original.display().to_string(),
            original_branch: branch(there).await,
            commits: commits.parse().unwrap_or(0),
            uncommitted: status.staged.max(status.unstaged) + status.untracked + status.conflicts,
        }))
    }

    /// The commit that the worktree and its original have in common.
    pub async fn common_commit(&self, original: &Path) -> Result<String> {
        let there = self.at(original).line(&["rev-parse", "HEAD"]).await?;
        self.line(&["merge-base", "HEAD", &there]).await
    }

    /// The files that a merge of a commit would leave in conflict.
    pub async fn merge_conflicts(&self, commit: &str) -> Result<Vec<String>> {
        let args = [
            "merge-tree",
            "--write-tree",
            "--name-only",
            "-z",
            "--no-messages",
            "HEAD",
            commit,
        ];
        let merged = self.run_any(&args).await?;
        let names = merged.split(|byte| *byte == 0).skip(1);
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(names.filter(|name| !name.is_empty()).collect())
    }

    /// Merges a commit; `sides` says for each file in conflict whether the other side is taken.
    pub async fn merge(&self, commit: &str, sides: &[(String, bool)]) -> Result<()> {
        let merged = self.run(&["merge", "--no-edit", "--quiet", commit]).await;
        let Err(error) = merged else {
            return Ok(());
        };
        let done = self.settle(sides).await;
        if done.is_err() {
            // Nothing stays half merged. Git refuses this if it had not begun.
            let _ = self.run(&["merge", "--abort"]).await;
            return Err(error);
        }
        Ok(())
    }

    async fn settle(&self, sides: &[(String, bool)]) -> Result<()> {
        for (path, other) in sides {
            let side = if *other { "--theirs" } else { "--ours" };
            self.run(&["--literal-pathspecs", "checkout", side, "--", path])
                .await?;
            self.run(&["--literal-pathspecs", "add", "--", path])
                .await?;
        }
        self.run(&["commit", "--no-edit", "--quiet"])
            .await
            .map(drop)
    }

    /// Commits everything that is not committed, with new files. False if there was nothing.
    pub async fn save_all(&self, message: &str) -> Result<bool> {
        let status = self.status().await?;
        if status.staged + status.unstaged + status.untracked + status.conflicts == 0 {
            return Ok(false);
        }
        self.run(&["add", "--all", "--", ":/"]).await?;
        let mut args = Vec::new();
        let name = self.line(&["config", "user.name"]).await;
        let mail = self.line(&["config", "user.email"]).await;
        if name.is_err() || mail.is_err() {
            args.extend(["-c", "user.name=Lathe", "-c", "user.email=lathe@localhost"]);
        }
        args.extend(["commit", "--quiet", "--no-verify", "--message", message]);
        self.run(&args).await?;
        Ok(true)
    }
}
