//! Collects the parts of a new message.

use lathe_protocol::{
    AgentPart, Extra, FilePart, FilePartSource, MessageId, Millis, ModelRef, Part, SessionId,
    SourceText, SubtaskPart, TextPart,
};

use lathe_records::Records;

pub struct PartList<'a> {
    records: &'a Records,
    session: SessionId,
    message: MessageId,
    now: Millis,
    parts: Vec<Part>,
}

/// An attachment that is not stored yet.
pub struct NewFile {
    pub mime: String,
    pub filename: Option<String>,
    pub url: String,
    pub source: Option<FilePartSource>,
}

/// A task for another agent, from a command.
pub struct NewSubtask {
    pub prompt: String,
    pub description: String,
    pub agent: String,
    pub model: Option<ModelRef>,
    pub command: String,
}

impl<'a> PartList<'a> {
    pub fn new(records: &'a Records, session: SessionId, message: MessageId, now: Millis) -> Self {
        PartList {
            records,
            session,
            message,
            now,
            parts: Vec::new(),
        }
    }

    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    /// Text of the person.
    pub fn text(&mut self, text: String) {
        self.push_text(text, None);
    }

    /// Text that the program adds for the model.
    pub fn synthetic(&mut self, text: String) {
        self.push_text(text, Some(true));
    }

    pub fn file(&mut self, file: NewFile) {
        let part = Part::File(FilePart {
            id: self.records.ids().part(self.now),
            session_id: self.session.clone(),
            message_id: self.message.clone(),
            mime: file.mime,
            filename: file.filename,
            url: file.url,
            source: file.source,
            extra: Extra::default(),
        });
        self.parts.push(part);
    }

    pub fn agent(&mut self, name: String, source: SourceText) {
        let part = Part::Agent(AgentPart {
            id: self.records.ids().part(self.now),
            session_id: self.session.clone(),
            message_id: self.message.clone(),
            name,
            source: Some(source),
            extra: Extra::default(),
        });
        self.parts.push(part);
    }

    pub fn subtask(&mut self, task: NewSubtask) {
        let part = Part::Subtask(SubtaskPart {
            id: self.records.ids().part(self.now),
            session_id: self.session.clone(),
            message_id: self.message.clone(),
            prompt: task.prompt,
            description: task.description,
            agent: task.agent,
            model: task.model,
            command: Some(task.command),
            extra: Extra::default(),
        });
        self.parts.push(part);
    }

    fn push_text(&mut self, text: String, synthetic: Option<bool>) {
        let part = Part::Text(TextPart {
            id: self.records.ids().part(self.now),
            session_id: self.session.clone(),
            message_id: self.message.clone(),
            text,
            synthetic,
            ignored: None,
            time: None,
            metadata: None,
            extra: Extra::default(),
        });
        self.parts.push(part);
    }
}
