//! A tool call without what only an opened card needs.
//!
//! A window shows hundreds of cards and the user opens few of them, so whole files, patches
//! and outputs are sent on request only.

use serde_json::Value;

use super::{FilePart, ToolPart, ToolState};
use crate::json::Map;

/// Bytes of a text that are sent: enough for the one line that a closed card shows.
const MAX_BYTES: usize = 1_024;
/// Bytes sent from the end of arguments that are still streaming in.
const RAW_END: usize = 1_024;

impl ToolPart {
    /// The same call with every long text cut.
    pub fn shortened(mut self) -> Self {
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
                attached.for_each(FilePart::shorten);
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
    if text.len() > MAX_BYTES {
        text.truncate(floor_char_boundary(text, MAX_BYTES));
        text.push('…');
    }
}

fn shorten_middle(text: &mut String) {
    if text.len() > MAX_BYTES + RAW_END {
        let head = floor_char_boundary(text, MAX_BYTES);
        let tail = floor_char_boundary(text, text.len() - RAW_END);
        text.replace_range(head..tail, " … ");
    }
}

/// The last character boundary at or before `at`.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut places = (0..=at).rev();
    places.find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
