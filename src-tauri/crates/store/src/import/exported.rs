//! One session as `export` prints it: `{ info, messages: [{ info, parts }] }`.

use std::borrow::Cow;
use std::path::Path;
use std::string::FromUtf16Error;

use lathe_protocol::SessionId;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::bundle::Bundle;
use super::{Source, Unreadable, read_file};
use crate::error::{IoContext, Result, StoreError};
use crate::json_format;
use crate::key::Key;
use crate::migrate::session_diffs;
use crate::storage::encode;

#[derive(Deserialize)]
pub(super) struct Exported {
    info: Map<String, Value>,
    #[serde(default)]
    messages: Vec<Message>,
    todos: Option<Value>,
    diff: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    info: Value,
    #[serde(default)]
    parts: Vec<Value>,
}

impl Exported {
    pub(super) fn read(path: &Path) -> Result<Exported> {
        let mut bytes = Vec::new();
        read_file(path, &mut bytes).doing("reading", path)?;
        let not_exported = |error: &dyn ToString| StoreError::NotExported(error.to_string());
        let text = as_utf8(&bytes).map_err(|error| not_exported(&error))?;
        json_format::from_bytes(&text).map_err(|error| not_exported(&error))
    }

    fn text(&self, field: &str) -> &str {
        self.info
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// A file that a Windows shell wrote begins with a byte order mark and may be UTF-16.
fn as_utf8(bytes: &[u8]) -> Result<Cow<'_, [u8]>, FromUtf16Error> {
    let decode = |pair: fn([u8; 2]) -> u16, rest: &[u8]| {
        let (pairs, _) = rest.as_chunks();
        let units: Vec<u16> = pairs.iter().copied().map(pair).collect();
        Ok(Cow::Owned(String::from_utf16(&units)?.into_bytes()))
    };
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => Ok(Cow::Borrowed(rest)),
        [0xff, 0xfe, rest @ ..] => decode(u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => decode(u16::from_be_bytes, rest),
        _ => Ok(Cow::Borrowed(bytes)),
    }
}

impl Source for Exported {
    fn list_sessions(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<Vec<SessionId>> {
        match SessionId::parse(self.text("id")) {
            Ok(id) => Ok(vec![id]),
            Err(bad) => {
                unreadable.push(Unreadable::new("session", bad));
                Ok(Vec::new())
            }
        }
    }

    fn load_session(&mut self, id: &SessionId, unreadable: &mut Vec<Unreadable>) -> Result<Bundle> {
        let project = match self.text("projectID") {
            "" => "global",
            project => project,
        };
        let key = Key::new(["session", project, id.as_str()])?;
        // Early versions have the diffs in the session itself.
        let diffs = session_diffs::take_diffs(&mut self.info);
        let mut bundle = Bundle::new(&key, encode(&self.info)?, unreadable)?;
        for message in std::mem::take(&mut self.messages) {
            let id = message.info["id"].as_str().unwrap_or_default().to_owned();
            let mut parts = Vec::with_capacity(message.parts.len());
            for part in &message.parts {
                let id = part["id"].as_str().unwrap_or_default().to_owned();
                parts.push((id, Ok(encode(part)?)));
            }
            bundle.add_message(&id, Ok(encode(&message.info)?), parts, unreadable);
        }
        if let Some(todos) = &self.todos {
            bundle.add_todos(encode(todos)?, unreadable);
        }
        if let Some(diff) = self.diff.as_ref().or(diffs.as_ref()) {
            bundle.add_diffs(encode(diff)?, unreadable);
        }
        Ok(bundle)
    }
}
