//! Worktrees: a second checkout of a repository, in which a session works by itself.
//!
//! The worktree of a fork starts empty: the caller writes the files from a snapshot, byte for byte
//! as they were at the fork.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lathe_protocol::ProjectId;
use lathe_protocol::ipc::WorktreeView;
use lathe_records::{Failed, Records, Result};

use super::{Git, os_string, reason};

/// What a new worktree has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The files of the newest commit.
    Files,
    /// Nothing but the index: the caller writes the files.
    Index,
}

/// Whose file is taken where a merge conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Ours,
    Theirs,
}

/// Makes a folder beside the project's, as a worktree on a new branch.
pub async fn create(git: &Git, name: &str, start: Start) -> Result<PathBuf> {
    let folder = folder_for(git.folder(), name)?;
    let branch = format!("lathe/{name}");
    let place = folder.display().to_string();
    let args = [
        "worktree",
        "add",
        "--quiet",
        "--no-checkout",
        "-b",
        &branch,
        &place,
        "HEAD",
    ];
    let made = git.run(&args).await;
    made.map_err(|error| Failed::refused(format!("git made no worktree: {error}")))?;
    let filled = fill(git, &folder, start).await;
    if let Err(error) = filled {
        let _ = git.run(&["worktree", "remove", "--force", &place]).await;
        let _ = git.run(&["branch", "--quiet", "-D", &branch]).await;
        return Err(error);
    }
    Ok(folder)
}

/// What holds in the original says nothing: settings can be for this worktree alone
/// (`includeIf`), so it is looked at by itself before files pass through its filters.
async fn fill(git: &Git, folder: &Path, start: Start) -> Result<()> {
    let there = Git::open(folder, git.decided.as_deref()).await?;
    let args: &[&str] = match start {
        Start::Files => &["checkout", "--quiet", "--force"],
        Start::Index => &["read-tree", "HEAD"],
    };
    there.run(args).await?;
    if start == Start::Index || there.trusted {
        return Ok(());
    }
    // The scripts that its filters name are there only now.
    let there = Git::open(folder, git.decided.as_deref()).await?;
    if there.trusted {
        there.run(&["read-tree", "--empty"]).await?;
        there.run(args).await?;
    }
    Ok(())
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

/// Removes what git keeps of a worktree whose folder is gone, and of no other one: those of the
/// person may lie on a disk that is not there now.
pub fn unregister(kept: &Path, folder: &Path) -> std::io::Result<()> {
    let named = std::fs::read_to_string(kept.join("gitdir"))?;
    let is_worktree = kept
        .parent()
        .is_some_and(|above| above.ends_with("worktrees"));
    if !is_worktree || Path::new(named.trim_end()).parent() != Some(folder) {
        return Err(std::io::Error::other("git knows another folder for it"));
    }
    std::fs::remove_dir_all(kept)
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
        let there = Git::open(original, None).await?;
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
        let there = Git::open(original, None).await?;
        let there = there.line(&["rev-parse", "HEAD"]).await?;
        self.line(&["merge-base", "HEAD", &there]).await
    }

    /// The files that a merge of a commit would leave in conflict; `None` if this git cannot tell
    /// (before 2.38).
    pub async fn merge_conflicts(&self, commit: &str) -> Result<Option<Vec<String>>> {
        const USAGE: i32 = 129;
        let args = [
            "merge-tree",
            "--write-tree",
            "--name-only",
            "-z",
            "--no-messages",
            "HEAD",
            commit,
        ];
        let output = self.output(&args, Vec::new()).await?;
        match output.status.code() {
            Some(0 | 1) => {
                let names = output.stdout.split(|byte| *byte == 0).skip(1);
                let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
                Ok(Some(names.filter(|name| !name.is_empty()).collect()))
            }
            Some(USAGE) => Ok(None),
            _ => Err(Failed::refused(reason(
                &args,
                &output.stderr,
                &output.stdout,
            ))),
        }
    }

    /// Merges a commit; `sides` says for each file in conflict which one is taken.
    pub async fn merge(&self, commit: &str, sides: &BTreeMap<String, Side>) -> Result<()> {
        self.ensure_inner_settings().await?;
        let merged = self.run(&["merge", "--no-edit", "--quiet", commit]).await;
        let Err(error) = merged else {
            return Ok(());
        };
        let settled = match self.unmerged().await {
            // No conflict: a hook has refused it, or it could not begin.
            Ok(files) if files.is_empty() => Err(error),
            Ok(files) => self.settle(files, sides).await,
            Err(error) => Err(error),
        };
        if settled.is_err() {
            // Nothing stays half merged. Git refuses this if it had not begun.
            let _ = self.run(&["merge", "--abort"]).await;
        }
        settled
    }

    /// The files in conflict, each with the sides that have one.
    async fn unmerged(&self) -> Result<BTreeMap<Vec<u8>, BTreeSet<Side>>> {
        let listed = self.run(&["ls-files", "-z", "--unmerged"]).await?;
        let mut files: BTreeMap<Vec<u8>, BTreeSet<Side>> = BTreeMap::new();
        for entry in listed.split(|byte| *byte == 0) {
            let mut parts = entry.splitn(2, |byte| *byte == b'\t');
            let (Some(head), Some(path)) = (parts.next(), parts.next()) else {
                continue;
            };
            let sides = files.entry(path.to_vec()).or_default();
            match head.last() {
                Some(b'2') => drop(sides.insert(Side::Ours)),
                Some(b'3') => drop(sides.insert(Side::Theirs)),
                _ => {}
            }
        }
        Ok(files)
    }

    async fn run_on(&self, args: &[&str], path: &OsStr) -> Result<()> {
        let mut all: Vec<&OsStr> = vec![OsStr::new("--literal-pathspecs")];
        all.extend(args.iter().map(OsStr::new));
        all.extend([OsStr::new("--"), path]);
        self.run(&all).await.map(drop)
    }

    async fn settle(
        &self,
        files: BTreeMap<Vec<u8>, BTreeSet<Side>>,
        sides: &BTreeMap<String, Side>,
    ) -> Result<()> {
        for (path, there) in files {
            let name = String::from_utf8_lossy(&path).into_owned();
            let side = sides.get(&name).ok_or_else(|| {
                Failed::refused(format!("{name} conflicts, and isn’t decided yet. Refresh"))
            })?;
            let path = os_string(&path)?;
            if !there.contains(side) {
                // That side has removed it.
                self.run_on(&["rm", "--quiet", "--force"], &path).await?;
                continue;
            }
            let side = match side {
                Side::Ours => "--ours",
                Side::Theirs => "--theirs",
            };
            self.run_on(&["checkout", side], &path).await?;
            self.run_on(&["add"], &path).await?;
        }
        self.run(&["commit", "--no-edit", "--quiet"])
            .await
            .map(drop)
    }

    /// Why the worktree cannot be removed now.
    pub async fn worktree_in_use(&self) -> Result<Option<&'static str>> {
        if self.status().await?.operation.is_some() {
            return Ok(Some("A merge or rebase is half done in it. End it first"));
        }
        let locked = self.git_dir().await?.join("locked").exists();
        Ok(locked.then_some("It is locked with git worktree lock"))
    }

    /// Commits everything that is not committed, with new files. False if there was nothing.
    pub async fn save_all(&self, message: &str) -> Result<bool> {
        let status = self.status().await?;
        if status.staged + status.unstaged + status.untracked + status.conflicts == 0 {
            return Ok(false);
        }
        self.ensure_inner_settings().await?;
        let list = [
            "ls-files",
            "-z",
            "--modified",
            "--others",
            "--exclude-standard",
        ];
        let listed = self.run(&list).await?;
        let paths = listed.split(|byte| *byte == 0);
        let paths: Vec<&[u8]> = paths.filter(|path| !path.is_empty()).collect();
        self.ensure_filters(&paths).await?;
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
