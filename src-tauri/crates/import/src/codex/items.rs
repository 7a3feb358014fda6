//! The items of a model's conversation, as Codex stores them.

use serde_json::Value;

use crate::transcript::Content;
use crate::value::{list, text};

/// Texts that Codex adds in the person's name begin with one of these.
const INJECTED: [&str; 11] = [
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<skill>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<collaboration_mode>",
    "<INSTRUCTIONS>",
    "<apps_instructions>",
];
/// A command that the person ran outside the conversation.
const SHELL_COMMAND: &str = "<user_shell_command>";

pub fn is_item(record: &Value) -> bool {
    let kind = text(record, "type").unwrap_or_default();
    matches!(
        kind,
        "message" | "reasoning" | "compaction" | "context_compaction"
    ) || kind.ends_with("_call")
        || is_output(record)
}

pub fn is_output(item: &Value) -> bool {
    matches!(
        text(item, "type"),
        Some(
            "function_call_output"
                | "custom_tool_call_output"
                | "local_shell_call_output"
                | "tool_search_output"
                | "tool_search_call_output"
        )
    )
}

/// Whether an item is a message that the person wrote.
pub fn is_prompt(item: &Value) -> bool {
    text(item, "type") == Some("message")
        && text(item, "role") == Some("user")
        && match first_text(item) {
            Some(first) => !is_injected(first) && !first.starts_with(SHELL_COMMAND),
            None => !list(item, "content").is_empty(),
        }
}

pub fn is_injected(text: &str) -> bool {
    let start = text.trim_start();
    INJECTED.iter().any(|prefix| start.starts_with(prefix))
}

pub fn is_shell_command(text: &str) -> bool {
    text.trim_start().starts_with(SHELL_COMMAND)
}

pub fn first_text(item: &Value) -> Option<&str> {
    list(item, "content")
        .iter()
        .find_map(|one| text(one, "text"))
}

/// The content of a message or of a call's output, and the types that are not known.
pub fn contents(items: &[Value]) -> (Vec<Content>, Vec<(String, &'static str)>) {
    let mut found = Vec::new();
    let mut left_out = Vec::new();
    for item in items {
        match text(item, "type").unwrap_or_default() {
            "input_text" | "output_text" | "text" => match text(item, "text") {
                // The frame around a picture; the picture itself follows.
                Some(text) if text.starts_with("<image ") || text == "</image>" => {}
                Some(text) => found.push(Content::text(text)),
                None => {}
            },
            "refusal" => found.extend(text(item, "refusal").map(Content::text)),
            "input_image" => match text(item, "image_url").and_then(Content::data_url) {
                Some(picture) => found.push(picture),
                None => left_out.push(("image".to_owned(), "only its address is stored")),
            },
            "input_file" => match text(item, "file_data").and_then(Content::data_url) {
                Some(file) => found.push(file),
                None => left_out.push(("file".to_owned(), "only its name is stored")),
            },
            other => left_out.push((format!("content {other}"), "it is not known")),
        }
    }
    (found, left_out)
}

/// The output without the head that Codex puts before it for the model.
pub fn without_head(output: &str) -> &str {
    let is_head = output.starts_with("Chunk ID:")
        || output.starts_with("Wall time:")
        || output.starts_with("Exit code:");
    match output.split_once("\nOutput:\n") {
        Some((head, rest)) if is_head && head.lines().count() <= 8 => rest,
        _ => output,
    }
}
