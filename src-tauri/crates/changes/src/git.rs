//! Git for a session: its branch, commits of what is kept, and its worktree.

use std::path::Path;

use lathe_protocol::ipc::{
    CommitDone, CommitInput, GitFolder, GitStatus, ReviewScope, ReviewSelection,
};
use lathe_protocol::{Project, Session, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::ReviewError;
use lathe_review::judge;
use lathe_review::lines::patch;
use lathe_snapshot::{FileContent, Mode, RelPath};
use lathe_workspace::git::{FileKind, Git, Indexed, in_repository};

use crate::Changes;
use crate::commit_message;
use crate::shown::{Opened, blocking};
use crate::staging::{Kept, kept_of};

impl Changes {
    /// The branch and the number of uncommitted files of each folder that sessions of a project
    /// work in.
    pub async fn git_folders(&self, project: &Project) -> Result<Vec<GitFolder>> {
        let mut sessions: Vec<Session> = Vec::new();
        for session in self.sessions.list(project).await? {
            if !sessions
                .iter()
                .any(|one| one.directory == session.directory)
            {
                sessions.push(session);
            }
        }
        let mut found = Vec::new();
        for session in sessions {
            let Some(git) = self.own_git(&session).await? else {
                continue;
            };
            if let Ok(status) = git.status().await {
                found.push(GitFolder {
                    directory: session.directory,
                    branch: status.branch,
                    uncommitted: status.staged + status.unstaged + status.untracked,
                });
            }
        }
        Ok(found)
    }

    /// `None` where there is no git.
    pub async fn git_status(&self, id: &SessionId) -> Result<Option<GitStatus>> {
        let session = self.sessions.get(id).await?;
        match self.own_git(&session).await? {
            Some(git) => Ok(Some(full_status(&git).await?)),
            None => Ok(None),
        }
    }

    /// Git where a session works; `None` if there is none, or if the repository is larger than the
    /// session's folder, as one of the home folder is: nothing outside is the session's.
    async fn own_git(&self, session: &Session) -> Result<Option<Git>> {
        let folder = self.sessions.worktree(session).await?;
        if !Path::new(&session.directory).is_dir() || !in_repository(&folder) {
            return Ok(None);
        }
        let git = self.sessions.git(&folder).await?;
        Ok(git.is_at_root().await.then_some(git))
    }

    /// Puts the kept lines of a scope into the index, and nothing else.
    pub async fn stage_kept(&self, id: &SessionId, scope: &ReviewScope) -> Result<GitStatus> {
        let opened = self.open_scope(id, scope).await?;
        let git = self.git_of(&opened.session).await?;
        let kept = self.kept(&opened).await?;
        if kept.is_empty() {
            return Err(Failed::refused("Keep some changes first"));
        }
        let paths: Vec<&[u8]> = kept.iter().map(|one| one.path.as_bytes()).collect();
        let indexed = git.indexed(&paths).await?;
        let mut files = Vec::new();
        for (one, indexed) in kept.iter().zip(indexed) {
            files.push(Indexed {
                path: one.path.as_bytes().to_vec(),
                content: one.staged(indexed)?,
            });
        }
        git.put_into_index(&files).await?;
        full_status(&git).await
    }

    pub async fn unstage_all(&self, id: &SessionId) -> Result<GitStatus> {
        let git = self.git_in(id).await?;
        git.unstage_all().await?;
        full_status(&git).await
    }

    pub async fn commit(&self, id: &SessionId, input: &CommitInput) -> Result<CommitDone> {
        let git = self.git_in(id).await?;
        // A hook may change files.
        let sessions = &self.sessions;
        sessions
            .while_folders_idle(&[git.folder()], git.commit(input))
            .await
    }

    pub async fn last_commit_message(&self, id: &SessionId) -> Result<String> {
        self.git_in(id).await?.last_message().await
    }

    /// A message for what is staged, by the project's small model.
    pub async fn draft_commit_message(&self, id: &SessionId) -> Result<String> {
        const LONGEST: usize = 24_000;
        let session = self.sessions.get(id).await?;
        let diff = self.git_in(id).await?.staged_diff(LONGEST).await?;
        if diff.is_empty() {
            return Err(Failed::refused("Nothing is staged"));
        }
        commit_message::draft(&self.sessions, &session, diff).await
    }

    /// Puts everything aside that is not committed. Refused while a turn is running in the folder.
    pub async fn stash(&self, id: &SessionId, message: &str) -> Result<GitStatus> {
        let git = self.git_in(id).await?;
        let sessions = &self.sessions;
        sessions
            .while_folders_idle(&[git.folder()], git.stash(message))
            .await?;
        full_status(&git).await
    }

    pub async fn unstash(&self, id: &SessionId) -> Result<GitStatus> {
        let git = self.git_in(id).await?;
        let sessions = &self.sessions;
        sessions
            .while_folders_idle(&[git.folder()], git.unstash())
            .await?;
        full_status(&git).await
    }

    /// The changes of a scope as a patch that `git apply` takes.
    pub async fn patch_text(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        kept_only: bool,
    ) -> Result<String> {
        let opened = self.open_scope(id, scope).await?;
        let review = &self.review;
        let all = ReviewSelection::All;
        let targets = review
            .targets(&opened.worktree, &opened.files, &all)
            .await?;
        let record = review.record(id).await?;
        blocking(move || {
            let mut text = String::new();
            for target in &targets {
                let contents = &*target.contents;
                let path = contents.path.to_string();
                let new = match kept_only {
                    true => judge::only_kept(contents, record.marks(&path)),
                    false => contents.new.clone(),
                };
                let from = contents.from.as_ref().map(ToString::to_string);
                let (from, old) = (from.as_deref(), contents.old.as_ref());
                text.push_str(&patch::file(&path, from, old, new.as_ref())?);
            }
            Ok::<String, ReviewError>(text)
        })
        .await?
        .map_err(Failed::from)
    }

    pub(crate) async fn git_in(&self, id: &SessionId) -> Result<Git> {
        let session = self.sessions.get(id).await?;
        self.git_of(&session).await
    }

    async fn git_of(&self, session: &Session) -> Result<Git> {
        let git = self.own_git(session).await?;
        git.ok_or_else(|| Failed::refused("This folder is not the root of a git repository"))
    }

    /// The committed content of every file that differs from it, and what is only named.
    pub(crate) async fn committed(&self, session: &Session) -> Result<(Before, LeftOut)> {
        let git = self.git_of(session).await?;
        let head = git.head().await;
        contents_since(&git, head.as_deref()).await
    }

    async fn kept(&self, opened: &Opened) -> Result<Vec<Kept>> {
        let review = &self.review;
        let all = ReviewSelection::All;
        let targets = review
            .targets(&opened.worktree, &opened.files, &all)
            .await?;
        let record = review.record(&opened.session.id).await?;
        blocking(move || {
            let each = targets.iter().flat_map(|target| {
                let contents = &*target.contents;
                kept_of(contents, record.marks(&contents.path.to_string()))
            });
            each.collect()
        })
        .await
    }
}

async fn full_status(git: &Git) -> Result<GitStatus> {
    let mut status = git.status().await?;
    status.worktree = git.worktree().await.unwrap_or_default();
    status.untrusted = !git.is_trusted();
    Ok(status)
}

/// Files with what they had in a commit.
pub(crate) type Before = Vec<(RelPath, Option<FileContent>)>;

/// Files that are only named, each with the reason.
pub(crate) type LeftOut = Vec<(String, &'static str)>;

/// What a person reads instead of these files.
pub(crate) fn sentences(left_out: &[(String, &'static str)]) -> Vec<String> {
    let each = left_out.iter();
    each.map(|(path, why)| format!("{path} is not shown: {why}"))
        .collect()
}

/// What differs from a commit, and what of it is only named.
pub(crate) async fn contents_since(git: &Git, commit: Option<&str>) -> Result<(Before, LeftOut)> {
    let changed = git.changed_since(commit).await?;
    let each = changed.files.into_iter().filter_map(|file| {
        let content = file.content.map(|(kind, bytes)| {
            let mode = match kind {
                FileKind::File => Mode::File,
                FileKind::Executable => Mode::Executable,
                FileKind::Link => Mode::Link,
            };
            FileContent::of_kind(mode, bytes)
        });
        Some((RelPath::new(&file.path).ok()?, content))
    });
    let named = |path: &[u8]| match RelPath::new(path) {
        Ok(path) => path.to_string(),
        Err(_) => String::from_utf8_lossy(path).into_owned(),
    };
    let left_out = changed.left_out.iter();
    let left_out = left_out.map(|(path, why)| (named(path), *why)).collect();
    Ok((each.collect(), left_out))
}
