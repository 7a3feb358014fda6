//! The default branch, and where the current one left it.

use super::Git;

/// Where no remote says what its default branch is.
const USUAL: [&str; 2] = ["main", "master"];

impl Git {
    /// The name of the branch that others start from.
    pub async fn default_branch(&self) -> Option<String> {
        let remote = [
            "symbolic-ref",
            "--quiet",
            "--short",
            "refs/remotes/origin/HEAD",
        ];
        if let Ok(name) = self.line(&remote).await
            && let Some(name) = name.strip_prefix("origin/")
        {
            return Some(name.to_owned());
        }
        for name in USUAL {
            let branch = format!("refs/heads/{name}");
            let exists = ["show-ref", "--verify", "--quiet", &branch];
            if self.run(&exists).await.is_ok() {
                return Some(name.to_owned());
            }
        }
        None
    }

    /// The newest commit that the current branch shares with the default one; without one, the
    /// newest commit.
    pub async fn branched_from(&self) -> Option<String> {
        if let Some(branch) = self.default_branch().await {
            for name in [
                format!("refs/remotes/origin/{branch}"),
                format!("refs/heads/{branch}"),
            ] {
                if let Ok(commit) = self.line(&["merge-base", "HEAD", &name]).await {
                    return Some(commit);
                }
            }
        }
        self.head().await
    }
}
