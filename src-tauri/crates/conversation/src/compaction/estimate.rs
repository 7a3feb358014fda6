//! Estimates tokens: four characters are one token.

use lathe_protocol::{Map, MessageWithParts, Part, ToolPart, ToolState};
use serde_json::Value;

/// What providers count for a large picture.
const MEDIA: u64 = 1_500;

pub fn text(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

pub fn message(message: &MessageWithParts) -> u64 {
    message.parts.iter().map(part).sum()
}

fn part(part: &Part) -> u64 {
    match part {
        Part::Text(part) => text(&part.text),
        Part::Reasoning(part) => text(&part.text),
        Part::File(file) if file.mime == "text/plain" => 0,
        Part::File(_) => MEDIA,
        Part::Tool(tool) => input(tool.state().input()) + output(tool),
        _ => 0,
    }
}

/// The tokens of a tool's output; cleared output costs nothing.
pub fn output(tool: &ToolPart) -> u64 {
    match tool.state() {
        ToolState::Completed(done) if done.time.compacted.is_some() => 0,
        ToolState::Completed(done) => {
            let files = done.attachments.as_deref().unwrap_or_default().len() as u64;
            text(&done.output) + files * MEDIA
        }
        ToolState::Error(failed) => text(&failed.error),
        ToolState::Pending(_) | ToolState::Running(_) => 0,
    }
}

fn input(input: &Map) -> u64 {
    input
        .iter()
        .map(|(key, value)| text(key) + in_value(value))
        .sum()
}

fn in_value(value: &Value) -> u64 {
    match value {
        Value::String(string) => text(string),
        Value::Array(items) => items.iter().map(in_value).sum(),
        Value::Object(map) => input(map),
        _ => 1,
    }
}
