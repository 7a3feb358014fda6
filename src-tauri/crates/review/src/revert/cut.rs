//! The position at which a revert cuts the history: everything after it is hidden and later
//! removed.
//!
//! Cuts go by position, never by the order of ids.

use lathe_protocol::{MessageId, MessageWithParts, Part, PartId, RevertState};
use lathe_snapshot::TreeId;

use crate::error::{Result, ReviewError};
use crate::steps::StepTrees;

/// The first thing that is hidden: a message, or one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut {
    pub message: usize,
    /// 0 for the whole message.
    pub part: usize,
}

impl Cut {
    /// The cut of a pending revert; `None` if its message was removed.
    pub fn find(messages: &[MessageWithParts], state: &RevertState) -> Option<Cut> {
        Cut::locate(messages, &state.message_id, state.part_id.as_ref())
    }

    /// The inverse of [`Cut::ids`].
    pub fn locate(
        messages: &[MessageWithParts],
        message: &MessageId,
        part: Option<&PartId>,
    ) -> Option<Cut> {
        let message = position(messages, message)?;
        let part = match part {
            Some(id) => part_position(&messages[message], id)?,
            None => 0,
        };
        Some(Cut { message, part })
    }

    /// A prompt is cut together with its first answer.
    pub fn at_message(messages: &[MessageWithParts], id: &MessageId) -> Result<Cut> {
        let at =
            position(messages, id).ok_or_else(|| ReviewError::missing("message", id.as_str()))?;
        let Some(answer) = messages[at].info.as_assistant() else {
            return Ok(Cut {
                message: at,
                part: 0,
            });
        };
        let prompt = position(&messages[..at], &answer.parent_id);
        let before = |message: &MessageWithParts| {
            let other = message.info.as_assistant();
            other.is_some_and(|other| other.parent_id == answer.parent_id)
        };
        let message = match prompt {
            Some(prompt) if !messages[prompt..at].iter().any(before) => prompt,
            _ => at,
        };
        Ok(Cut { message, part: 0 })
    }

    /// Cuts the whole message if it has no content before the part, or if the tree before the
    /// part is not known.
    pub fn at_part(
        messages: &[MessageWithParts],
        steps: &[StepTrees],
        id: &MessageId,
        part: &PartId,
    ) -> Result<Cut> {
        let at =
            position(messages, id).ok_or_else(|| ReviewError::missing("message", id.as_str()))?;
        let message = &messages[at];
        let part = part_position(message, part)
            .ok_or_else(|| ReviewError::missing("part", part.as_str()))?;
        let is_content =
            |part: &Part| matches!(part, Part::Text(_) | Part::Tool(_) | Part::File(_));
        let inside = steps
            .iter()
            .find(|step| step.message == at && step.parts.start < part && part < step.parts.end);
        let known = inside.is_none_or(|step| tree_at(step, message, part).is_some());
        if !known || !message.parts[..part].iter().any(is_content) {
            return Cut::at_message(messages, id);
        }
        Ok(Cut { message: at, part })
    }

    pub fn ids(&self, messages: &[MessageWithParts]) -> Option<(MessageId, Option<PartId>)> {
        let message = messages.get(self.message)?;
        let part = match self.part {
            0 => None,
            part => Some(message.parts.get(part)?.id().clone()),
        };
        Some((message.info.id().clone(), part))
    }

    /// The number of messages that are hidden as a whole.
    pub fn hidden_count(&self, messages: &[MessageWithParts]) -> usize {
        messages
            .len()
            .saturating_sub(self.message + usize::from(self.part > 0))
    }

    /// The history before the cut.
    pub fn visible(&self, messages: &[MessageWithParts]) -> Vec<MessageWithParts> {
        let mut visible = messages[..self.message.min(messages.len())].to_vec();
        if let Some(cut) = messages.get(self.message).filter(|_| self.part > 0) {
            visible.push(MessageWithParts {
                info: cut.info.clone(),
                parts: cut.parts[..self.part.min(cut.parts.len())].to_vec(),
            });
        }
        visible
    }

    /// The steps after the cut; a step that is cut through starts at the cut.
    pub fn steps_after(
        &self,
        messages: &[MessageWithParts],
        steps: &[StepTrees],
    ) -> Vec<StepTrees> {
        let split = |step: &StepTrees| self.split(messages, step).1;
        steps.iter().filter_map(split).collect()
    }

    /// The steps before the cut; a step that is cut through ends at the cut.
    pub fn steps_before(
        &self,
        messages: &[MessageWithParts],
        steps: &[StepTrees],
    ) -> Vec<StepTrees> {
        let split = |step: &StepTrees| self.split(messages, step).0;
        steps.iter().filter_map(split).collect()
    }

    fn split(
        &self,
        messages: &[MessageWithParts],
        step: &StepTrees,
    ) -> (Option<StepTrees>, Option<StepTrees>) {
        let begins = Cut {
            message: step.message,
            part: step.parts.start,
        };
        let ends = Cut {
            message: step.message,
            part: step.parts.end,
        };
        if ends <= *self {
            return (Some(step.clone()), None);
        }
        // A message that is cut as a whole includes its first step, wherever that starts.
        if *self <= begins {
            return (None, Some(step.clone()));
        }
        let tree = messages
            .get(step.message)
            .and_then(|message| tree_at(step, message, self.part));
        let Some(tree) = tree else {
            return (None, Some(step.clone()));
        };
        let (mut front, mut back) = (step.clone(), step.clone());
        (front.finish, back.start) = (tree, tree);
        (Some(front), Some(back))
    }
}

/// The tree before the part at `at`.
fn tree_at(step: &StepTrees, message: &MessageWithParts, at: usize) -> Option<TreeId> {
    let calls = |from: usize, to: usize| {
        let to = to.min(message.parts.len());
        let parts = message.parts.get(from..to).unwrap_or_default();
        parts.iter().any(|part| matches!(part, Part::Tool(_)))
    };
    if !calls(step.parts.start, at) {
        return Some(step.start);
    }
    if !calls(at, step.parts.end) {
        return Some(step.finish);
    }
    let next = step.between.iter().find(|(position, _)| *position >= at);
    next.map(|(_, tree)| *tree)
}

pub fn position(messages: &[MessageWithParts], id: &MessageId) -> Option<usize> {
    messages.iter().position(|message| message.info.id() == id)
}

pub fn part_position(message: &MessageWithParts, id: &PartId) -> Option<usize> {
    message.parts.iter().position(|part| part.id() == id)
}
