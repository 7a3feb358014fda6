//! Resolves a revert target to a cut in the history and the steps to revert.

use lathe_protocol::ipc::RevertTarget;
use lathe_protocol::{MessageId, Part, PartId};
use lathe_snapshot::TreeId;

use super::Revert;
use super::cut::{Cut, part_position, position};
use super::plan::RevertTask;
use crate::error::{Result, ReviewError};
use crate::steps::{self, StepTrees};

/// A target, resolved in the history.
pub(super) struct Found {
    /// Set if messages are hidden.
    pub cut: Option<Cut>,
    pub task: Option<RevertTask>,
    /// The position of the message that gets the safety snapshot's part.
    pub marked_on: Option<usize>,
}

impl Revert {
    pub(super) fn find(&self, target: &RevertTarget) -> Result<Found> {
        match target {
            RevertTarget::Message {
                message_id,
                keep_files,
            } => {
                let cut = Cut::at_message(&self.messages, message_id)?;
                Ok(self.find_cut(cut, *keep_files))
            }
            RevertTarget::Part {
                message_id,
                part_id,
            } => {
                let cut = Cut::at_part(&self.messages, &self.steps, message_id, part_id)?;
                Ok(self.find_cut(cut, false))
            }
            RevertTarget::File { message_id, path } => {
                let steps = self.steps_of(message_id.as_ref())?;
                let only = Some(path.clone());
                Ok(Found {
                    cut: None,
                    marked_on: self.last_message(&steps, path),
                    task: Some(RevertTask::Steps { steps, only }),
                })
            }
            RevertTarget::Hunk {
                message_id,
                path,
                hunk,
                fingerprint,
            } => {
                let steps = self.steps_of(message_id.as_ref())?;
                Ok(Found {
                    cut: None,
                    marked_on: self.last_message(&steps, path),
                    task: Some(RevertTask::Hunk {
                        steps,
                        path: path.clone(),
                        hunk: *hunk,
                        fingerprint: fingerprint.clone(),
                    }),
                })
            }
            RevertTarget::Snapshot {
                message_id,
                part_id,
            } => Ok(Found {
                cut: None,
                task: Some(RevertTask::Tree(self.snapshot(message_id, part_id)?)),
                marked_on: self.last_visible(),
            }),
        }
    }

    fn find_cut(&self, cut: Cut, keep_files: bool) -> Found {
        let pending = self.pending.is_some_and(|pending| cut <= pending);
        let there = match self.reverted_from.filter(|_| pending) {
            Some(reverted) => reverted.steps_before(&self.messages, &self.steps),
            None => self.steps.clone(),
        };
        let steps = cut.steps_after(&self.messages, &there);
        let changed = steps.iter().any(|step| step.start != step.finish);
        let marked_on = match (cut.part, cut.message.checked_sub(1)) {
            (0, Some(before)) => before,
            _ => cut.message,
        };
        Found {
            cut: Some(cut),
            task: (changed && !keep_files).then_some(RevertTask::Steps { steps, only: None }),
            marked_on: Some(marked_on),
        }
    }

    /// The steps that are visible, of one turn or of the whole session.
    fn steps_of(&self, message: Option<&MessageId>) -> Result<Vec<StepTrees>> {
        let mut steps = match self.pending {
            Some(cut) => cut.steps_before(&self.messages, &self.steps),
            None => self.steps.clone(),
        };
        if let Some(id) = message {
            if position(&self.messages, id).is_none() {
                return Err(ReviewError::missing("message", id.as_str()));
            }
            let turn = steps::turn_positions(&self.messages, id);
            steps.retain(|step| turn.contains(&step.message));
        }
        Ok(steps)
    }

    /// The message that marks the revert of a file: the last one of the reverted steps, unless
    /// the file was changed later.
    fn last_message(&self, steps: &[StepTrees], path: &str) -> Option<usize> {
        let Some(end) = steps.last().map(|step| step.message) else {
            return self.last_visible();
        };
        let file = self.worktree.join(path).display().to_string();
        let named = |step: &StepTrees| step.named.iter().any(|one| *one == file || one == path);
        let later = |step: &&StepTrees| step.message > end && named(step);
        match self.steps.iter().find(later) {
            Some(_) => self.last_visible(),
            None => Some(end),
        }
    }

    fn last_visible(&self) -> Option<usize> {
        let end = match self.pending {
            Some(cut) => cut.message + usize::from(cut.part > 0),
            None => self.messages.len(),
        };
        end.checked_sub(1)
    }

    fn snapshot(&self, message: &MessageId, part: &PartId) -> Result<TreeId> {
        let at = position(&self.messages, message)
            .ok_or_else(|| ReviewError::missing("message", message.as_str()))?;
        let found = part_position(&self.messages[at], part);
        let found = found.and_then(|part| self.messages[at].parts.get(part));
        match found {
            Some(Part::Snapshot(part)) => Ok(part.snapshot.parse::<TreeId>()?),
            _ => Err(ReviewError::missing("snapshot", part.as_str())),
        }
    }
}
