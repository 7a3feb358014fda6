//! Assembles tool calls from fragments.
//!
//! The API numbers parallel calls by `index`. Compatible servers omit it, give every call
//! index 0, omit ids, repeat names, or send the arguments as an object.

use serde_json::Value;

use super::chunk::{CallDelta, Text};
use crate::event::{BlockId, Metadata, StreamEvent};

#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

struct Call {
    index: Option<u64>,
    /// The server's id; empty if it sent none.
    given_id: String,
    name: String,
    input: String,
    /// Set once the name is known and the start has been announced.
    id: Option<BlockId>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn add(&mut self, delta: CallDelta<'_>, response: &str, out: &mut Vec<StreamEvent>) {
        let number = self.find_or_insert(&delta);
        let call = &mut self.calls[number];
        if let Some(id) = delta.id.filter(|_| call.given_id.is_empty()) {
            call.given_id.push_str(&id);
        }
        let Some(function) = delta.function else {
            return;
        };
        if let Some(name) = function.name.filter(|_| call.name.is_empty()) {
            call.name.push_str(&name);
        }
        let text = match function.arguments {
            Text::None => String::new(),
            Text::Plain(text) => text,
            Text::Parts(parts) => Value::Array(parts).to_string(),
            Text::Json(value) => value.to_string(),
        };
        call.append(text, number, response, out);
    }

    /// The position of the call that a fragment belongs to.
    fn find_or_insert(&mut self, delta: &CallDelta<'_>) -> usize {
        let id = delta.id.as_deref().unwrap_or_default();
        let name = delta.function.as_ref().and_then(|f| f.name.as_deref());
        let has_name = name.is_some_and(|name| !name.is_empty());
        let same_id =
            |call: &Call| id.is_empty() || call.given_id.is_empty() || call.given_id == id;
        let found = match delta.index {
            Some(index) => self
                .calls
                .iter()
                .rposition(|call| call.index == Some(index) && (same_id(call) || !has_name)),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.given_id == id),
            None if has_name => None,
            None => self.calls.len().checked_sub(1),
        };
        found.unwrap_or_else(|| {
            self.calls.push(Call {
                index: delta.index,
                given_id: String::new(),
                name: String::new(),
                input: String::new(),
                id: None,
            });
            self.calls.len() - 1
        })
    }

    /// Emits the end of every call.
    pub(super) fn finish(&mut self, response: &str, out: &mut Vec<StreamEvent>) {
        for (number, mut call) in self.calls.drain(..).enumerate() {
            let id = call.announce(number, response, out);
            out.push(StreamEvent::ToolInputEnd { id: id.clone() });
            let input = if call.input.trim().is_empty() {
                "{}".to_owned()
            } else {
                call.input
            };
            out.push(StreamEvent::ToolCall {
                id,
                name: call.name,
                input,
                metadata: Metadata::new(),
            });
        }
    }
}

impl Call {
    fn append(&mut self, text: String, number: usize, response: &str, out: &mut Vec<StreamEvent>) {
        if self.name.is_empty() {
            // Announced once the name is known, together with this input.
            self.input.push_str(&text);
            return;
        }
        let id = self.announce(number, response, out);
        if !text.is_empty() {
            self.input.push_str(&text);
            out.push(StreamEvent::ToolInputDelta { id, text });
        }
    }

    fn announce(&mut self, number: usize, response: &str, out: &mut Vec<StreamEvent>) -> BlockId {
        if let Some(id) = &self.id {
            return id.clone();
        }
        let id = if self.given_id.is_empty() {
            // With the response's id, so that calls of different steps differ.
            BlockId::from(format!("call-{response}-{number}"))
        } else {
            BlockId::from(self.given_id.as_str())
        };
        self.id = Some(id.clone());
        out.push(StreamEvent::ToolInputStart {
            id: id.clone(),
            name: self.name.clone(),
        });
        if !self.input.is_empty() {
            out.push(StreamEvent::ToolInputDelta {
                id: id.clone(),
                text: self.input.clone(),
            });
        }
        id
    }
}
