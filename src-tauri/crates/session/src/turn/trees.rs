//! Snapshots of the work tree before and after a step, and the files changed in between.

use std::path::PathBuf;

use lathe_protocol::{
    AssistantMessage, Event, Extra, Message, MessageError, MessageId, MessageWithParts, Part,
    PatchPart, StepStartPart,
};
use lathe_snapshot::TreeId;
use tokio::task::{JoinError, JoinHandle};

use super::Turn;
use lathe_records::Result;
use lathe_review::snapshots::{NoSnapshot, with_room};
use lathe_review::steps;
use lathe_review::summary::{self, SummaryInput, Turns};

/// A step that has started; its snapshot is taken while the model answers.
pub struct OpenStep {
    start: StepStartPart,
    /// `None` where snapshots are switched off.
    before: JoinHandle<Taken>,
}

type Taken = Option<Result<TreeId, NoSnapshot>>;

/// A snapshot that a fault of the program ended is a missing one, not one that was not wanted.
fn outcome(joined: Result<Taken, JoinError>) -> Taken {
    let interrupted = |error: JoinError| NoSnapshot::from(format!("It was not taken: {error}"));
    joined.unwrap_or_else(|error| Some(Err(interrupted(error))))
}

impl Turn {
    fn snapshot_root(&self) -> PathBuf {
        let (worktree, directory) = (&self.project.worktree, &self.session.directory);
        self.core.review.snapshots.root_for(worktree, directory)
    }

    pub(super) async fn open_step(&self, message: &AssistantMessage) -> Result<OpenStep> {
        let start = self.put_step_start(message).await?;
        let (review, session) = (self.core.review.clone(), self.session.id.clone());
        let worktree = self.snapshot_root();
        let is_wanted = self.setup.settings.snapshot != Some(false);
        let before = tokio::spawn(async move {
            match is_wanted {
                true => Some(with_room::take(&review, &worktree, &session).await),
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
        let tree = match outcome(step.before.await) {
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
        let worktree = self.snapshot_root();
        let taken = with_room::take(&self.core.review, &worktree, &self.session.id).await;
        taken.map_err(|why| self.report_missing_snapshot(&why)).ok()
    }

    /// Reports it once a prompt, before many changes are made. For a task, its parent has
    /// reported it already.
    fn report_missing_snapshot(&mut self, why: &NoSnapshot) {
        if self.reported_missing_snapshot || self.session.parent_id.is_some() {
            return;
        }
        self.reported_missing_snapshot = true;
        let text = format!("New changes can’t be reviewed or reverted: {why}");
        self.core.records.publish(Event::SessionError {
            session_id: Some(self.session.id.clone()),
            error: Some(MessageError::no_snapshot(text)),
        });
    }

    /// Updates the summary of changes while the next step runs.
    pub(super) fn update_summary(&self, user: &MessageId) {
        let worktree = self.snapshot_root();
        let turns = Turns::One(user.clone());
        let input = SummaryInput::new(&self.session.id, &worktree, self.history.messages(), &turns);
        summary::start(
            &self.core.review,
            input.starting_at(self.history.messages(), self.history.cut()),
        );
    }

    /// Lists the files that the step changed. Returns whether there are any.
    pub(super) async fn put_patch(
        &self,
        message: &AssistantMessage,
        before: Option<TreeId>,
    ) -> Result<bool> {
        let step = MessageWithParts {
            info: Message::Assistant(message.clone()),
            parts: self.written_parts(&message.id),
        };
        let worktree = self.snapshot_root();
        let changed = steps::changed_files(&self.core.review, &worktree, step).await;
        let Some(first) = changed.first_tree else {
            return Ok(false);
        };
        let records = &self.core.records;
        let part = Part::Patch(PatchPart {
            id: records.ids().part(records.now()),
            session_id: self.session.id.clone(),
            message_id: message.id.clone(),
            hash: before.unwrap_or(first).to_string(),
            files: changed.files,
            extra: Extra::default(),
        });
        records.put_part(part).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_snapshot_that_a_fault_ended_is_a_missing_one() {
        let joined = tokio::spawn(async { panic!("a fault of the program") }).await;
        let why = outcome(joined).map(|taken| taken.unwrap_err().to_string());
        assert!(why.is_some_and(|why| why.contains("a fault of the program")));
        assert_eq!(outcome(Ok(None)), None);
    }
}
