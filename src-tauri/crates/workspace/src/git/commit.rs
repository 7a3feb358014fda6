//! Commits and stashes. Hooks run only in a trusted project.

use lathe_protocol::ipc::{CommitDone, CommitInput, GitOperation};
use lathe_records::{Failed, Result};

use super::Git;

impl Git {
    /// Commits what is staged.
    pub async fn commit(&self, input: &CommitInput) -> Result<CommitDone> {
        if input.message.trim().is_empty() {
            return Err(Failed::refused("Enter a commit message"));
        }
        let mut args = vec!["commit", "--quiet", "--cleanup=whitespace", "--file=-"];
        if input.amend {
            args.push("--amend");
        }
        self.run_with(&args, input.message.clone().into_bytes())
            .await?;
        let shown = self.line(&["log", "-1", "--format=%H %s"]).await?;
        let (hash, summary) = shown.split_once(' ').unwrap_or((&shown, ""));
        Ok(CommitDone {
            hash: hash.to_owned(),
            summary: summary.to_owned(),
        })
    }

    pub async fn last_message(&self) -> Result<String> {
        self.line(&["log", "-1", "--format=%B"]).await
    }

    /// What a commit would have, shortened for a model that drafts its message.
    pub async fn staged_diff(&self, longest: usize) -> Result<String> {
        let safe = ["--cached", "--no-color", "--no-ext-diff", "--no-textconv"];
        let mut args = vec!["diff"];
        args.extend(safe);
        args.push("--stat");
        let stat = self.line(&args).await?;
        args.pop();
        let diff = self.line(&args).await?;
        let diff: String = diff.chars().take(longest).collect();
        Ok(match diff.is_empty() {
            true => String::new(),
            false => format!("{stat}\n\n{diff}"),
        })
    }

    pub async fn unstage_all(&self) -> Result<()> {
        self.ensure_nothing_half_done().await?;
        match self.head().await {
            Some(_) => self.run(&["reset", "--quiet"]).await.map(drop),
            None => self.run(&["read-tree", "--empty"]).await.map(drop),
        }
    }

    /// Puts aside everything that is not committed, with new files. In a repository of the home
    /// folder or of settings, new files stay: most of them are none of the repository.
    pub async fn stash(&self, message: &str) -> Result<()> {
        self.ensure_inner_settings().await?;
        self.ensure_nothing_half_done().await?;
        let message = match message.trim() {
            "" => "Stashed by Lathe",
            message => message,
        };
        let mut args = vec!["stash", "push", "--quiet", "--message", message];
        if !lathe_files::is_personal(self.folder()) {
            args.push("--include-untracked");
        }
        self.run(&args).await.map(drop)
    }

    /// Brings the newest stash back. Where it conflicts, git keeps it.
    pub async fn unstash(&self) -> Result<()> {
        self.ensure_nothing_half_done().await?;
        let status = self.status().await?;
        if status.staged + status.unstaged + status.conflicts > 0 {
            return Err(Failed::refused(
                "Commit or stash your changes first. They could conflict with the stash.",
            ));
        }
        self.run(&["stash", "pop", "--quiet", "--index"])
            .await
            .map(drop)
    }

    /// Resetting the index makes git forget a merge without a word: the next commit would be an
    /// ordinary one, without the other branch.
    async fn ensure_nothing_half_done(&self) -> Result<()> {
        let what = match self.operation().await? {
            None | Some(GitOperation::Bisect) => return Ok(()),
            Some(GitOperation::Merge) => "A merge",
            Some(GitOperation::Rebase) => "A rebase",
            Some(GitOperation::CherryPick) => "A cherry-pick",
            Some(GitOperation::Revert) => "A revert",
        };
        Err(Failed::refused(format!(
            "{what} is half done in git, and this would break it off. End it first"
        )))
    }
}
