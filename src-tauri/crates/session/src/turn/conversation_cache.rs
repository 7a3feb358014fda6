//! The part of the history that is already converted for the provider.
//!
//! History grows at its end, step by step. Messages that were converted for one step are reused
//! for the next, together with what the wire has encoded of them.

use lathe_protocol::{MessageId, MessageWithParts};
use lathe_provider::{Conversation, ModelInfo, WireKind};

use lathe_conversation::convert::{self, Target};

#[derive(Debug, Default)]
pub struct ConversationCache {
    /// The model it was converted for: another one is sent other things.
    target: Option<(ModelInfo, WireKind)>,
    conversation: Conversation,
    /// The converted messages, each with the place where it begins.
    messages: Vec<(MessageId, usize)>,
}

impl ConversationCache {
    /// Converts the messages that are not cached yet and returns the whole conversation.
    pub fn convert(&mut self, messages: &[&MessageWithParts], target: &Target) -> Conversation {
        let is_same =
            |(model, wire): &(ModelInfo, WireKind)| model == target.model && *wire == target.wire;
        if !self.target.as_ref().is_some_and(is_same) {
            *self = ConversationCache {
                target: Some((target.model.clone(), target.wire)),
                ..ConversationCache::default()
            };
        }
        let cached = self.messages.iter().zip(messages);
        let cached = cached
            .take_while(|((id, _), message)| id == message.info.id())
            .count();
        self.truncate(cached);
        for message in &messages[cached..] {
            let begin = self.conversation.message_count();
            self.messages.push((message.info.id().clone(), begin));
            self.conversation
                .extend(convert::convert_messages([*message], target));
        }
        self.conversation.clone()
    }

    /// Drops a message that has changed, and everything after it.
    pub fn invalidate(&mut self, id: &MessageId) {
        if let Some(at) = self.messages.iter().rposition(|(cached, _)| cached == id) {
            self.truncate(at);
        }
    }

    fn truncate(&mut self, messages: usize) {
        if let Some((_, begin)) = self.messages.get(messages) {
            self.conversation.truncate(*begin);
            self.messages.truncate(messages);
        }
    }
}
