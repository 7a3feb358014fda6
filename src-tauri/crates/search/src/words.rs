//! What of a part can be searched for.

use lathe_protocol::ipc::HitKind;
use lathe_protocol::{FilePart, FilePartSource, Map, Part, ToolPart, ToolState};

/// More of one part is not indexed: nobody searches for the middle of a dump.
const MOST: usize = 1 << 20;

/// A part's words and what kind of thing says them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    pub kind: HitKind,
    pub text: String,
}

impl Words {
    /// `None` for parts that say nothing.
    pub fn of(part: &Part) -> Option<Self> {
        let (kind, text) = match part {
            Part::Text(part) => (HitKind::Text, part.text.clone()),
            Part::Reasoning(part) => (HitKind::Reasoning, part.text.clone()),
            Part::Tool(part) => (HitKind::Tool, of_tool(part)),
            Part::File(part) => (HitKind::File, of_file(part)),
            Part::Subtask(part) => (
                HitKind::Subtask,
                format!("{}\n{}", part.description, part.prompt),
            ),
            _ => return None,
        };
        let text = plain(&text);
        (!text.trim().is_empty()).then_some(Words { kind, text })
    }
}

fn of_tool(part: &ToolPart) -> String {
    let mut text = String::new();
    let (title, said) = match part.state() {
        ToolState::Pending(_) => ("", ""),
        ToolState::Running(state) => (state.title.as_deref().unwrap_or_default(), ""),
        ToolState::Completed(state) => (state.title.as_str(), state.output.as_str()),
        ToolState::Error(state) => ("", state.error.as_str()),
    };
    add(&mut text, title);
    add_strings(&mut text, part.state().input());
    add(&mut text, said);
    text
}

fn of_file(part: &FilePart) -> String {
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
            serde_json::Value::String(one) => add(text, one),
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

/// Without control characters: two of them mark matches, and none of them is ever read.
fn plain(text: &str) -> String {
    let mut end = text.len().min(MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text[..end].chars().filter(kept).collect()
}
