//! What a person decides about changes: keep, revert, comment, restore; and undoing each.

use std::collections::BTreeMap;
use std::path::Path;

use lathe_protocol::ipc::{
    CommentState, DiffComment, NewComment, PromptInput, RevertFile, RevertLinesOptions,
    RevertOptions, ReviewActionKind, ReviewDone, ReviewScope, ReviewSelection, StepPlace,
};
use lathe_protocol::{MessageId, SessionId};
use lathe_records::bus::ReviewNews;
use lathe_records::{Failed, Result};
use lathe_review::comments;
use lathe_review::history::Place;
use lathe_review::judge::{self, Edit, PlannedEdit};
use lathe_review::lines::marks::Mark;
use lathe_review::record::{Action, Comment, Moved, ReviewRecord};
use lathe_review::revert::{Edited, Revert};
use lathe_review::scope::Source;
use lathe_review::summary::{self, SummaryInput, Turns};

use crate::Changes;
use crate::shown::{Opened, blocking};

type Marks = BTreeMap<String, Vec<Mark>>;

impl Changes {
    /// Marks lines as kept.
    pub async fn keep_lines(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        selection: &ReviewSelection,
    ) -> Result<ReviewDone> {
        self.mark_lines(id, scope, selection, true).await
    }

    pub async fn unkeep_lines(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        selection: &ReviewSelection,
    ) -> Result<ReviewDone> {
        self.mark_lines(id, scope, selection, false).await
    }

    async fn mark_lines(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        selection: &ReviewSelection,
        keep: bool,
    ) -> Result<ReviewDone> {
        let opened = self.open_scope(id, scope).await?;
        let review = &self.review;
        let targets = review
            .targets(&opened.worktree, &opened.files, selection)
            .await?;
        let changed = review.mark(id, &targets, keep).await?;
        self.review_done(id, Vec::new(), changed).await
    }

    /// What a revert of lines would do.
    pub async fn preview_revert_lines(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> Result<Vec<PlannedEdit>> {
        let opened = self.open_scope(id, scope).await?;
        let (edits, _) = self.edits(&opened, selection, options).await?;
        self.preview_edits(&opened, edits, &revert_options(options))
            .await
    }

    /// Reverts lines. Refused while a turn is running.
    pub async fn revert_lines(
        &self,
        id: &SessionId,
        scope: &ReviewScope,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> Result<ReviewDone> {
        let _prompt = self.sessions.hold_prompts(id).await;
        let done = async {
            let opened = self.open_scope(id, scope).await?;
            let (edits, marks) = self.edits(&opened, selection, options).await?;
            let options = revert_options(options);
            let kind = ReviewActionKind::Revert;
            self.edit(opened, edits, marks, kind, &options).await
        };
        self.sessions.while_idle(id, done).await
    }

    /// What bringing the files back to an earlier place would do.
    pub async fn preview_restore(
        &self,
        id: &SessionId,
        at: &StepPlace,
    ) -> Result<Vec<PlannedEdit>> {
        let opened = self.open_later(id, at).await?;
        let (edits, _) = self
            .edits(
                &opened,
                &ReviewSelection::All,
                &RevertLinesOptions::default(),
            )
            .await?;
        self.preview_edits(&opened, edits, &RevertOptions::default())
            .await
    }

    /// Brings the files back to an earlier place: what the agent did since is reverted.
    pub async fn restore_files(
        &self,
        id: &SessionId,
        at: &StepPlace,
        options: &RevertOptions,
    ) -> Result<ReviewDone> {
        let _prompt = self.sessions.hold_prompts(id).await;
        let done = async {
            let opened = self.open_later(id, at).await?;
            let all = RevertLinesOptions::default();
            let (edits, marks) = self.edits(&opened, &ReviewSelection::All, &all).await?;
            let kind = ReviewActionKind::Restore;
            self.edit(opened, edits, marks, kind, options).await
        };
        self.sessions.while_idle(id, done).await
    }

    async fn open_later(&self, id: &SessionId, at: &StepPlace) -> Result<Opened> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let messages = self.sessions.visible_messages(&session).await?;
        let later = Place::find(&messages, at)?.later(&messages);
        let files = self
            .review
            .list(id, &worktree, Source::Steps(later))
            .await?;
        Ok(Opened {
            session,
            worktree,
            files,
            not_shown: Vec::new(),
        })
    }

    /// Undoes the last action of the review.
    pub async fn undo_review(
        &self,
        id: &SessionId,
        options: &RevertLinesOptions,
    ) -> Result<ReviewDone> {
        let prompt = self.sessions.hold_prompts(id).await;
        let record = self.review.record(id).await?;
        let action = record.done.last().cloned();
        let action = action.ok_or_else(|| Failed::refused("Nothing to undo"))?;
        // Of another folder, all prompts are held.
        let _prompt = action.folder.is_none().then_some(prompt);
        self.replay(id, action, true, options).await
    }

    /// Does the action again that was undone last.
    pub async fn redo_review(
        &self,
        id: &SessionId,
        options: &RevertLinesOptions,
    ) -> Result<ReviewDone> {
        let prompt = self.sessions.hold_prompts(id).await;
        let record = self.review.record(id).await?;
        let action = record.undone.last().cloned();
        let action = action.ok_or_else(|| Failed::refused("Nothing to redo"))?;
        let _prompt = action.folder.is_none().then_some(prompt);
        self.replay(id, action, false, options).await
    }

    async fn replay(
        &self,
        id: &SessionId,
        mut action: Action,
        back: bool,
        options: &RevertLinesOptions,
    ) -> Result<ReviewDone> {
        let mut files = Vec::new();
        let original = action.clone();
        if let Some(moved) = action.moved.clone() {
            let edited = match &action.folder {
                Some(folder) => {
                    let folder = Path::new(folder);
                    self.move_brought(id, folder, &moved, back, options).await?
                }
                None => self.move_own(id, &moved, back, options).await?,
            };
            let is_left = edited.files.iter().any(|file| file.change.is_open());
            files = edited.files;
            if is_left {
                return self.review_done(id, files, Vec::new()).await;
            }
            if !back && edited.moved.is_some() {
                action.moved = edited.moved;
            }
            self.start_summary(id).await?;
        }
        let changed = action.files.clone();
        let edit = self.review.edit_record(id, |record| {
            for (path, (before, after)) in &action.marks {
                let marks = if back { before } else { after };
                record.set_marks(path, marks.clone());
            }
            if let Some((before, after)) = &action.comment {
                match back {
                    true => record.put_comment(after.as_ref(), before.as_ref()),
                    false => record.put_comment(before.as_ref(), after.as_ref()),
                }
            }
            match back {
                // Something else may have been done while files were moved.
                true => {
                    remove(&mut record.done, &original);
                    record.undone.push(action);
                }
                false => {
                    remove(&mut record.undone, &original);
                    record.push_done(action);
                }
            }
            Ok(())
        });
        edit.await?;
        self.review_done(id, files, changed).await
    }

    async fn move_own(
        &self,
        id: &SessionId,
        moved: &Moved,
        back: bool,
        options: &RevertLinesOptions,
    ) -> Result<Edited> {
        let options = revert_options(options);
        let edited = async {
            let mut revert = self.open_edits(id).await?;
            let edited = match back {
                true => revert.move_back(moved, &options).await?,
                false => revert.edit_again(moved, &options).await?,
            };
            revert.release_temporary().await?;
            Ok::<Edited, Failed>(edited)
        };
        self.sessions.while_idle(id, edited).await
    }

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
        let new = comments::new(key.to_string(), time, &contents, comment)?;
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

    /// What an action did, with what can be undone now.
    pub(crate) async fn review_done(
        &self,
        id: &SessionId,
        done: Vec<RevertFile>,
        changed: Vec<String>,
    ) -> Result<ReviewDone> {
        let record: ReviewRecord = self.review.record(id).await?;
        if !changed.is_empty() {
            self.review_changed(id, changed.clone());
        }
        Ok(ReviewDone {
            done,
            changed,
            comments: self.comment_views(id, &record).await?,
            undo: record.undo(),
            redo: record.redo(),
        })
    }

    /// Tells every window that marks, comments or actions have changed.
    pub(crate) fn review_changed(&self, id: &SessionId, files: Vec<String>) {
        self.records.bus().publish_review(ReviewNews::Changed {
            session_id: id.clone(),
            files,
        });
    }

    /// What a selection reverts, and the marks of its files afterwards.
    async fn edits(
        &self,
        opened: &Opened,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> Result<(Vec<Edit>, Marks)> {
        let review = &self.review;
        let targets = review
            .targets(&opened.worktree, &opened.files, selection)
            .await?;
        let record = review.record(&opened.session.id).await?;
        let keep_kept = options.keep_kept;
        blocking(move || {
            let edits = judge::edits(&targets, keep_kept.then_some(&record));
            let marks = match keep_kept {
                true => Marks::new(),
                false => judge::marks_after(&targets, &record),
            };
            (edits, marks)
        })
        .await
    }

    async fn preview_edits(
        &self,
        opened: &Opened,
        edits: Vec<Edit>,
        options: &RevertOptions,
    ) -> Result<Vec<PlannedEdit>> {
        let review = &self.review;
        let revert = Revert::open(review, opened.session.clone(), &opened.worktree).await?;
        Ok(revert.preview_edits(edits, options).await?)
    }

    /// Carries edits out and remembers them as one action.
    async fn edit(
        &self,
        opened: Opened,
        edits: Vec<Edit>,
        marks: Marks,
        kind: ReviewActionKind,
        options: &RevertOptions,
    ) -> Result<ReviewDone> {
        let id = opened.session.id.clone();
        let review = &self.review;
        let mut revert = Revert::open(review, opened.session, &opened.worktree).await?;
        let edited = revert.edit(edits, options).await?;
        revert.release_temporary().await?;
        let Some(moved) = edited.moved else {
            return self.review_done(&id, edited.files, Vec::new()).await;
        };
        let files: Vec<String> = moved.files.iter().map(|file| file.name()).collect();
        let time = self.records.now();
        let remember = review.edit_record(&id, |record| {
            let mut action = Action::new(kind, time, files.clone());
            for (path, after) in marks {
                if files.contains(&path) {
                    let before = record.marks(&path).to_vec();
                    record.set_marks(&path, after.clone());
                    action.marks.insert(path, (before, after));
                }
            }
            action.moved = Some(moved);
            record.add(action);
            Ok(())
        });
        remember.await?;
        self.start_summary(&id).await?;
        self.review_done(&id, edited.files, files).await
    }

    async fn open_edits(&self, id: &SessionId) -> Result<Revert> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        Ok(Revert::open(&self.review, session, &worktree).await?)
    }

    /// Counts the changes again, in the background.
    async fn start_summary(&self, id: &SessionId) -> Result<()> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let visible = self.sessions.visible_messages(&session).await?;
        let input = SummaryInput::new(id, &worktree, &visible, &Turns::All);
        summary::start(&self.review, input);
        Ok(())
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

fn revert_options(options: &RevertLinesOptions) -> RevertOptions {
    RevertOptions {
        force: false,
        choices: options.choices.clone(),
    }
}

/// Removes the newest entry that is this action.
fn remove(actions: &mut Vec<Action>, action: &Action) {
    if let Some(at) = actions.iter().rposition(|one| one == action) {
        actions.remove(at);
    }
}
