//! Reviews and reverts what a session changed, and takes named snapshots.

use std::path::PathBuf;

use lathe_protocol::ipc::{RevertOutcome, RevertPreview, RevertTarget};
use lathe_protocol::{
    FileDiff, MessageId, MessageWithParts, Session, SessionId, SessionStatus, SnapshotPart,
};
use lathe_records::{Failed, Result};
use lathe_review::named_snapshot;
use lathe_review::revert::{self, Cut, Revert};
use lathe_review::snapshots::unused;
use lathe_review::summary::{self, SummaryInput, Turns};

use super::Sessions;

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
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let revert = Revert::open(&self.core.review, session, &worktree).await?;
        Ok(revert.preview(target).await?)
    }

    /// Reverts to the target. Refused while a turn is running.
    pub async fn revert(&self, id: &SessionId, target: &RevertTarget) -> Result<RevertOutcome> {
        let _prompt = self.core.active.lock_prompt(id).await;
        let (revert, writer) = self.open_revert(id).await?;
        let outcome = match revert.perform(target).await {
            Ok(outcome) => self.update_summary(outcome).await,
            Err(error) => Err(error.into()),
        };
        self.runner.release(id, writer, outcome).await
    }

    /// Undoes the last revert: all of a pending one, or else that of one file, hunk or
    /// snapshot.
    pub async fn unrevert(&self, id: &SessionId) -> Result<RevertOutcome> {
        let _prompt = self.core.active.lock_prompt(id).await;
        let (revert, writer) = self.open_revert(id).await?;
        let outcome = match revert.undo().await {
            Ok(outcome) => self.update_summary(outcome).await,
            Err(error) => Err(error.into()),
        };
        self.runner.release(id, writer, outcome).await
    }

    /// How many reverts of files, hunks and snapshots [`Sessions::unrevert`] can undo one by
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
        Ok(self
            .core
            .workspace
            .project_of(session)
            .await?
            .worktree
            .into())
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
    pub(super) async fn finalize_revert(&self, session: Session) -> Result<Session> {
        if session.revert.is_none() {
            return Ok(session);
        }
        let id = session.id.clone();
        let writer = self.core.records.store().lock_session(&id).await?;
        let finalized = revert::finalize(&self.core.review, session).await;
        self.runner
            .release(&id, writer, finalized.map_err(Failed::from))
            .await
    }

    async fn open_revert(&self, id: &SessionId) -> Result<(Revert, lathe_store::SessionWriter)> {
        if self.status(id) != SessionStatus::Idle {
            return Err(Failed::Busy);
        }
        let writer = self.core.records.store().lock_session(id).await?;
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let revert = Revert::open(&self.core.review, session, &worktree).await?;
        Ok((revert, writer))
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
