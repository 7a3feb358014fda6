//! Stored values as they are sent to a window: without bytes and long texts.
//!
//! The window asks for the rest when a card is opened (`ipc::ToolDetails`, session diffs, the
//! attachment scheme), or when a person wants to see or copy a whole text.

use serde_json::Value;

use crate::diff::FileDiff;
use crate::event::Event;
use crate::json::Map;
use crate::message::Message;
use crate::part::{FilePart, Part};
use crate::permission::PermissionRequest;
use crate::session::Session;

/// Where the window loads the bytes of an attachment from. The shell serves this scheme.
const ATTACHMENTS: &str = "attachment://localhost";
/// Bytes of a text that is not sent whole: enough for its title, or for the one line that a closed
/// card shows.
pub(crate) const MAX_BYTES: usize = 1_024;
/// Bytes of all values of a map together: it may have a million short ones.
const MAX_VALUES: usize = 256 * 1_024;
/// What a value costs besides its text.
const VALUE: usize = 8;

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
            Event::PermissionAsked(request) => Event::PermissionAsked(request.shortened()),
            other => other,
        }
    }
}

impl PermissionRequest {
    /// The diff says what would change, to the last line. The whole files beside it, before and after,
    /// are not shown.
    pub fn shortened(mut self) -> Self {
        for name in ["filediff", "files"] {
            match self.metadata.get_mut(name) {
                Some(Value::Array(files)) => files.iter_mut().for_each(remove_contents),
                Some(file) => remove_contents(file),
                None => {}
            }
        }
        self
    }
}

fn remove_contents(file: &mut Value) {
    if let Value::Object(file) = file {
        file.retain(|name, _| !["before", "after", "patch"].contains(&name.as_str()));
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
            Part::Unknown(mut part) => {
                shorten_map(&mut part.extra.0);
                Part::Unknown(part)
            }
            other => other,
        }
    }

    /// Keeps only the beginning of a text or of reasoning.
    pub fn shorten_text(&mut self) {
        match self {
            Part::Text(part) => shorten_to(&mut part.text, MAX_BYTES),
            Part::Reasoning(part) => shorten_to(&mut part.text, MAX_BYTES),
            _ => {}
        }
    }
}

/// Cuts a text that is longer than this many bytes, at the end of a character.
pub(crate) fn shorten_to(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        text.truncate(floor_char_boundary(text, bytes));
        text.push('…');
    }
}

/// Cuts the texts of a map, and leaves out what comes after very many values.
pub(crate) fn shorten_map(map: &mut Map) {
    let mut left = MAX_VALUES;
    shorten_entries(map, &mut left);
}

fn shorten_entries(map: &mut Map, left: &mut usize) {
    map.retain(|key, value| {
        let fits = *left > 0 && key.len() <= MAX_BYTES;
        if fits {
            *left = left.saturating_sub(key.len());
            shorten_value(value, left);
        }
        fits
    });
}

fn shorten_value(value: &mut Value, left: &mut usize) {
    *left = left.saturating_sub(VALUE);
    match value {
        Value::String(text) => {
            shorten_to(text, MAX_BYTES);
            *left = left.saturating_sub(text.len());
        }
        Value::Array(list) => list.retain_mut(|value| {
            let fits = *left > 0;
            if fits {
                shorten_value(value, left);
            }
            fits
        }),
        Value::Object(map) => shorten_entries(map, left),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The last character boundary at or before `at`.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut places = (0..=at).rev();
    places.find(|at| text.is_char_boundary(*at)).unwrap_or(0)
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
