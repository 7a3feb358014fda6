//! User messages that the program writes itself.

use lathe_protocol::{
    CompactionPart, CreatedTime, Extra, Map, Message, MessageId, MessageWithParts, Millis, Part,
    PartId, TextPart, UserMessage,
};

use lathe_records::Records;

/// A user message like an earlier one: same session, agent and model.
pub struct Draft<'a> {
    records: &'a Records,
    info: UserMessage,
    now: Millis,
}

impl<'a> Draft<'a> {
    /// Dated so that it sorts after `newest`.
    pub fn like(records: &'a Records, earlier: &UserMessage, newest: Option<&Message>) -> Self {
        let now = records.date_after(newest);
        let info = UserMessage {
            id: records.ids().message(now),
            time: CreatedTime {
                created: now,
                extra: Extra::default(),
            },
            summary: None,
            unsent: None,
            extra: Extra::default(),
            ..earlier.clone()
        };
        Draft { records, info, now }
    }

    #[must_use]
    pub fn for_agent(mut self, agent: &str) -> Self {
        self.info.agent = Some(agent.to_owned());
        self
    }

    pub fn with_text(self, content: &str) -> MessageWithParts {
        let part = text(self.records.ids().part(self.now), &self.info, content, None);
        self.with_parts(vec![part])
    }

    pub fn requesting_summary(self, auto: bool, extra: Extra) -> MessageWithParts {
        let part = Part::Compaction(CompactionPart {
            id: self.records.ids().part(self.now),
            session_id: self.info.session_id.clone(),
            message_id: self.info.id.clone(),
            auto,
            extra,
        });
        self.with_parts(vec![part])
    }

    /// A copy of the prompt.
    pub fn copy_of(self, prompt: &MessageWithParts) -> MessageWithParts {
        let parts = prompt.parts.iter().map(|part| {
            let mut part = part.clone();
            let id = self.records.ids().part(self.now);
            part.relocate(id, self.info.session_id.clone(), self.info.id.clone());
            if let Part::Text(text) = &mut part {
                text.synthetic = Some(true);
            }
            part
        });
        let parts = parts.collect();
        self.with_parts(parts)
    }

    fn with_parts(self, parts: Vec<Part>) -> MessageWithParts {
        MessageWithParts {
            info: Message::User(self.info),
            parts,
        }
    }
}

/// A text part for the model that is not shown to the person.
pub fn text(id: PartId, message: &UserMessage, content: &str, metadata: Option<Map>) -> Part {
    let message_id: MessageId = message.id.clone();
    Part::Text(TextPart {
        id,
        session_id: message.session_id.clone(),
        message_id,
        text: content.to_owned(),
        synthetic: Some(true),
        ignored: None,
        time: None,
        metadata,
        extra: Extra::default(),
    })
}
