//! Comments of a person on changed lines.

use std::sync::Arc;

use lathe_protocol::ipc::{
    CommentState, DiffComment, DiffSide, NewComment, PromptInput, ReviewActionKind, ReviewComment,
    ReviewDone, ReviewScope,
};
use lathe_protocol::{MessageId, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::comments;
use lathe_review::record::{Comment, ReviewRecord};
use lathe_review::scope::{Contents, ScopeFiles};
use lathe_snapshot::{RelPath, SideRepo};

use crate::Changes;

impl Changes {
    pub async fn add_comment(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        comment: NewComment,
    ) -> Result<ReviewDone> {
        let contents = self
            .shown_contents(id, scope, &comment.path, &comment.version)
            .await?;
        let records = &self.records;
        let (key, time) = (records.ids().part(records.now()), records.now());
        let new = comments::new(key.to_string(), time, scope, &contents, comment)?;
        self.change_comment(id, key.as_str(), |_| {
            Ok((ReviewActionKind::Comment, Some(new)))
        })
        .await
    }

    pub async fn edit_comment(&self, id: &SessionId, key: &str, text: &str) -> Result<ReviewDone> {
        self.change_comment(id, key, |before| {
            let mut comment = found(before, key)?;
            text.clone_into(&mut comment.text);
            Ok((ReviewActionKind::Comment, Some(comment)))
        })
        .await
    }

    pub async fn remove_comment(&self, id: &SessionId, key: &str) -> Result<ReviewDone> {
        self.change_comment(id, key, |before| {
            found(before, key)?;
            Ok((ReviewActionKind::Comment, None))
        })
        .await
    }

    pub async fn resolve_comment(
        &self,
        id: &SessionId,
        key: &str,
        resolved: bool,
    ) -> Result<ReviewDone> {
        self.change_comment(id, key, |before| {
            let mut comment = found(before, key)?;
            let (kind, state) = match resolved {
                true => (ReviewActionKind::Resolve, CommentState::Resolved),
                false => (ReviewActionKind::Reopen, CommentState::Open),
            };
            comment.state = state;
            Ok((kind, Some(comment)))
        })
        .await
    }

    async fn change_comment(
        &self,
        id: &SessionId,
        key: &str,
        edit: impl FnOnce(Option<&Comment>) -> lathe_review::Result<(ReviewActionKind, Option<Comment>)>,
    ) -> Result<ReviewDone> {
        self.sessions.get(id).await?;
        let changed = self.review.edit_comment(id, key, edit).await?;
        self.review_done(id, Vec::new(), changed).await
    }

    /// Sends all open comments to the agent as one prompt.
    pub async fn send_comments(&self, id: &SessionId, text: &str) -> Result<MessageId> {
        // Another window may be sending the same ones.
        let _sending = self.sending.lock().await;
        let record = self.review.record(id).await?;
        let views = self.comment_views(id, &record).await?.into_iter();
        let unsent =
            views.filter(|comment| comment.state == CommentState::Open && comment.sent.is_none());
        let (ids, unsent): (Vec<String>, Vec<DiffComment>) = unsent
            .map(|comment| {
                let sent = DiffComment {
                    path: comment.path,
                    from: comment.from,
                    to: comment.to,
                    quote: comment.quote,
                    text: comment.text,
                    removed: comment.side == DiffSide::Old,
                };
                (comment.id, sent)
            })
            .unzip();
        if unsent.is_empty() {
            return Err(Failed::refused("All comments have been sent"));
        }
        let (text, quoted) = comments::prompt(text, &unsent);
        let input = PromptInput {
            text,
            ..PromptInput::default()
        };
        let sent = self.sessions.prompt_quoting(id, input, quoted).await?;
        self.review.mark_sent(id, &ids).await?;
        self.review_changed(id, Vec::new());
        Ok(sent)
    }

    /// The comments with where their lines are now.
    pub(crate) async fn comment_views(
        &self,
        id: &SessionId,
        record: &ReviewRecord,
    ) -> Result<Vec<ReviewComment>> {
        if record.comments.is_empty() {
            return Ok(Vec::new());
        }
        let mut all = Vec::with_capacity(record.comments.len());
        for comment in &record.comments {
            all.push((comment.clone(), self.looked_at(id, comment).await?));
        }
        let review = self.review.clone();
        let view = move |repo: &SideRepo| {
            let view = |(comment, files): &(Comment, Option<Arc<ScopeFiles>>)| {
                let file = files.as_ref().and_then(|files| files.find(&comment.path));
                let contents = file.map(|file| Contents::cached(&review.recent, repo, file));
                let contents = contents.transpose()?;
                let disk = || on_disk(repo, &comment.path);
                Ok(match (comment.side, &contents) {
                    (DiffSide::Old, Some(contents)) => comment.view(contents.old_text()),
                    (DiffSide::Old, None) if comment.scope == ReviewScope::Session => {
                        comment.view(disk().as_deref())
                    }
                    (DiffSide::Old, None) => comment.as_written(),
                    // What a person wrote is not in the agent's text.
                    (DiffSide::New, Some(contents)) => {
                        let view = comment.view(contents.new_text());
                        match view.changed {
                            true => Some(comment.view(disk().as_deref()))
                                .filter(|on_disk| !on_disk.changed)
                                .unwrap_or(view),
                            false => view,
                        }
                    }
                    (DiffSide::New, None) => comment.view(disk().as_deref()),
                })
            };
            all.iter().map(view).collect()
        };
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let snapshots = &self.review.snapshots;
        Ok(snapshots.with_repo(&worktree, view).await?)
    }

    /// The files in which the lines of a comment are looked for: added lines in what there is
    /// now, removed ones in the text that they were removed from.
    async fn looked_at(
        &self,
        id: &SessionId,
        comment: &Comment,
    ) -> Result<Option<Arc<ScopeFiles>>> {
        let session = ReviewScope::Session;
        let scope = match (comment.side, &comment.scope) {
            (DiffSide::New, _) => &session,
            // Nothing that is done now changes what was committed or saved then.
            (DiffSide::Old, ReviewScope::Snapshot { .. } | ReviewScope::Uncommitted) => {
                return Ok(None);
            }
            (DiffSide::Old, scope) => scope,
        };
        match self.open_scope(id, scope).await {
            Ok(opened) => Ok(Some(opened.files)),
            // The step may be hidden.
            Err(Failed::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The message of a refusal, with comments on the diff that was refused.
pub fn refusal(message: Option<&str>, on_diff: &[DiffComment]) -> Option<String> {
    match on_diff {
        [] => message.map(str::to_owned),
        on_diff => Some(comments::prompt(message.unwrap_or_default(), on_diff).0),
    }
}

fn found(comment: Option<&Comment>, key: &str) -> lathe_review::Result<Comment> {
    let found = comment.cloned();
    found.ok_or_else(|| lathe_review::ReviewError::missing("comment", key))
}

fn on_disk(repo: &SideRepo, path: &str) -> Option<String> {
    let image = repo.read_image(&RelPath::new(path).ok()?).ok()?;
    String::from_utf8(image.content?.bytes).ok()
}
