//! Reviews and reverts what a session changed, and takes named snapshots.

use std::path::PathBuf;

use lathe_protocol::ipc::{
    RevertOptions, RevertOutcome, RevertPreview, RevertTarget, RevertedItem,
};
use lathe_protocol::{
    FileDiff, MessageId, MessageWithParts, Part, RevertState, Session, SessionId, SessionStatus,
    SnapshotPart,
};
use lathe_records::{Failed, Result};
use lathe_review::named_snapshot;
use lathe_review::revert::{self, Cut, Revert, archive};
use lathe_review::snapshots::unused;
use lathe_review::summary::{self, SummaryInput, Turns};
use lathe_store::SessionWriter;

use super::Sessions;
use crate::turn::is_sent;

impl Sessions {
    /// What the agent changed in the session, or in the turn of one prompt. A long file comes
    /// without its texts; [`Sessions::file_diff`] has them.
    pub async fn diff(&self, id: &SessionId, turn: Option<&MessageId>) -> Result<Vec<FileDiff>> {
        self.get(id).await?;
        Ok(summary::read_stored(&self.core.review, id, turn).await?)
    }

    /// One of these files, with its complete texts.
    pub async fn file_diff(
        &self,
        id: &SessionId,
        turn: Option<&MessageId>,
        path: &str,
    ) -> Result<FileDiff> {
        let stored = self.diff(id, turn).await?;
        let diff = stored.into_iter().find(|diff| diff.file == path);
        let diff = diff.ok_or_else(|| Failed::missing("changed file", path))?;
        if diff.folded != Some(true) {
            return Ok(diff);
        }
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let messages = self.visible_messages(&session).await?;
        let whole =
            summary::full_file_diff(&self.core.review, &worktree, &messages, turn, path).await?;
        Ok(whole.unwrap_or(diff))
    }

    pub async fn preview_revert(
        &self,
        id: &SessionId,
        target: &RevertTarget,
    ) -> Result<RevertPreview> {
        let options = RevertOptions::default();
        self.preview_revert_with(id, target, &options).await
    }

    /// The same, with decisions of the person.
    pub async fn preview_revert_with(
        &self,
        id: &SessionId,
        target: &RevertTarget,
        options: &RevertOptions,
    ) -> Result<RevertPreview> {
        self.runner.recover(id).await;
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let revert = Revert::open(&self.core.review, session, &worktree).await?;
        Ok(revert.preview(target, options).await?)
    }

    /// Reverts to the target. Refused while a turn is running.
    pub async fn revert(&self, id: &SessionId, target: &RevertTarget) -> Result<RevertOutcome> {
        self.revert_with(id, target, &RevertOptions::default())
            .await
    }

    /// The same, with decisions of the person about files that would be left as they are.
    pub async fn revert_with(
        &self,
        id: &SessionId,
        target: &RevertTarget,
        options: &RevertOptions,
    ) -> Result<RevertOutcome> {
        let _prompt = self.core.active.lock_prompt(id).await;
        let (revert, writer) = self.open_revert(id).await?;
        let outcome = match revert.perform(target, options).await {
            Ok(outcome) => self.update_summary(outcome).await,
            Err(error) => Err(error.into()),
        };
        self.runner.release(id, writer, outcome).await
    }

    /// Undoes the last revert: all of a pending one, or else that of one file, of lines
    /// or to a snapshot.
    pub async fn unrevert(&self, id: &SessionId) -> Result<RevertOutcome> {
        self.unrevert_with(id, &RevertOptions::default()).await
    }

    /// The same, with decisions of the person about files that would be left as they are.
    pub async fn unrevert_with(
        &self,
        id: &SessionId,
        options: &RevertOptions,
    ) -> Result<RevertOutcome> {
        let _prompt = self.core.active.lock_prompt(id).await;
        let (revert, writer) = self.open_revert(id).await?;
        let outcome = match revert.undo(options).await {
            Ok(outcome) => self.update_summary(outcome).await,
            Err(error) => Err(error.into()),
        };
        self.runner.release(id, writer, outcome).await
    }

    /// What reverts of this session removed, the newest first: it can be restored for 30 days.
    pub async fn reverted(&self, id: &SessionId) -> Result<Vec<RevertedItem>> {
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        Ok(archive::list(&self.core.review, id, &worktree).await?)
    }

    /// Brings back what a revert removed: messages and files.
    pub async fn restore_reverted(
        &self,
        id: &SessionId,
        item: &str,
        options: &RevertOptions,
    ) -> Result<RevertOutcome> {
        let _prompt = self.core.active.lock_prompt(id).await;
        let (session, worktree, writer) = self.lock_for_revert(id).await?;
        let restored = archive::restore(&self.core.review, session, &worktree, item, options).await;
        let outcome = match restored {
            Ok(outcome) => self.update_summary(outcome).await,
            Err(error) => Err(error.into()),
        };
        self.runner.release(id, writer, outcome).await
    }

    /// How many reverts of files and lines and to snapshots [`Sessions::unrevert`] can undo one by
    /// one, besides a pending revert.
    pub async fn count_undoable(&self, session: &Session) -> Result<usize> {
        Ok(revert::count_undoable(&self.core.review, session).await?)
    }

    /// Waits until the summary of changes is stored, for a process that is about to end.
    pub async fn wait_for_summary(&self, id: &SessionId) -> Result<()> {
        summary::wait(&self.core.review, id).await;
        Ok(self.core.records.store().barrier(id).await?)
    }

    /// Takes a snapshot of the work tree under a name.
    pub async fn take_snapshot(&self, id: &SessionId, name: &str) -> Result<SnapshotPart> {
        let _prompt = self.core.active.lock_prompt(id).await;
        // A running turn already holds the lock.
        let writer = match self.status(id) {
            SessionStatus::Idle => Some(self.core.records.store().lock_session(id).await?),
            _ => None,
        };
        let part = self.take_snapshot_locked(id, name).await;
        match writer {
            Some(writer) => self.runner.release(id, writer, part).await,
            None => part,
        }
    }

    /// The caller holds the session's lock.
    async fn take_snapshot_locked(&self, id: &SessionId, name: &str) -> Result<SnapshotPart> {
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let visible = self.visible_messages(&session).await?;
        let newest = visible.last().map(|message| message.info.id());
        let review = &self.core.review;
        Ok(named_snapshot::take(review, &session, &worktree, newest, name).await?)
    }

    /// The folder that paths of changed files are relative to: the checkout of the session.
    pub async fn worktree(&self, session: &Session) -> Result<PathBuf> {
        let project = self.core.workspace.project_of(session).await?;
        let snapshots = &self.core.review.snapshots;
        Ok(snapshots.root_for(&project.worktree, &session.directory))
    }

    /// The messages that a pending revert does not hide.
    pub async fn visible_messages(&self, session: &Session) -> Result<Vec<MessageWithParts>> {
        let page = self.messages(&session.id, None, usize::MAX).await?;
        let cut = session.revert.as_ref();
        let cut = cut.and_then(|state| Cut::find(&page.messages, state));
        Ok(match cut {
            Some(cut) => cut.visible(&page.messages),
            None => page.messages,
        })
    }

    /// Makes a pending revert final, as a prompt does. The caller holds the prompt lock.
    ///
    /// Refused without consent if it would delete more than the last turn: the person may have
    /// lost sight of a revert that lies far back.
    pub(super) async fn finalize_revert(&self, session: Session, consent: bool) -> Result<Session> {
        let session = match revert::is_interrupted(&self.core.review, &session).await? {
            true => self.recover_revert(session).await?,
            false => session,
        };
        let Some(revert) = &session.revert else {
            return Ok(session);
        };
        let hidden = self.hidden_turns(&session.id, revert).await?;
        if hidden > 1 && !consent {
            return Err(Failed::NeedsConsent(format!(
                "This deletes {hidden} reverted turns. They can be restored for \
                 30 days."
            )));
        }
        self.finalize_now(session).await
    }

    /// Settles a revert that failed half way.
    async fn recover_revert(&self, session: Session) -> Result<Session> {
        let id = session.id.clone();
        let worktree = self.worktree(&session).await?;
        let writer = self.core.records.store().lock_session(&id).await?;
        let recovered = revert::recover(&self.core.review, &session, &worktree).await;
        self.runner
            .release(&id, writer, recovered.map_err(Failed::from))
            .await?;
        self.get(&id).await
    }

    async fn finalize_now(&self, session: Session) -> Result<Session> {
        let id = session.id.clone();
        let writer = self.core.records.store().lock_session(&id).await?;
        let finalized = revert::finalize(&self.core.review, session).await;
        self.runner
            .release(&id, writer, finalized.map_err(Failed::from))
            .await
    }

    /// Deletes what a pending revert hides, with the consent that a prompt was refused for.
    pub async fn discard_reverted(&self, id: &SessionId) -> Result<Session> {
        let _prompt = self.core.active.lock_prompt(id).await;
        let session = self.get(id).await?;
        self.finalize_revert(session, true).await
    }

    /// How many prompts a pending revert hides.
    async fn hidden_turns(&self, id: &SessionId, revert: &RevertState) -> Result<usize> {
        let messages = self.messages(id, None, usize::MAX).await?.messages;
        let Some(cut) = Cut::find(&messages, revert) else {
            return Ok(0);
        };
        Ok(count_turns(&messages) - count_turns(&cut.visible(&messages)))
    }

    /// The prompt of the newest turn that is not reverted. What is newest is known here, and not
    /// by a page that shows some part of the session.
    pub async fn last_turn(&self, id: &SessionId) -> Result<Option<MessageId>> {
        let session = self.get(id).await?;
        let visible = self.visible_messages(&session).await?;
        // A prompt that was never sent has done nothing that could be undone.
        let newest = visible
            .iter()
            .rfind(|message| is_turn(message) && is_sent(message));
        Ok(newest.map(|message| message.info.id().clone()))
    }

    /// Reverts the newest turn that is not reverted yet.
    pub async fn undo_last_turn(&self, id: &SessionId, keep_files: bool) -> Result<RevertOutcome> {
        let message_id = self.last_turn(id).await?;
        let message_id = message_id.ok_or_else(|| Failed::refused("Nothing to undo"))?;
        let target = RevertTarget::Message {
            message_id,
            keep_files,
        };
        self.revert(id, &target).await
    }

    async fn open_revert(&self, id: &SessionId) -> Result<(Revert, SessionWriter)> {
        let (session, worktree, writer) = self.lock_for_revert(id).await?;
        let revert = Revert::open(&self.core.review, session, &worktree).await?;
        Ok((revert, writer))
    }

    /// Locks the session and settles what a crash left open, an interrupted revert too.
    async fn lock_for_revert(&self, id: &SessionId) -> Result<(Session, PathBuf, SessionWriter)> {
        if self.status(id) != SessionStatus::Idle {
            return Err(Failed::Busy);
        }
        let writer = self.runner.lock(id).await?;
        match self.settled(id).await {
            Ok((session, worktree)) => Ok((session, worktree, writer)),
            Err(error) => self.runner.release(id, writer, Err(error)).await,
        }
    }

    /// A revert on top of one that a crash left half done would be undone together with it.
    async fn settled(&self, id: &SessionId) -> Result<(Session, PathBuf)> {
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let review = &self.core.review;
        if !revert::is_interrupted(review, &session).await? {
            return Ok((session, worktree));
        }
        let recovered = revert::recover(review, &session, &worktree).await;
        recovered.map_err(|error| {
            Failed::refused(format!(
                "A revert was interrupted and couldn’t be rolled back: {error}"
            ))
        })?;
        Ok((self.get(id).await?, worktree))
    }

    /// Updates the summary and then releases snapshots that nothing refers to any more.
    async fn update_summary(&self, mut outcome: RevertOutcome) -> Result<RevertOutcome> {
        let id = outcome.session.id.clone();
        let worktree = self.worktree(&outcome.session).await?;
        let visible = self.visible_messages(&outcome.session).await?;
        let all = self.messages(&id, None, usize::MAX).await?.messages;
        let input = SummaryInput::new(&id, &worktree, &visible, &Turns::All);
        summary::start(&self.core.review, input.with_hidden(&all));
        summary::wait(&self.core.review, &id).await;
        if let Err(error) = unused::release(&self.core.review, &id, &worktree).await {
            tracing::info!(%error, "unused snapshots were not released");
        }
        outcome.session = self.get(&id).await?;
        Ok(outcome)
    }
}

/// Whether a message is a prompt that begins a turn, and not a note of the program.
fn is_turn(message: &MessageWithParts) -> bool {
    let is_synthetic =
        |part: &Part| matches!(part, Part::Text(text) if text.synthetic == Some(true));
    let has_own = message.parts.iter().any(|part| !is_synthetic(part));
    message.info.as_user().is_some() && has_own
}

fn count_turns(messages: &[MessageWithParts]) -> usize {
    messages.iter().filter(|message| is_turn(message)).count()
}
