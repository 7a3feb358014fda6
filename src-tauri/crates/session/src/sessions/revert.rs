//! What a session changed, reverting it, and snapshots by hand.

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

    /// One file of that, whole.
    pub async fn file_diff(
        &self,
        id: &SessionId,
        turn: Option<&MessageId>,
        path: &str,
    ) -> Result<FileDiff> {
        let stored = self.diff(id, turn).await?;
        let kept = stored.into_iter().find(|diff| diff.file == path);
        let kept = kept.ok_or_else(|| Failed::missing("changed file", path))?;
        if kept.folded != Some(true) {
            return Ok(kept);
        }
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let messages = self.visible(&session).await?;
        let whole =
            summary::full_file_diff(&self.core.review, &worktree, &messages, turn, path).await?;
        Ok(whole.unwrap_or(kept))
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

    /// Takes back what the target names. Refused while the session is worked on.
    pub async fn revert(&self, id: &SessionId, target: &RevertTarget) -> Result<RevertOutcome> {
        let _prompt = self.core.running.lock_prompt(id).await;
        let (revert, writer) = self.taking_back(id).await?;
        let outcome = match revert.perform(target).await {
            Ok(outcome) => self.summarize_again(outcome).await,
            Err(error) => Err(error.into()),
        };
        self.runner.release(id, writer, outcome).await
    }

    /// Brings back what was taken back last: all of a pending revert, or else one file, hunk
    /// or snapshot.
    pub async fn unrevert(&self, id: &SessionId) -> Result<RevertOutcome> {
        let _prompt = self.core.running.lock_prompt(id).await;
        let (revert, writer) = self.taking_back(id).await?;
        let outcome = match revert.undo().await {
            Ok(outcome) => self.summarize_again(outcome).await,
            Err(error) => Err(error.into()),
        };
        self.runner.release(id, writer, outcome).await
    }

    /// How many files, hunks and snapshots that were taken back [`Sessions::unrevert`] can bring
    /// back, one after the other, besides a pending revert.
    pub async fn undoable(&self, session: &Session) -> Result<usize> {
        Ok(revert::count_undoable(&self.core.review, session).await?)
    }

    /// Waits until what a session changed is counted and stored. Whoever goes on does not need
    /// to; a process that ends would take it along.
    pub async fn counted(&self, id: &SessionId) -> Result<()> {
        summary::wait(&self.core.review, id).await;
        Ok(self.core.records.store().barrier(id).await?)
    }

    /// Keeps the work tree as it is now, under a name.
    pub async fn checkpoint(&self, id: &SessionId, name: &str) -> Result<SnapshotPart> {
        let _prompt = self.core.running.lock_prompt(id).await;
        // A turn under way holds the session already.
        let writer = match self.status(id) {
            SessionStatus::Idle => Some(self.core.records.store().lock_session(id).await?),
            _ => None,
        };
        let kept = self.keep_checkpoint(id, name).await;
        match writer {
            Some(writer) => self.runner.release(id, writer, kept).await,
            None => kept,
        }
    }

    /// The caller holds the session.
    async fn keep_checkpoint(&self, id: &SessionId, name: &str) -> Result<SnapshotPart> {
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let visible = self.visible(&session).await?;
        let newest = visible.last().map(|message| message.info.id());
        let review = &self.core.review;
        Ok(named_snapshot::take(review, &session, &worktree, newest, name).await?)
    }

    /// The folder that changed files are named from: the project's, or one of the session's own.
    pub async fn worktree(&self, session: &Session) -> Result<PathBuf> {
        Ok(self
            .core
            .workspace
            .project_of(session)
            .await?
            .worktree
            .into())
    }

    /// What a pending revert does not hide.
    pub async fn visible(&self, session: &Session) -> Result<Vec<MessageWithParts>> {
        let page = self.messages(&session.id, None, usize::MAX).await?;
        let cut = session.revert.as_ref();
        let cut = cut.and_then(|state| Cut::find(&page.messages, state));
        Ok(match cut {
            Some(cut) => cut.visible(&page.messages),
            None => page.messages,
        })
    }

    /// Makes a pending revert final, as a prompt does. The caller holds the session's turn.
    pub(super) async fn settle_revert(&self, session: Session) -> Result<Session> {
        if session.revert.is_none() {
            return Ok(session);
        }
        let id = session.id.clone();
        let writer = self.core.records.store().lock_session(&id).await?;
        let settled = revert::finalize(&self.core.review, session).await;
        self.runner
            .release(&id, writer, settled.map_err(Failed::from))
            .await
    }

    async fn taking_back(&self, id: &SessionId) -> Result<(Revert, lathe_store::SessionWriter)> {
        if self.status(id) != SessionStatus::Idle {
            return Err(Failed::Busy);
        }
        let writer = self.core.records.store().lock_session(id).await?;
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let revert = Revert::open(&self.core.review, session, &worktree).await?;
        Ok((revert, writer))
    }

    /// Then nothing needs the trees of what was brought back or is gone for good.
    async fn summarize_again(&self, mut outcome: RevertOutcome) -> Result<RevertOutcome> {
        let id = outcome.session.id.clone();
        let worktree = self.worktree(&outcome.session).await?;
        let visible = self.visible(&outcome.session).await?;
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
