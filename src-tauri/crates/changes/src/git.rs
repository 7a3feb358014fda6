//! Git for a session: its branch, commits of what is kept, and its worktree.

use std::path::Path;

use lathe_protocol::ipc::{
    CommitDone, CommitInput, GitFolder, GitStatus, ReviewScope, ReviewSelection,
};
use lathe_protocol::{Project, Session, SessionId, SessionStatus};
use lathe_records::{Failed, Result};
use lathe_review::judge;
use lathe_review::lines::merge::merge;
use lathe_review::lines::patch;
use lathe_snapshot::{FileContent, Mode, RelPath};
use lathe_workspace::git::{FileKind, Git, Indexed, in_repository};

use crate::Changes;
use crate::commit_message;
use crate::shown::{Opened, blocking};

impl Changes {
    /// The branch and the number of uncommitted files of each folder that sessions of a project
    /// work in.
    pub async fn git_folders(&self, project: &Project) -> Result<Vec<GitFolder>> {
        let mut folders: Vec<String> = Vec::new();
        for session in self.sessions.list(project).await? {
            if !folders.contains(&session.directory) {
                folders.push(session.directory);
            }
        }
        let mut found = Vec::new();
        for directory in folders {
            let path = Path::new(&directory);
            if !path.is_dir() || !in_repository(path) {
                continue;
            }
            let git = self.sessions.git(&project.id, path).await?;
            if let Ok(status) = git.status().await {
                found.push(GitFolder {
                    directory,
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
        let folder = self.sessions.worktree(&session).await?;
        if !folder.is_dir() || !in_repository(&folder) {
            return Ok(None);
        }
        let git = self.sessions.git(&session.project_id, &folder).await?;
        Ok(Some(full_status(&git).await?))
    }

    /// Puts the kept lines of a scope into the index, and nothing else.
    pub async fn stage_kept(&self, id: &SessionId, scope: &ReviewScope) -> Result<GitStatus> {
        let opened = self.open_scope(id, scope).await?;
        let git = self.git_of(&opened.session, &opened.worktree).await?;
        let wanted = self.kept_contents(&opened).await?;
        if wanted.is_empty() {
            return Err(Failed::refused("Keep some changes first"));
        }
        let paths: Vec<&str> = wanted.iter().map(|one| one.path.as_str()).collect();
        let indexed = git.indexed(&paths).await?;
        let mut files = Vec::new();
        for (one, indexed) in wanted.into_iter().zip(indexed) {
            let content = one.merged(indexed)?;
            files.push(Indexed {
                path: one.path,
                content,
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
        self.git_in(id).await?.commit(input).await
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

    /// Puts everything aside that is not committed. Refused while a turn is running.
    pub async fn stash(&self, id: &SessionId, message: &str) -> Result<GitStatus> {
        self.ensure_idle(id)?;
        let git = self.git_in(id).await?;
        git.stash(message).await?;
        full_status(&git).await
    }

    pub async fn unstash(&self, id: &SessionId) -> Result<GitStatus> {
        self.ensure_idle(id)?;
        let git = self.git_in(id).await?;
        git.unstash().await?;
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
                text.push_str(&patch::file(
                    &path,
                    from.as_deref(),
                    contents.old.as_ref(),
                    new.as_ref(),
                ));
            }
            text
        })
        .await
    }

    pub(crate) async fn git_in(&self, id: &SessionId) -> Result<Git> {
        let session = self.sessions.get(id).await?;
        let folder = self.sessions.worktree(&session).await?;
        self.git_of(&session, &folder).await
    }

    async fn git_of(&self, session: &Session, folder: &Path) -> Result<Git> {
        if !in_repository(folder) {
            return Err(Failed::refused("This folder is not in a git repository"));
        }
        self.sessions.git(&session.project_id, folder).await
    }

    /// The committed content of every file that differs from it.
    pub(crate) async fn committed(
        &self,
        session: &Session,
        folder: &Path,
    ) -> Result<Vec<(RelPath, Option<FileContent>)>> {
        let git = self.git_of(session, folder).await?;
        let head = git.head().await;
        contents_since(&git, head.as_deref()).await
    }

    pub(crate) fn ensure_idle(&self, id: &SessionId) -> Result<()> {
        match self.sessions.status(id) {
            SessionStatus::Idle => Ok(()),
            _ => Err(Failed::Busy),
        }
    }

    async fn kept_contents(&self, opened: &Opened) -> Result<Vec<Kept>> {
        let review = &self.review;
        let all = ReviewSelection::All;
        let targets = review
            .targets(&opened.worktree, &opened.files, &all)
            .await?;
        let record = review.record(&opened.session.id).await?;
        blocking(move || {
            let mut kept = Vec::new();
            for target in &targets {
                let contents = &*target.contents;
                let path = contents.path.to_string();
                let marks = record.marks(&path);
                if marks.is_empty() {
                    continue;
                }
                let wanted = judge::only_kept(contents, marks);
                if let Some(from) = &contents.from {
                    kept.push(Kept {
                        path: from.to_string(),
                        base: contents.old.clone(),
                        wanted: None,
                    });
                }
                kept.push(Kept {
                    path,
                    base: contents.old.clone(),
                    wanted,
                });
            }
            kept
        })
        .await
    }
}

/// A file with only its kept changes.
struct Kept {
    path: String,
    base: Option<FileContent>,
    wanted: Option<FileContent>,
}

impl Kept {
    /// The kept changes in what the index already has.
    fn merged(&self, indexed: Option<(FileKind, Vec<u8>)>) -> Result<Option<(FileKind, Vec<u8>)>> {
        let Some(wanted) = &self.wanted else {
            return Ok(None);
        };
        let kind = kind(wanted.mode);
        let (Some((_, there)), Some(base)) = (indexed, &self.base) else {
            return Ok(Some((kind, wanted.bytes.clone())));
        };
        if there == base.bytes || there == wanted.bytes {
            return Ok(Some((kind, wanted.bytes.clone())));
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let texts = (text(&base.bytes), text(&there), text(&wanted.bytes));
        let (Some(base), Some(there), Some(wanted)) = texts else {
            return Err(self.in_the_way());
        };
        // Git may keep other line ends than the files on the disk have.
        let ends = |text: String| match there.contains("\r\n") {
            true => text,
            false => text.replace("\r\n", "\n"),
        };
        let merged = merge(&ends(base), &there, &ends(wanted));
        match merged.conflicts.is_empty() {
            true => Ok(Some((kind, merged.mine.into_bytes()))),
            false => Err(self.in_the_way()),
        }
    }

    fn in_the_way(&self) -> Failed {
        Failed::refused(format!(
            "What is staged of {} already changes the same lines. Unstage it first",
            self.path
        ))
    }
}

async fn full_status(git: &Git) -> Result<GitStatus> {
    let mut status = git.status().await?;
    status.worktree = git.worktree().await.unwrap_or_default();
    Ok(status)
}

pub(crate) async fn contents_since(
    git: &Git,
    commit: Option<&str>,
) -> Result<Vec<(RelPath, Option<FileContent>)>> {
    let files = git.changed_since(commit).await?.into_iter();
    let each = files.filter_map(|file| {
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
    Ok(each.collect())
}

fn kind(mode: Mode) -> FileKind {
    match mode {
        Mode::Executable => FileKind::Executable,
        Mode::Link => FileKind::Link,
        Mode::File | Mode::Folder => FileKind::File,
    }
}
