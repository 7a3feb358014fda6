//! A tool call without what only an opened card needs.
//!
//! A session's window holds hundreds of cards and opens few: whole files, patches and outputs
//! stay behind until somebody asks for them.

use serde_json::Value;

use super::{FilePart, ToolPart, ToolState};
use crate::json::Map;

/// Enough for the line that a card shows while it is closed.
const LONGEST: usize = 1_024;
/// Of arguments that still stream in, both ends are shown.
const RAW_END: usize = 1_024;

impl ToolPart {
    /// The same call with every long text cut.
    pub fn light(mut self) -> Self {
        match &mut self.state {
            ToolState::Pending(state) => {
                shorten_map(&mut state.input);
                shorten_middle(&mut state.raw);
            }
            ToolState::Running(state) => {
                shorten_map(&mut state.input);
                if let Some(metadata) = &mut state.metadata {
                    shorten_map(metadata);
                }
            }
            ToolState::Completed(state) => {
                shorten_map(&mut state.input);
                shorten_map(&mut state.metadata);
                shorten(&mut state.output);
                let attached = state.attachments.iter_mut().flatten();
                attached.for_each(FilePart::lighten);
            }
            ToolState::Error(state) => {
                shorten_map(&mut state.input);
                if let Some(metadata) = &mut state.metadata {
                    shorten_map(metadata);
                }
                shorten(&mut state.error);
            }
        }
        self
    }
}

fn shorten_map(map: &mut Map) {
    for value in map.values_mut() {
        shorten_value(value);
    }
}

fn shorten_value(value: &mut Value) {
    match value {
        Value::String(text) => shorten(text),
        Value::Array(list) => list.iter_mut().for_each(shorten_value),
        Value::Object(map) => shorten_map(map),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shorten(text: &mut String) {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
}

fn shorten_middle(text: &mut String) {
    if text.len() > LONGEST + RAW_END {
        let head = text.floor_char_boundary(LONGEST);
        let tail = text.ceil_char_boundary(text.len() - RAW_END);
        text.replace_range(head..tail, " … ");
    }
}
