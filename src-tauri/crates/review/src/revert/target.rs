//! Resolves a revert target to a cut in the history and the steps to revert.

use lathe_protocol::ipc::RevertTarget;
use lathe_protocol::{MessageId, Part, PartId};
use lathe_snapshot::TreeId;

use super::Revert;
use super::cut::{Cut, part_position, position};
use super::plan::{Again, RevertTask};
use crate::credit::Credit;
use crate::error::{Result, ReviewError};
use crate::steps::{self, StepTrees};

/// A target, resolved in the history.
pub(super) struct Found {
    /// Set if messages are hidden.
    pub cut: Option<Cut>,
    pub task: Option<RevertTask>,
    /// What the agent did and no tree tells.
    pub unknown: Vec<String>,
    /// What the agent did and no revert covers.
    pub not_kept: Vec<String>,
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
                let task = RevertTask::Steps {
                    steps: steps.clone(),
                    only: Some(path.clone()),
                    again: Again::default(),
                };
                Ok(Found {
                    cut: None,
                    marked_on: self.last_message(&steps, path),
                    task: Some(task),
                    unknown: Vec::new(),
                    not_kept: Vec::new(),
                })
            }
            RevertTarget::Snapshot {
                message_id,
                part_id,
            } => Ok(Found {
                cut: None,
                task: Some(RevertTask::Tree(self.snapshot(message_id, part_id)?)),
                marked_on: self.last_visible(),
                unknown: Vec::new(),
                not_kept: Vec::new(),
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
        let again = match pending {
            true => Again {
                steps: cut.steps_after(&self.messages, &self.steps),
                left: self.left.clone(),
            },
            false => Again::default(),
        };
        let changed = steps.iter().any(|step| step.start != step.finish) || !again.left.is_empty();
        let marked_on = match (cut.part, cut.message.checked_sub(1)) {
            (0, Some(before)) => before,
            _ => cut.message,
        };
        let task = (changed && !keep_files).then_some(RevertTask::Steps {
            steps,
            only: None,
            again,
        });
        let unknown = match keep_files {
            true => Vec::new(),
            false => self.unknown_after(cut),
        };
        Found {
            cut: Some(cut),
            task,
            marked_on: Some(marked_on),
            unknown,
            not_kept: match keep_files {
                true => Vec::new(),
                false => self.not_kept_after(cut),
            },
        }
    }

    /// Each sentence once.
    fn not_kept_after(&self, cut: Cut) -> Vec<String> {
        let mut found = Vec::new();
        for (message, content) in self.messages.iter().enumerate() {
            for (part, tool) in content.parts.iter().enumerate() {
                if let (Part::Tool(tool), true) = (tool, cut <= Cut { message, part }) {
                    let credit = Credit::of(tool).unwrap_or_default();
                    found.extend(credit.not_kept_sentences());
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn unknown_after(&self, cut: Cut) -> Vec<String> {
        let calls = steps::unknown_calls(&self.messages).into_iter();
        let after = calls.filter(|call| {
            let at = Cut {
                message: call.message,
                part: call.part,
            };
            cut <= at
        });
        after.map(|call| call.text).collect()
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

    pub(super) fn last_visible(&self) -> Option<usize> {
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
            // One without a name was taken before a revert, maybe of one file only. To put its whole
            // tree back would take along what others have changed since.
            Some(Part::Snapshot(part)) if part.name.is_none() => Err(ReviewError::refused(
                "This was saved before a revert: undo that revert instead",
            )),
            Some(Part::Snapshot(part)) => Ok(part.snapshot.parse::<TreeId>()?),
            _ => Err(ReviewError::missing("snapshot", part.as_str())),
        }
    }
}
