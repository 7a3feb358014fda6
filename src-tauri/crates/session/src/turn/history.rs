//! The messages of a session that a turn works with, and what they say is still to be done.

use lathe_protocol::{
    Finish, Message, MessageId, MessageWithParts, Part, RevertState, SessionId, SubtaskPart,
    ToolPart,
};

use super::conversation_cache::ConversationCache;
use lathe_conversation::convert::{self, Target, window};
use lathe_provider::Conversation;
use lathe_records::Records;
use lathe_records::Result;
use lathe_review::revert::Cut;

/// Messages read at once, from the newest back.
const PAGE: usize = 100;

#[derive(Debug, Default)]
pub struct History {
    messages: Vec<MessageWithParts>,
    /// The session has older messages, which a summary replaces for the model.
    has_older: bool,
    converted: ConversationCache,
}

impl History {
    /// Reads from the newest message back to the summary that replaces everything before it.
    pub async fn load(records: &Records, session: &SessionId) -> Result<Self> {
        let mut messages: Vec<MessageWithParts> = Vec::new();
        loop {
            let before = messages.first().map(|oldest| oldest.info.id().clone());
            let mut page = records.messages(session, before.as_ref(), PAGE).await?;
            page.messages.append(&mut messages);
            messages = page.messages;
            let has_older = page.has_older;
            if !has_older || window::is_complete(&messages) {
                messages.retain(is_sent);
                return Ok(History {
                    messages,
                    has_older,
                    converted: ConversationCache::default(),
                });
            }
        }
    }

    /// What remains of a session when its pending revert becomes final.
    pub async fn load_cut(
        records: &Records,
        session: &SessionId,
        revert: &RevertState,
    ) -> Result<Self> {
        // The cut may be before the newest summary, which is then hidden too.
        let messages = records.messages(session, None, usize::MAX).await?.messages;
        let mut messages = match Cut::find(&messages, revert) {
            Some(cut) => cut.visible(&messages),
            None => messages,
        };
        messages.retain(is_sent);
        Ok(History {
            messages,
            ..History::default()
        })
    }

    pub fn messages(&self) -> &[MessageWithParts] {
        &self.messages
    }

    /// The position of the summary that replaces messages which are not loaded.
    pub fn cut(&self) -> Option<usize> {
        let position = || window::summary_position(&self.messages);
        self.has_older.then(position).flatten()
    }

    /// All messages of the session, or none if older ones are not loaded.
    pub fn whole(&self) -> &[MessageWithParts] {
        if self.has_older { &[] } else { &self.messages }
    }

    /// The messages that the model sees, converted for it.
    pub fn convert(&mut self, target: &Target) -> Conversation {
        self.converted
            .convert(&convert::visible(&self.messages), target)
    }

    pub fn newest_user(&self) -> Option<&MessageWithParts> {
        self.messages
            .iter()
            .rev()
            .find(|message| message.info.as_user().is_some())
    }

    pub fn newest(&self) -> Option<&Message> {
        self.messages.last().map(|message| &message.info)
    }

    /// Adds a message, or replaces an older version of it.
    pub fn put(&mut self, message: MessageWithParts) {
        self.converted.invalidate(message.info.id());
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
        self.converted.invalidate(part.message_id());
        let mut newest_first = self.messages.iter_mut().rev();
        let Some(message) = newest_first.find(|one| one.info.id() == part.message_id()) else {
            return;
        };
        match message.parts.iter_mut().find(|old| old.id() == part.id()) {
            Some(old) => *old = part,
            None => message.parts.push(part),
        }
    }

    /// Whether the newest answer ends the prompt. Answers are found by `parentID`, never by the
    /// order of ids.
    pub fn is_answered(&self, prompt: &MessageId) -> bool {
        self.answers_to(prompt).next().is_some_and(|message| {
            let Some(info) = message.info.as_assistant() else {
                return false;
            };
            let used_tools = message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Tool(_)));
            let continues = match info.finish.as_ref().map(Finish::kind) {
                Some(Finish::ToolCalls) => true,
                Some(Finish::Unknown) => used_tools,
                Some(_) => false,
                None => info.time.completed.is_none(),
            };
            info.error.is_some() || !continues
        })
    }

    /// Whether at least one answer to this prompt succeeded.
    pub fn has_progress(&self, prompt: &MessageId) -> bool {
        self.answers_to(prompt).any(|message| {
            message
                .info
                .as_assistant()
                .is_some_and(|answer| answer.error.is_none())
        })
    }

    pub fn has_answer(&self, prompt: &MessageId) -> bool {
        self.answers_to(prompt).next().is_some()
    }

    /// The tokens of the newest step's context, unless a summary has replaced it since.
    pub fn last_total(&self) -> Option<u64> {
        last_total(&self.messages)
    }

    /// The subtasks of a prompt that no call was made for. A call has the id of its subtask.
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
        let opened: Vec<&ToolPart> = self
            .answers_to(prompt.info.id())
            .flat_map(|message| &message.parts)
            .filter_map(|part| match part {
                Part::Tool(tool) => Some(tool),
                _ => None,
            })
            .collect();
        let is_open =
            |task: &&SubtaskPart| !opened.iter().any(|tool| tool.call_id == task.id.as_str());
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

/// False for a prompt that waits for a turn, or that waited for one which ended without it.
pub fn is_sent(message: &MessageWithParts) -> bool {
    let user = message.info.as_user();
    user.is_none_or(|user| user.unsent != Some(true))
}
