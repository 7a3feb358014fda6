//! What of the history is in the model's words already.
//!
//! History grows at its end, step by step; what was converted for one step is there for the
//! next, with what the wire has written of it.

use lathe_protocol::{MessageId, MessageWithParts};
use lathe_provider::{Conversation, ModelInfo, WireKind};

use crate::convert::{self, Target};

#[derive(Debug, Default)]
pub struct Told {
    /// Whom it is for: another model sees other things.
    to: Option<(ModelInfo, WireKind)>,
    conversation: Conversation,
    /// The messages in it, each with the place where it begins.
    messages: Vec<(MessageId, usize)>,
}

impl Told {
    /// These messages, all of them, in the model's words.
    pub fn tell(&mut self, messages: &[&MessageWithParts], target: &Target) -> Conversation {
        let is_for =
            |(model, wire): &(ModelInfo, WireKind)| model == target.model && *wire == target.wire;
        if !self.to.as_ref().is_some_and(is_for) {
            *self = Told {
                to: Some((target.model.clone(), target.wire)),
                ..Told::default()
            };
        }
        let known = self.messages.iter().zip(messages);
        let known = known
            .take_while(|((id, _), message)| id == message.info.id())
            .count();
        self.cut(known);
        for message in &messages[known..] {
            let begin = self.conversation.message_count();
            self.messages.push((message.info.id().clone(), begin));
            self.conversation
                .extend(convert::each_to_model([*message], target));
        }
        self.conversation.clone()
    }

    /// This message has changed.
    pub fn forget(&mut self, id: &MessageId) {
        if let Some(at) = self.messages.iter().rposition(|(known, _)| known == id) {
            self.cut(at);
        }
    }

    fn cut(&mut self, messages: usize) {
        if let Some((_, begin)) = self.messages.get(messages) {
            self.conversation.truncate(*begin);
            self.messages.truncate(messages);
        }
    }
}
