//! Messages that the program writes in the person's place.

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
    /// `not_before` keeps it behind what it follows.
    pub fn like(records: &'a Records, earlier: &UserMessage, not_before: Millis) -> Self {
        let now = records.now().max(not_before);
        let info = UserMessage {
            id: records.ids().message(now),
            time: CreatedTime {
                created: now,
                extra: Extra::default(),
            },
            summary: None,
            extra: Extra::default(),
            ..earlier.clone()
        };
        Draft { records, info, now }
    }

    #[must_use]
    pub fn by(mut self, agent: &str) -> Self {
        self.info.agent = Some(agent.to_owned());
        self
    }

    pub fn saying(self, said: &str) -> MessageWithParts {
        let part = text(self.records.ids().part(self.now), &self.info, said, None);
        self.with(vec![part])
    }

    pub fn asking_for_summary(self, auto: bool, extra: Extra) -> MessageWithParts {
        let part = Part::Compaction(CompactionPart {
            id: self.records.ids().part(self.now),
            session_id: self.info.session_id.clone(),
            message_id: self.info.id.clone(),
            auto,
            extra,
        });
        self.with(vec![part])
    }

    /// The same prompt once more.
    pub fn repeating(self, prompt: &MessageWithParts) -> MessageWithParts {
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
        self.with(parts)
    }

    fn with(self, parts: Vec<Part>) -> MessageWithParts {
        MessageWithParts {
            info: Message::User(self.info),
            parts,
        }
    }
}

/// A text that the model reads and the person need not.
pub fn text(id: PartId, of: &UserMessage, said: &str, metadata: Option<Map>) -> Part {
    let message_id: MessageId = of.id.clone();
    Part::Text(TextPart {
        id,
        session_id: of.session_id.clone(),
        message_id,
        text: said.to_owned(),
        synthetic: Some(true),
        ignored: None,
        time: None,
        metadata,
        extra: Extra::default(),
    })
}
