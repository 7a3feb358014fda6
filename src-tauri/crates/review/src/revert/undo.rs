//! Undoes a revert.

use lathe_protocol::Part;
use lathe_protocol::ipc::RevertOutcome;
use lathe_snapshot::TreeId;

use super::Revert;
use super::net_effect::NetEffect;
use super::plan::{RevertPlan, RevertTask};
use super::undo_log::{self, UndoEntry};
use crate::error::{Result, ReviewError};

impl Revert {
    /// Undoes all of a pending revert, or else the last revert of a file, hunk or snapshot.
    pub async fn undo(mut self) -> Result<RevertOutcome> {
        let effect = if self.session.revert.is_some() {
            self.undo_hiding().await?
        } else {
            let mut entries = undo_log::load(&self.review, &self.session.id).await?;
            let Some(entry) = entries.pop() else {
                return Err(ReviewError::refused("There is nothing to bring back"));
            };
            let mut effect = NetEffect::default();
            effect.add(&self.undo_entry(&entry).await?);
            undo_log::save(&self.review, &self.session.id, entries).await?;
            effect
        };
        self.outcome(effect, 0).await
    }

    /// Undoes every revert since messages were first hidden.
    pub(super) async fn undo_hiding(&mut self) -> Result<NetEffect> {
        let mut entries = undo_log::load(&self.review, &self.session.id).await?;
        let mut effect = NetEffect::default();
        for entry in undo_log::split_off_hiding(&mut entries).iter().rev() {
            effect.add(&self.undo_entry(entry).await?);
        }
        undo_log::save(&self.review, &self.session.id, entries).await?;
        self.pending = None;
        self.set_state(None).await?;
        Ok(effect)
    }

    /// What [`Revert::undo_hiding`] would do, in its order.
    pub(super) async fn plan_undo_hiding(&mut self) -> Result<Vec<RevertTask>> {
        let mut entries = undo_log::load(&self.review, &self.session.id).await?;
        let hiding = undo_log::split_off_hiding(&mut entries);
        self.pending = None;
        Ok(hiding.into_iter().rev().map(RevertTask::Undo).collect())
    }

    async fn undo_entry(&self, entry: &UndoEntry) -> Result<RevertPlan> {
        let (task, trash) = (RevertTask::Undo(entry.clone()), self.trash());
        let safety: TreeId = entry.safety.parse()?;
        let done = self
            .review
            .snapshots
            .with_repo(&self.worktree, move |repo| {
                let mut planned = RevertPlan::new(repo, &task, safety, &NetEffect::default())?;
                let touched = planned.apply(repo, &trash);
                Ok((planned, touched))
            });
        let (planned, touched) = done.await?;
        self.clear_reverted_mark(entry).await?;
        self.publish_file_edits(&touched);
        Ok(planned)
    }

    /// The files count as the agent's changes again.
    async fn clear_reverted_mark(&self, entry: &UndoEntry) -> Result<()> {
        let Some((message, part)) = &entry.part else {
            return Ok(());
        };
        let found = self.review.records.store().part(message, part).await?;
        if let Some(Part::Snapshot(mut part)) = found
            && part.reverted_files.take().is_some()
        {
            self.review.records.put_part(Part::Snapshot(part)).await?;
        }
        Ok(())
    }
}
