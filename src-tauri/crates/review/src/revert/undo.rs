//! The way back from a taking back.

use lathe_protocol::Part;
use lathe_protocol::ipc::RevertOutcome;
use lathe_snapshot::TreeId;

use super::Revert;
use super::net::Net;
use super::plan::{Planned, Task};
use super::rounds::{self, Round};
use crate::error::{Result, ReviewError};

impl Revert {
    /// Brings back what the newest taking back changed: all of a pending revert, or else the
    /// last file, hunk or snapshot.
    pub async fn undo(mut self) -> Result<RevertOutcome> {
        let net = if self.session.revert.is_some() {
            self.undo_hiding().await?
        } else {
            let mut rounds = rounds::load(&self.review, &self.session.id).await?;
            let Some(round) = rounds.pop() else {
                return Err(ReviewError::refused("There is nothing to bring back"));
            };
            let mut net = Net::default();
            net.add(&self.undo_round(&round).await?);
            rounds::save(&self.review, &self.session.id, rounds).await?;
            net
        };
        self.outcome(net, 0).await
    }

    /// Undoes everything back to where messages were first hidden.
    pub(super) async fn undo_hiding(&mut self) -> Result<Net> {
        let mut rounds = rounds::load(&self.review, &self.session.id).await?;
        let mut net = Net::default();
        for round in rounds::split_hiding(&mut rounds).iter().rev() {
            net.add(&self.undo_round(round).await?);
        }
        rounds::save(&self.review, &self.session.id, rounds).await?;
        self.pending = None;
        self.set_state(None).await?;
        Ok(net)
    }

    /// What [`Revert::undo_hiding`] would do, in its order.
    pub(super) async fn plan_undo_hiding(&mut self) -> Result<Vec<Task>> {
        let mut rounds = rounds::load(&self.review, &self.session.id).await?;
        let hiding = rounds::split_hiding(&mut rounds);
        self.pending = None;
        Ok(hiding.into_iter().rev().map(Task::Undo).collect())
    }

    async fn undo_round(&self, round: &Round) -> Result<Planned> {
        let (task, trash) = (Task::Undo(round.clone()), self.trash());
        let safety: TreeId = round.safety.parse()?;
        let done = self.review.snapshots.with(&self.worktree, move |repo| {
            let mut planned = Planned::new(repo, &task, safety, &Net::default())?;
            let touched = planned.apply(repo, &trash);
            Ok((planned, touched))
        });
        let (planned, touched) = done.await?;
        self.forget_taken_back(round).await?;
        self.tell_of_files(&touched);
        Ok(planned)
    }

    /// The files are the agent's again.
    async fn forget_taken_back(&self, round: &Round) -> Result<()> {
        let Some((message, part)) = &round.part else {
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
