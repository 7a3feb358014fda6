//! Stored values as they are sent to a window: without bytes and long texts.
//!
//! The window asks for the rest when a card is opened (`ipc::ToolDetails`, session diffs, the
//! attachment scheme).

use crate::diff::FileDiff;
use crate::event::Event;
use crate::message::Message;
use crate::part::{FilePart, Part};
use crate::session::Session;

/// Where the window loads the bytes of an attachment from. The shell serves this scheme.
const ATTACHMENTS: &str = "attachment://localhost";

impl Event {
    pub fn shortened(self) -> Self {
        match self {
            Event::SessionCreated { info } => Event::SessionCreated {
                info: info.shortened(),
            },
            Event::SessionUpdated { info } => Event::SessionUpdated {
                info: info.shortened(),
            },
            Event::SessionDeleted { info } => Event::SessionDeleted {
                info: info.shortened(),
            },
            Event::MessageUpdated { info } => Event::MessageUpdated {
                info: info.shortened(),
            },
            Event::SessionDiff {
                session_id,
                mut diff,
            } => {
                diff.iter_mut().for_each(FileDiff::shorten);
                Event::SessionDiff { session_id, diff }
            }
            other => other,
        }
    }
}

impl Session {
    pub fn shortened(mut self) -> Self {
        let diffs = self.summary.as_mut().and_then(|one| one.diffs.as_mut());
        diffs.into_iter().flatten().for_each(FileDiff::shorten);
        if let Some(revert) = &mut self.revert {
            revert.diff = None;
        }
        self
    }
}

impl Message {
    pub fn shortened(mut self) -> Self {
        if let Message::User(user) = &mut self
            && let Some(summary) = &mut user.summary
        {
            summary.diffs.iter_mut().for_each(FileDiff::shorten);
        }
        self
    }
}

impl Part {
    pub fn shortened(self) -> Self {
        match self {
            Part::Tool(part) => Part::Tool(part.shortened()),
            Part::File(mut part) => {
                part.shorten();
                Part::File(part)
            }
            other => other,
        }
    }
}

impl FilePart {
    /// Bytes are never sent as text: a `data:` URL becomes the address of its part.
    pub(crate) fn shorten(&mut self) {
        if self.url.starts_with("data:") {
            self.url = self.address();
        }
    }

    /// The address by which the window loads this file, wherever its bytes are stored.
    pub fn address(&self) -> String {
        let (session, message) = (&self.session_id, &self.message_id);
        format!("{ATTACHMENTS}/{session}/{message}/{}", self.id)
    }
}

impl FileDiff {
    /// Keeps only the name of the file and the line counts.
    fn shorten(&mut self) {
        self.before = None;
        self.after = None;
        self.patch = None;
    }
}
