//! What is shown of a scope: its files, and the shape and the rows of one file.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Changes;
use crate::git::sentences;
use lathe_protocol::ipc::{ReviewFile, ReviewFileDiff, ReviewFiles, ReviewScope};
use lathe_protocol::view::DiffRow;
use lathe_protocol::{MessageId, Part, PartId, Session, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::judge::contents_of;
use lathe_review::record::{Action, ReviewRecord};
use lathe_review::scope::{
    self, Contents, FoldReasonOf, Look, MOST_ROWS, ScopeFiles, Source, kept_lines, steps_in,
};
use lathe_snapshot::{SideRepo, TreeId};

/// A scope, with where it was read.
pub(crate) struct Opened {
    pub session: Session,
    pub worktree: PathBuf,
    pub files: Arc<ScopeFiles>,
    /// What differs, but is only named: one sentence each.
    pub not_shown: Vec<String>,
}

impl Changes {
    /// The files of a scope, in path order.
    pub async fn review_files(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        fold: FoldReasonOf,
    ) -> Result<ReviewFiles> {
        let opened = self.open_scope(id, scope).await?;
        let record = self.review.record(id).await?;
        let next = self.next(&opened.session, &record).await?;
        let comments = self.comment_views(id, &record).await?;
        let session = match scope {
            ReviewScope::Turn { .. } | ReviewScope::Step { .. } | ReviewScope::Until { .. } => {
                Some(self.open_scope(id, &ReviewScope::Session).await?.files)
            }
            _ => None,
        };
        let files = self.describe(&opened, session, record, fold).await?;
        let messages = self.sessions.visible_messages(&opened.session).await?;
        let within = scope::within(&messages, scope);
        let unseen = self.review.unseen(&messages, &opened.files, within).await?;
        self.watch_review(id, &opened.worktree, &files);
        Ok(ReviewFiles {
            session_id: id.clone(),
            scope: scope.clone(),
            additions: files.iter().map(|file| file.additions).sum(),
            deletions: files.iter().map(|file| file.deletions).sum(),
            files,
            comments,
            undo: next.undo.as_ref().map(Action::view),
            redo: next.redo.as_ref().map(Action::view),
            unknown: unseen.unknown,
            not_shown: [opened.not_shown, unseen.not_shown].concat(),
        })
    }

    pub(crate) async fn describe(
        &self,
        opened: &Opened,
        session: Option<Arc<ScopeFiles>>,
        record: ReviewRecord,
        fold: FoldReasonOf,
    ) -> Result<Vec<ReviewFile>> {
        let (review, files) = (self.review.clone(), opened.files.clone());
        let describe = move |repo: &SideRepo| {
            let look = Look {
                kept: &record.kept,
                viewed: &record.viewed,
                fold,
                recent: &review.recent,
                session: session.as_deref(),
            };
            scope::describe(repo, &files, &look)
        };
        let snapshots = &self.review.snapshots;
        Ok(snapshots.with_repo(&opened.worktree, describe).await?)
    }

    /// The shape of one file's diff.
    pub async fn review_file(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        path: &str,
        ignore_space: bool,
    ) -> Result<ReviewFileDiff> {
        let opened = self.open_scope(id, scope).await?;
        let contents = self.newest_contents(&opened, path).await?;
        let record = self.review.record(id).await?;
        blocking(move || {
            let kept = kept_lines(&contents, record.marks(&contents.path.to_string()));
            scope::shape(&contents, &kept, ignore_space)
        })
        .await
    }

    /// Some rows of one hunk, with the contents that they are of.
    pub async fn review_rows(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        (path, version): (&str, &str),
        ignore_space: bool,
        hunk: usize,
        window: Range<usize>,
    ) -> Result<(Arc<Contents>, Vec<DiffRow>)> {
        let contents = self.shown_contents(id, scope, path, version).await?;
        let window = window.start..window.end.min(window.start + MOST_ROWS);
        blocking(move || {
            let rows = scope::rows(&contents, ignore_space, hunk, window);
            (contents, rows)
        })
        .await
    }

    /// Unchanged lines by their numbers in the new content.
    pub async fn review_context(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        (path, version): (&str, &str),
        lines: Range<usize>,
    ) -> Result<(Arc<Contents>, Vec<DiffRow>)> {
        let contents = self.shown_contents(id, scope, path, version).await?;
        blocking(move || {
            let rows = scope::context(&contents, lines);
            (contents, rows)
        })
        .await
    }

    /// Both contents of a file as they are now in the scope.
    pub async fn review_contents(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        path: &str,
    ) -> Result<Arc<Contents>> {
        let opened = self.open_scope(id, scope).await?;
        self.newest_contents(&opened, path).await
    }

    /// The contents of a version that was shown, also if there is a newer one.
    pub(crate) async fn shown_contents(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        path: &str,
        version: &str,
    ) -> Result<Arc<Contents>> {
        let known = self.review.recent.lock().find(path, version);
        if let Some(known) = known {
            return Ok(known);
        }
        let opened = self.open_scope(id, scope).await?;
        let (review, files) = (self.review.clone(), opened.files.clone());
        let (path, version) = (path.to_owned(), version.to_owned());
        let read =
            move |repo: &SideRepo| contents_of(repo, &review.recent, &files, &path, &version);
        let snapshots = &self.review.snapshots;
        Ok(snapshots.with_repo(&opened.worktree, read).await?)
    }

    async fn newest_contents(&self, opened: &Opened, path: &str) -> Result<Arc<Contents>> {
        let file = opened.files.find(path).cloned();
        let file = file.ok_or_else(|| Failed::missing("changed file", path))?;
        let review = self.review.clone();
        let read = move |repo: &SideRepo| Contents::cached(&review.recent, repo, &file);
        let snapshots = &self.review.snapshots;
        Ok(snapshots.with_repo(&opened.worktree, read).await?)
    }

    pub(crate) async fn open_scope(&self, id: &SessionId, scope: &ReviewScope) -> Result<Opened> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let mut not_shown = Vec::new();
        let source = match scope {
            ReviewScope::Snapshot {
                message_id,
                part_id,
            } => Source::Since(self.snapshot_tree(message_id, part_id).await?),
            ReviewScope::Uncommitted => {
                let (before, left_out) = self.committed(&session).await?;
                not_shown = sentences(&left_out);
                Source::Contents(before)
            }
            scope => {
                let messages = self.sessions.visible_messages(&session).await?;
                Source::Steps(steps_in(&messages, scope)?)
            }
        };
        let files = self.review.list(id, &worktree, source).await?;
        Ok(Opened {
            session,
            worktree,
            files,
            not_shown,
        })
    }

    async fn snapshot_tree(&self, message: &MessageId, part: &PartId) -> Result<TreeId> {
        let found = self.records.store().part(message, part).await?;
        let tree = match found {
            Some(Part::Snapshot(part)) => part.snapshot.parse().ok(),
            _ => None,
        };
        tree.ok_or_else(|| Failed::missing("snapshot", part.as_str()))
    }

    /// Marks a version of a file as viewed, or as not viewed.
    pub async fn set_viewed(
        &self,
        id: &SessionId,
        path: &str,
        version: Option<String>,
    ) -> Result<()> {
        let edit = self.review.edit_record(id, |record| {
            match version {
                Some(version) => record.viewed.insert(path.to_owned(), version),
                None => record.viewed.remove(path),
            };
            Ok(())
        });
        edit.await?;
        self.review_changed(id, vec![path.to_owned()]);
        Ok(())
    }
}

/// Comparing texts takes a while, so it must not block the async runtime.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Failed::refused(error.to_string()))
}
