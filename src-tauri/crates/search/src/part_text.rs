//! The searchable text of a part.

use lathe_protocol::ipc::HitKind;
use lathe_protocol::{FilePart, FilePartSource, Map, Part, ToolPart, ToolState};

/// The rest of a longer part is not indexed: that is a dump, not something to search.
const MAX_BYTES: usize = 1 << 20;

/// The text of a part and the kind of the part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartText {
    pub kind: HitKind,
    pub text: String,
}

impl PartText {
    /// `None` for parts without text.
    pub fn extract(part: &Part) -> Option<Self> {
        let (kind, text) = match part {
            Part::Text(part) => (HitKind::Text, part.text.clone()),
            Part::Reasoning(part) => (HitKind::Reasoning, part.text.clone()),
            Part::Tool(part) => (HitKind::Tool, tool_text(part)),
            Part::File(part) => (HitKind::File, file_text(part)),
            Part::Subtask(part) => (
                HitKind::Subtask,
                format!("{}\n{}", part.description, part.prompt),
            ),
            _ => return None,
        };
        let text = clean(&text);
        (!text.trim().is_empty()).then_some(PartText { kind, text })
    }
}

fn tool_text(part: &ToolPart) -> String {
    let mut text = String::new();
    let (title, output) = match part.state() {
        ToolState::Pending(_) => ("", ""),
        ToolState::Running(state) => (state.title.as_deref().unwrap_or_default(), ""),
        ToolState::Completed(state) => (state.title.as_str(), state.output.as_str()),
        ToolState::Error(state) => ("", state.error.as_str()),
    };
    add(&mut text, title);
    add_strings(&mut text, part.state().input());
    add(&mut text, output);
    text
}

fn file_text(part: &FilePart) -> String {
    let mut text = part.filename.clone().unwrap_or_default();
    match &part.source {
        Some(FilePartSource::File(source)) => add(&mut text, &source.path),
        Some(FilePartSource::Symbol(source)) => {
            add(&mut text, &source.path);
            add(&mut text, &source.name);
        }
        Some(FilePartSource::Resource(source)) => add(&mut text, &source.uri),
        None => {}
    }
    text
}

fn add_strings(text: &mut String, map: &Map) {
    let mut rest: Vec<&serde_json::Value> = map.values().collect();
    rest.reverse();
    while let Some(value) = rest.pop() {
        match value {
            serde_json::Value::String(string) => add(text, string),
            serde_json::Value::Array(items) => rest.extend(items.iter().rev()),
            serde_json::Value::Object(fields) => rest.extend(fields.values().rev()),
            _ => {}
        }
    }
}

fn add(text: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Cuts overlong text and removes control characters: two of them mark matches in snippets, and
/// none of them is visible.
fn clean(text: &str) -> String {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let is_visible = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text[..end].chars().filter(is_visible).collect()
}
