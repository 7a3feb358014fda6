//! Shortens messages for a summary: removes what a summary does not need.

use lathe_protocol::{
    Extra, FilePart, Map, MessageWithParts, Millis, Part, TextPart, ToolPart, ToolState,
};
use serde_json::Value;

use super::estimate;

/// Characters of a tool's output, and of each argument, that are kept for a summary.
const LONGEST: usize = 2_000;

/// The message without media and reasoning, with shortened tool calls.
pub fn condense(message: &MessageWithParts) -> MessageWithParts {
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::File(file) => Some(Part::Text(placeholder(file))),
        Part::Reasoning(_) => None,
        Part::Tool(tool) => Some(Part::Tool(cut_call(tool))),
        other => Some(other.clone()),
    });
    MessageWithParts {
        info: message.info.clone(),
        parts: parts.collect(),
    }
}

/// Drops the oldest messages until the rest fits the budget. An earlier summary is never
/// dropped.
pub fn fit(messages: Vec<MessageWithParts>, budget: u64, summed_up: bool) -> Vec<MessageWithParts> {
    let protected = if summed_up { 2.min(messages.len()) } else { 0 };
    let costs: Vec<u64> = messages.iter().map(estimate::message).collect();
    let mut total: u64 = costs.iter().sum();
    let mut from = protected;
    // The first message must not be an answer without its prompt.
    while from < messages.len()
        && (total > budget || (from > protected && messages[from].info.as_user().is_none()))
    {
        total -= costs[from];
        from += 1;
    }
    let mut messages = messages;
    messages.drain(protected..from);
    messages
}

fn placeholder(file: &FilePart) -> TextPart {
    let name = file.filename.as_deref().unwrap_or(&file.url);
    // A data URL is not a name.
    let name = if name.starts_with("data:") {
        "unnamed"
    } else {
        name
    };
    TextPart {
        id: file.id.clone(),
        session_id: file.session_id.clone(),
        message_id: file.message_id.clone(),
        text: format!("[Attached {}: {name}]", file.mime),
        synthetic: Some(true),
        ignored: None,
        time: None,
        metadata: None,
        extra: Extra::default(),
    }
}

/// A copy in the same state with shortened texts.
fn cut_call(tool: &ToolPart) -> ToolPart {
    let mut short = ToolPart::pending(
        tool.id.clone(),
        tool.session_id.clone(),
        tool.message_id.clone(),
        tool.call_id.clone(),
        tool.tool.clone(),
    );
    // A new part accepts each of these transitions once.
    let _ = short.start(cut_map(tool.state().input()), Millis(0));
    match tool.state() {
        ToolState::Completed(done) => {
            let mut output = cut(&done.output);
            for file in done.attachments.iter().flatten() {
                output.push('\n');
                output.push_str(&placeholder(file).text);
            }
            let _ = short.complete(output, String::new(), Map::new(), Vec::new(), Millis(0));
            if done.time.compacted.is_some() {
                short.compact(Millis(0));
            }
        }
        ToolState::Error(failed) => {
            let _ = short.fail(cut(&failed.error), None, Millis(0));
        }
        ToolState::Pending(_) | ToolState::Running(_) => {}
    }
    short
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}\n[the rest was cut]", &text[..end]),
        None => text.to_owned(),
    }
}

fn cut_map(map: &Map) -> Map {
    map.iter()
        .map(|(key, value)| (key.clone(), cut_value(value)))
        .collect()
}

fn cut_value(value: &Value) -> Value {
    match value {
        Value::String(text) => cut(text).into(),
        Value::Array(items) => items.iter().map(cut_value).collect(),
        Value::Object(map) => cut_map(map).into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::samples::{assistant, called, file, user};

    #[test]
    fn media_and_reasoning_are_removed_and_long_tool_calls_are_cut() {
        let long = "é".repeat(2_500);
        let mut message = called("msg_2", "msg_1", "read", &long);
        message.parts.push(file("msg_2", "image/png", "a.png"));
        let short = condense(&message);
        let [Part::Tool(tool), Part::Text(text)] = short.parts.as_slice() else {
            panic!("{short:?}")
        };
        let ToolState::Completed(done) = tool.state() else {
            panic!("not completed")
        };
        let expected = format!("{}\n[the rest was cut]", "é".repeat(2_000));
        assert_eq!(done.output, expected);
        assert_eq!(done.input["content"], Value::from(expected));
        assert_eq!(text.text, "[Attached image/png: a.png]");
    }

    #[test]
    fn the_oldest_messages_are_dropped_when_the_short_form_is_too_long() {
        let big = "x".repeat(4_000);
        let messages = || {
            vec![
                user("msg_1", &big),
                assistant("msg_2", "msg_1", &big),
                user("msg_3", &big),
                assistant("msg_4", "msg_3", &big),
            ]
        };
        let ids = |messages: Vec<MessageWithParts>| -> Vec<String> {
            messages
                .iter()
                .map(|one| one.info.id().to_string())
                .collect()
        };
        assert_eq!(ids(fit(messages(), 4_000, false)).len(), 4);
        // Three fit, but they would begin with an answer.
        assert_eq!(ids(fit(messages(), 3_000, false)), ["msg_3", "msg_4"]);
        // The first two are an earlier summary.
        assert_eq!(ids(fit(messages(), 2_000, true)), ["msg_1", "msg_2"]);
    }
}
