//! The session as the turn knows it: what the model may see, and what is still to be done.

use lathe_protocol::{
    Finish, MessageId, MessageWithParts, Millis, Part, RevertState, SessionId, SubtaskPart,
    ToolPart,
};

use super::told::Told;
use crate::convert::{self, Target, window};
use lathe_provider::Conversation;
use lathe_records::Records;
use lathe_records::Result;
use lathe_review::revert::Cut;

/// Messages are read from the newest on, so many at a time.
const PAGE: usize = 100;

#[derive(Debug, Default)]
pub struct History {
    messages: Vec<MessageWithParts>,
    /// Older messages exist that no model sees any more.
    has_older: bool,
    told: Told,
}

impl History {
    /// From the newest message back to where a summary stands for everything before.
    pub async fn load(records: &Records, session: &SessionId) -> Result<Self> {
        let mut messages: Vec<MessageWithParts> = Vec::new();
        loop {
            let before = messages.first().map(|oldest| oldest.info.id().clone());
            let mut page = records.messages(session, before.as_ref(), PAGE).await?;
            page.messages.append(&mut messages);
            messages = page.messages;
            let has_older = page.has_older;
            if !has_older || window::is_whole(&messages) {
                return Ok(History {
                    messages,
                    has_older,
                    told: Told::default(),
                });
            }
        }
    }

    /// What is left of a session when a pending revert becomes final.
    pub async fn load_cut(
        records: &Records,
        session: &SessionId,
        revert: &RevertState,
    ) -> Result<Self> {
        // A cut may lie before the newest summary: then that is hidden too.
        let messages = records.messages(session, None, usize::MAX).await?.messages;
        let messages = match Cut::of(&messages, revert) {
            Some(cut) => cut.visible(&messages),
            None => messages,
        };
        Ok(History {
            messages,
            ..History::default()
        })
    }

    pub fn messages(&self) -> &[MessageWithParts] {
        &self.messages
    }

    /// Where a summary stands for messages that we do not have.
    pub fn cut(&self) -> Option<usize> {
        let summed_up = || window::summed_up_at(&self.messages);
        self.has_older.then(summed_up).flatten()
    }

    /// The whole session, if that is what we have.
    pub fn whole(&self) -> &[MessageWithParts] {
        if self.has_older { &[] } else { &self.messages }
    }

    /// What the model sees of it, in its words.
    pub fn tell(&mut self, target: &Target) -> Conversation {
        self.told.tell(&convert::visible(&self.messages), target)
    }

    pub fn newest_user(&self) -> Option<&MessageWithParts> {
        self.messages
            .iter()
            .rev()
            .find(|message| message.info.as_user().is_some())
    }

    /// Nothing may be dated before this, or it would sort before what it follows.
    pub fn newest_created(&self) -> Millis {
        self.messages
            .last()
            .map_or(Millis(0), |message| message.info.created())
    }

    /// Adds a message, or takes its newer form.
    pub fn put(&mut self, message: MessageWithParts) {
        self.told.forget(message.info.id());
        let known = self
            .messages
            .iter_mut()
            .rev()
            .find(|old| old.info.id() == message.info.id());
        match known {
            Some(old) => *old = message,
            None => self.messages.push(message),
        }
    }

    pub fn put_part(&mut self, part: Part) {
        self.told.forget(part.message_id());
        let mut newest_first = self.messages.iter_mut().rev();
        let Some(message) = newest_first.find(|one| one.info.id() == part.message_id()) else {
            return;
        };
        match message.parts.iter_mut().find(|old| old.id() == part.id()) {
            Some(old) => *old = part,
            None => message.parts.push(part),
        }
    }

    pub fn remove(&mut self, id: &MessageId) {
        self.told.forget(id);
        self.messages.retain(|message| message.info.id() != id);
    }

    /// Decided by `parentID`, never by the order of ids.
    pub fn is_answered(&self, prompt: &MessageId) -> bool {
        self.answers_to(prompt).next().is_some_and(|message| {
            let Some(info) = message.info.as_assistant() else {
                return false;
            };
            let used_tools = message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Tool(_)));
            let goes_on = match info.finish.as_ref().map(Finish::kind) {
                Some(Finish::ToolCalls) => true,
                Some(Finish::Unknown) => used_tools,
                Some(_) => false,
                None => info.time.completed.is_none(),
            };
            info.error.is_some() || !goes_on
        })
    }

    /// Whether something was done for this prompt already.
    pub fn has_progress(&self, prompt: &MessageId) -> bool {
        self.answers_to(prompt).any(|message| {
            message
                .info
                .as_assistant()
                .is_some_and(|answer| answer.error.is_none())
        })
    }

    /// The context that the newest step took, unless a summary has replaced it since.
    pub fn last_total(&self) -> Option<u64> {
        last_total(&self.messages)
    }

    /// The subtasks of a prompt that nobody has begun: a call bears the id of its subtask.
    pub fn open_subtasks(&self, prompt: &MessageWithParts) -> Vec<SubtaskPart> {
        let subtasks: Vec<_> = prompt
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Subtask(subtask) => Some(subtask),
                _ => None,
            })
            .collect();
        if subtasks.is_empty() {
            return Vec::new();
        }
        let begun: Vec<&ToolPart> = self
            .answers_to(prompt.info.id())
            .flat_map(|message| &message.parts)
            .filter_map(|part| match part {
                Part::Tool(tool) => Some(tool),
                _ => None,
            })
            .collect();
        let is_open =
            |task: &&SubtaskPart| !begun.iter().any(|tool| tool.call_id == task.id.as_str());
        subtasks.into_iter().filter(is_open).cloned().collect()
    }

    /// Newest first.
    fn answers_to(&self, prompt: &MessageId) -> impl Iterator<Item = &MessageWithParts> {
        self.messages.iter().rev().filter(move |message| {
            message
                .info
                .as_assistant()
                .is_some_and(|answer| answer.parent_id == *prompt)
        })
    }
}

pub fn last_total(messages: &[MessageWithParts]) -> Option<u64> {
    for message in messages.iter().rev() {
        let Some(info) = message.info.as_assistant() else {
            continue;
        };
        if info.summary == Some(true) {
            if info.finish.is_some() && info.error.is_none() {
                return None;
            }
            continue;
        }
        let total = u64::try_from(info.tokens.context()).unwrap_or(0);
        if total > 0 {
            return Some(total);
        }
    }
    None
}
