//! Gives the content of a message its ids.

use lathe_protocol::{
    BadId, CompactionPart, Extra, FilePart, MessageId, Millis, Part, PartId, PartTime,
    ReasoningPart, SessionId, StepStartPart, TextPart, ToolPart,
};
use serde_json::Value;

use super::Transcript;
use super::content::{Call, Content};
use crate::writer::{IMPORTED, Writer};
use crate::{ids, tools};

impl<W: Writer> Transcript<'_, W> {
    pub(super) fn answer_parts(
        &self,
        key: &str,
        tick: u64,
        id: &MessageId,
        (created, end): (Millis, Millis),
        content: Vec<Content>,
        finish: impl FnOnce((PartId, SessionId, MessageId)) -> Part,
    ) -> Result<Vec<Part>, BadId> {
        let place = |index: usize| -> Result<_, BadId> {
            let part = ids::part(&self.header.scope, key, tick, index as u64)?;
            Ok((part, self.header.id.clone(), id.clone()))
        };
        let (first, session_id, message_id) = place(0)?;
        let mut parts = vec![Part::StepStart(StepStartPart {
            id: first,
            session_id,
            message_id,
            snapshot: None,
            extra: Extra::default(),
        })];
        let count = content.len();
        for (index, content) in content.into_iter().enumerate() {
            let time = PartTime {
                start: created,
                end: Some(end),
                extra: Extra::default(),
            };
            parts.push(self.part(place(index + 1)?, key, tick, time, content)?);
        }
        parts.push(finish(place(count + 1)?));
        Ok(parts)
    }

    pub(super) fn parts(
        &self,
        key: &str,
        tick: u64,
        id: &MessageId,
        created: Millis,
        content: Vec<Content>,
    ) -> Result<Vec<Part>, BadId> {
        let mut parts = Vec::with_capacity(content.len());
        for (index, content) in content.into_iter().enumerate() {
            let part = ids::part(&self.header.scope, key, tick, index as u64)?;
            let place = (part, self.header.id.clone(), id.clone());
            let time = PartTime {
                start: created,
                end: Some(created),
                extra: Extra::default(),
            };
            parts.push(self.part(place, key, tick, time, content)?);
        }
        Ok(parts)
    }

    fn part(
        &self,
        (id, session_id, message_id): (PartId, SessionId, MessageId),
        key: &str,
        tick: u64,
        time: PartTime,
        content: Content,
    ) -> Result<Part, BadId> {
        let extra = Extra::default();
        Ok(match content {
            Content::Text {
                text,
                synthetic,
                ignored,
            } => Part::Text(TextPart {
                id,
                session_id,
                message_id,
                text,
                synthetic: synthetic.then_some(true),
                ignored: ignored.then_some(true),
                time: Some(time),
                metadata: None,
                extra,
            }),
            Content::Reasoning(text, metadata) => Part::Reasoning(ReasoningPart {
                id,
                session_id,
                message_id,
                text,
                metadata,
                time,
                extra,
            }),
            Content::File {
                mime,
                filename,
                url,
            } => Part::File(FilePart {
                id,
                session_id,
                message_id,
                mime,
                filename,
                url,
                source: None,
                extra,
            }),
            Content::Compaction { auto } => Part::Compaction(CompactionPart {
                id,
                session_id,
                message_id,
                auto,
                extra,
            }),
            Content::Call(call) => {
                self.call(*call, (id, session_id, message_id), key, tick, time)?
            }
        })
    }

    fn call(
        &self,
        call: Call,
        (id, session_id, message_id): (PartId, SessionId, MessageId),
        key: &str,
        tick: u64,
        time: PartTime,
    ) -> Result<Part, BadId> {
        let (tool, input) = tools::rename(&call.tool, call.input);
        let mut attachments = Vec::new();
        for (index, one) in call.attachments.into_iter().enumerate() {
            let key = format!("{key}/{}", call.id);
            let part = ids::part(&self.header.scope, &key, tick, index as u64)?;
            let place = (part, session_id.clone(), message_id.clone());
            if let Part::File(file) = self.part(place, &key, tick, time.clone(), one)? {
                attachments.push(file);
            }
        }
        let start = call.start.unwrap_or(time.start);
        let end = call.end.or(time.end).unwrap_or(start).max(start);
        let mut part = ToolPart::pending(id, session_id, message_id, call.id, tool);
        let mut metadata = call.metadata;
        // A new call starts and ends once, so none of these is refused.
        let ended = part.start(input, start).and_then(|()| match call.result {
            Some(Ok(output)) => part.complete(output, call.title, metadata, attachments, end),
            Some(Err(error)) => part.fail(error, Some(metadata), end),
            None => {
                metadata.insert(IMPORTED.to_owned(), Value::from("no result was recorded"));
                part.fail(ToolPart::ABORTED.to_owned(), Some(metadata), end)
            }
        });
        if ended.is_ok() && call.compacted {
            part.compact(end);
        }
        Ok(Part::Tool(part))
    }
}
