//! What a person decides about changes: keep, revert, restore.

use std::collections::BTreeMap;

use lathe_protocol::SessionId;
use lathe_protocol::ipc::{
    RevertFile, RevertLinesOptions, RevertOptions, ReviewActionKind, ReviewDone, ReviewScope,
    ReviewSelection, StepPlace,
};
use lathe_records::Result;
use lathe_records::bus::ReviewNews;
use lathe_review::history::Place;
use lathe_review::judge::{self, Edit, PlannedEdit};
use lathe_review::lines::marks::Mark;
use lathe_review::record::{Action, ReviewRecord};
use lathe_review::revert::Revert;
use lathe_review::scope::{Source, Unseen};
use lathe_review::summary::{self, SummaryInput, Turns};

use crate::Changes;
use crate::shown::{Opened, blocking};

type Marks = BTreeMap<String, Vec<Mark>>;

/// What bringing the files back to an earlier place would do.
#[derive(Debug)]
pub struct RestorePlan {
    pub files: Vec<PlannedEdit>,
    /// What was done since and would stay.
    pub unseen: Unseen,
}

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
            let (edits, marks) = self
                .edits_in(Some(scope), &opened, selection, options)
                .await?;
            let options = revert_options(options);
            let kind = ReviewActionKind::Revert;
            self.edit(opened, edits, marks, kind, &options).await
        };
        self.sessions.while_idle(id, done).await
    }

    /// What bringing the files back to an earlier place would do.
    pub async fn preview_restore(&self, id: &SessionId, at: &StepPlace) -> Result<RestorePlan> {
        let opened = self.open_later(id, at).await?;
        let messages = self.sessions.visible_messages(&opened.session).await?;
        let place = Place::find(&messages, at)?;
        let later = |message, part| place.is_before(message, part);
        let unseen = self.review.unseen(&messages, &opened.files, later).await?;
        let all = RevertLinesOptions::default();
        let (edits, _) = self.edits(&opened, &ReviewSelection::All, &all).await?;
        let none = RevertOptions::default();
        let files = self.preview_edits(&opened, edits, &none).await?;
        Ok(RestorePlan { files, unseen })
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

    /// What an action did, with what can be undone now.
    pub(crate) async fn review_done(
        &self,
        id: &SessionId,
        done: Vec<RevertFile>,
        changed: Vec<String>,
    ) -> Result<ReviewDone> {
        let record: ReviewRecord = self.review.record(id).await?;
        let next = self.next(&self.sessions.get(id).await?, &record).await?;
        if !changed.is_empty() {
            self.review_changed(id, changed.clone());
        }
        Ok(ReviewDone {
            done,
            changed,
            comments: self.comment_views(id, &record).await?,
            undo: next.undo.as_ref().map(Action::view),
            redo: next.redo.as_ref().map(Action::view),
        })
    }

    /// Tells every window that marks, comments or actions have changed.
    pub(crate) fn review_changed(&self, id: &SessionId, files: Vec<String>) {
        self.records.bus().publish_review(ReviewNews::Changed {
            session_id: id.clone(),
            files,
        });
    }

    async fn edits(
        &self,
        opened: &Opened,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> Result<(Vec<Edit>, Marks)> {
        self.edits_in(None, opened, selection, options).await
    }

    /// What a selection reverts, and the marks of its files afterwards.
    async fn edits_in(
        &self,
        scope: Option<&ReviewScope>,
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
        let all_of_it = scope == Some(&ReviewScope::Session);
        blocking(move || {
            let edits = judge::edits(&targets, keep_kept.then_some(&record));
            let marks = match keep_kept {
                true => Marks::new(),
                false => judge::marks_after(&targets, &record, all_of_it),
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
        let remember = review.edit_record(&id, |record| {
            let mut action = Action::new(&self.records, kind, files.clone());
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

    pub(crate) async fn open_edits(&self, id: &SessionId) -> Result<Revert> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        Ok(Revert::open(&self.review, session, &worktree).await?)
    }

    /// Counts the changes again, in the background.
    pub(crate) async fn start_summary(&self, id: &SessionId) -> Result<()> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let visible = self.sessions.visible_messages(&session).await?;
        let input = SummaryInput::new(id, &worktree, &visible, &Turns::All);
        summary::start(&self.review, input);
        Ok(())
    }
}

pub(crate) fn revert_options(options: &RevertLinesOptions) -> RevertOptions {
    RevertOptions {
        force: false,
        choices: options.choices.clone(),
    }
}
