//! Snapshots of the work tree before and after a step, and the files changed in between.

use std::path::Path;

use lathe_protocol::{
    AssistantMessage, Event, Extra, MessageError, MessageId, Part, PatchPart, StepStartPart,
};
use lathe_snapshot::TreeId;
use tokio::task::JoinHandle;

use super::Turn;
use lathe_records::Result;
use lathe_review::snapshots::NoSnapshot;
use lathe_review::summary::{self, SummaryInput, Turns};

/// A step that has started; its snapshot is taken while the model answers.
pub struct OpenStep {
    start: StepStartPart,
    /// `None` where snapshots are switched off.
    before: JoinHandle<Option<Result<TreeId, NoSnapshot>>>,
}

impl Turn {
    pub(super) async fn open_step(&self, message: &AssistantMessage) -> Result<OpenStep> {
        let start = self.put_step_start(message).await?;
        let (snapshots, session) = (self.core.review.snapshots.clone(), self.session.id.clone());
        let worktree = self.project.worktree.clone();
        let is_wanted = self.setup.settings.snapshot != Some(false);
        let before = tokio::spawn(async move {
            match is_wanted {
                true => Some(snapshots.take(Path::new(&worktree), &session).await),
                false => None,
            }
        });
        Ok(OpenStep { start, before })
    }

    pub(super) async fn put_step_start(&self, message: &AssistantMessage) -> Result<StepStartPart> {
        let records = &self.core.records;
        let start = StepStartPart {
            id: records.ids().part(records.now()),
            session_id: self.session.id.clone(),
            message_id: message.id.clone(),
            snapshot: None,
            extra: Extra::default(),
        };
        records.put_part(Part::StepStart(start.clone())).await?;
        Ok(start)
    }

    /// The tree before the step; no tool may run before it is known.
    pub(super) async fn tree_before(
        &mut self,
        step: OpenStep,
        may_change: bool,
    ) -> Result<Option<TreeId>> {
        let tree = match step.before.await.ok().flatten() {
            None => return Ok(None),
            Some(Err(why)) => {
                if may_change {
                    self.report_missing_snapshot(&why);
                }
                return Ok(None);
            }
            Some(Ok(tree)) => tree,
        };
        let snapshot = Some(tree.to_string());
        let start = StepStartPart {
            snapshot,
            ..step.start
        };
        self.core.records.put_part(Part::StepStart(start)).await?;
        Ok(Some(tree))
    }

    /// The tree after the step; the one before it if no call could change files.
    pub(super) async fn tree_after(
        &mut self,
        before: Option<TreeId>,
        may_change: bool,
    ) -> Option<TreeId> {
        let before = before?;
        if !may_change {
            return Some(before);
        }
        let worktree = Path::new(&self.project.worktree);
        let taken = self
            .core
            .review
            .snapshots
            .take(worktree, &self.session.id)
            .await;
        taken.map_err(|why| self.report_missing_snapshot(&why)).ok()
    }

    /// Reports it once a prompt, before many changes are made. For a task, its parent has
    /// reported it already.
    fn report_missing_snapshot(&mut self, why: &NoSnapshot) {
        if self.reported_missing_snapshot || self.session.parent_id.is_some() {
            return;
        }
        self.reported_missing_snapshot = true;
        let text = format!("What the agent changes now cannot be reviewed or taken back: {why}");
        self.core.records.publish(Event::SessionError {
            session_id: Some(self.session.id.clone()),
            error: Some(MessageError::no_snapshot(text)),
        });
    }

    /// Updates the summary of changes while the next step runs.
    pub(super) fn update_summary(&self, user: &MessageId) {
        let worktree = Path::new(&self.project.worktree);
        let turns = Turns::One(user.clone());
        let input = SummaryInput::new(&self.session.id, worktree, self.history.messages(), &turns);
        summary::start(
            &self.core.review,
            input.starting_at(self.history.messages(), self.history.cut()),
        );
    }

    pub(super) async fn put_patch(
        &self,
        message: &AssistantMessage,
        before: Option<TreeId>,
        after: Option<TreeId>,
    ) -> Result<()> {
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(());
        };
        if before == after {
            return Ok(());
        }
        let worktree = Path::new(&self.project.worktree);
        let files = self
            .core
            .review
            .snapshots
            .changed(worktree, before, after)
            .await;
        let records = &self.core.records;
        let part = Part::Patch(PatchPart {
            id: records.ids().part(records.now()),
            session_id: self.session.id.clone(),
            message_id: message.id.clone(),
            hash: before.to_string(),
            files,
            extra: Extra::default(),
        });
        records.put_part(part).await
    }
}
