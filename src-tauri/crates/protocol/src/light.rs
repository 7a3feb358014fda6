//! Stored things as a window is pushed them: without bytes and texts that few will look at.
//!
//! What is left out is asked for when somebody opens it (`ipc::ToolDetails`, session diffs,
//! the attachment scheme).

use crate::diff::FileDiff;
use crate::event::Event;
use crate::message::Message;
use crate::part::{FilePart, Part};
use crate::session::Session;

/// Where the window finds the bytes of an attachment. The shell serves this scheme.
pub const ATTACHMENTS: &str = "attachment://localhost";

impl Event {
    pub fn light(self) -> Self {
        match self {
            Event::SessionCreated { info } => Event::SessionCreated { info: info.light() },
            Event::SessionUpdated { info } => Event::SessionUpdated { info: info.light() },
            Event::SessionDeleted { info } => Event::SessionDeleted { info: info.light() },
            Event::MessageUpdated { info } => Event::MessageUpdated { info: info.light() },
            Event::SessionDiff {
                session_id,
                mut diff,
            } => {
                diff.iter_mut().for_each(FileDiff::lighten);
                Event::SessionDiff { session_id, diff }
            }
            other => other,
        }
    }
}

impl Session {
    pub fn light(mut self) -> Self {
        let diffs = self.summary.as_mut().and_then(|one| one.diffs.as_mut());
        diffs.into_iter().flatten().for_each(FileDiff::lighten);
        if let Some(revert) = &mut self.revert {
            revert.diff = None;
        }
        self
    }
}

impl Message {
    pub fn light(mut self) -> Self {
        if let Message::User(user) = &mut self
            && let Some(summary) = &mut user.summary
        {
            summary.diffs.iter_mut().for_each(FileDiff::lighten);
        }
        self
    }
}

impl Part {
    pub fn light(self) -> Self {
        match self {
            Part::Tool(part) => Part::Tool(part.light()),
            Part::File(mut part) => {
                part.lighten();
                Part::File(part)
            }
            other => other,
        }
    }
}

impl FilePart {
    /// Bytes never cross as text: what holds its own data becomes an address of it.
    pub(crate) fn lighten(&mut self) {
        if self.url.starts_with("data:") {
            self.url = self.address();
        }
    }

    /// What the window calls it, wherever its bytes are.
    pub fn address(&self) -> String {
        let (session, message) = (&self.session_id, &self.message_id);
        format!("{ATTACHMENTS}/{session}/{message}/{}", self.id)
    }
}

impl FileDiff {
    /// Which file, and how much of it.
    fn lighten(&mut self) {
        self.before = None;
        self.after = None;
        self.patch = None;
    }
}
