//! Undoes a revert.

use lathe_protocol::ipc::{RevertOptions, RevertOutcome};

use super::Revert;
use super::archive;
use super::net_effect::NetEffect;
use super::plan::RevertTask;
use super::undo_log::{self, Underway, UndoEntry};
use crate::error::{Result, ReviewError};

impl Revert {
    /// Undoes all of a pending revert, or else the last revert of a file, of lines or to a snapshot.
    pub async fn undo(mut self, options: &RevertOptions) -> Result<RevertOutcome> {
        let effect = if self.session.revert.is_some() {
            self.undo_hiding(options).await?
        } else {
            let mut entries = undo_log::load(&self.review, &self.session.id).await?;
            let newest = entries.len().saturating_sub(1);
            self.mark_undoing(&mut entries, newest).await?;
            let Some(entry) = entries.pop() else {
                return Err(ReviewError::refused("No revert to undo"));
            };
            let effect = self.undo_entries(&[entry], options).await?;
            undo_log::save(&self.review, &self.session.id, entries).await?;
            effect
        };
        self.outcome(effect, 0, Vec::new()).await
    }

    /// Undoes every revert since messages were first hidden.
    pub(super) async fn undo_hiding(&mut self, options: &RevertOptions) -> Result<NetEffect> {
        let mut entries = undo_log::load(&self.review, &self.session.id).await?;
        if let Some(first) = entries.iter().position(|entry| entry.hides) {
            self.mark_undoing(&mut entries, first).await?;
        }
        let hiding = undo_log::split_off_hiding(&mut entries);
        let effect = self.undo_entries(&hiding, options).await?;
        self.pending = None;
        self.left.clear();
        // Before the log: after a kill in between, the next start plays the log back once more,
        // which changes nothing. The other order would leave messages hidden whose files are back.
        self.set_state(None).await?;
        undo_log::save(&self.review, &self.session.id, entries).await?;
        Ok(effect)
    }

    /// Notes down that these entries are being undone: the next start finishes it after a kill.
    async fn mark_undoing(&self, entries: &mut [UndoEntry], from: usize) -> Result<()> {
        for entry in entries.iter_mut().skip(from) {
            entry.underway = Some(Underway::Undoing);
        }
        undo_log::save(&self.review, &self.session.id, entries.to_vec()).await
    }

    /// What [`Revert::undo_hiding`] would do, in its order.
    pub(super) async fn plan_undo_hiding(&mut self) -> Result<Vec<RevertTask>> {
        let mut entries = undo_log::load(&self.review, &self.session.id).await?;
        let hiding = undo_log::split_off_hiding(&mut entries);
        self.pending = None;
        self.left.clear();
        Ok(hiding.into_iter().rev().map(RevertTask::Undo).collect())
    }

    /// Undoes entries, the newest first. A file that could not be brought back is not forgotten:
    /// it goes to the list "Reverted and removed".
    pub(super) async fn undo_entries(
        &mut self,
        entries: &[UndoEntry],
        options: &RevertOptions,
    ) -> Result<NetEffect> {
        let (effect, remaining) = self.play_back(entries, options).await?;
        let (review, id) = (&self.review, &self.session.id);
        let added = archive::add(review, id, Vec::new(), Vec::new(), remaining).await?;
        self.left_in = added.or(self.left_in.take());
        Ok(effect)
    }

    async fn play_back(
        &self,
        entries: &[UndoEntry],
        options: &RevertOptions,
    ) -> Result<(NetEffect, Vec<UndoEntry>)> {
        let mut effect = NetEffect::default();
        let mut remaining = Vec::new();
        for entry in entries.iter().rev() {
            let (plans, left) = self.undo_entry(entry, options).await?;
            plans.iter().for_each(|planned| effect.add(planned));
            remaining.extend(left);
        }
        remaining.reverse();
        Ok((effect, remaining))
    }

    /// Brings back the files of archived entries. Returns what could not be brought back.
    pub(super) async fn bring_back(
        self,
        entries: &[UndoEntry],
        options: &RevertOptions,
    ) -> Result<(RevertOutcome, Vec<UndoEntry>)> {
        let (effect, remaining) = self.play_back(entries, options).await?;
        let outcome = self.outcome(effect, 0, Vec::new()).await?;
        Ok((outcome, remaining))
    }
}
