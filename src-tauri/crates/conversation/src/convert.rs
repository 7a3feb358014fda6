//! Converts stored messages into the provider-neutral form.
//!
//! Pure: history in, neutral messages out. Each rule has a test in `convert/tests.rs`.

mod files;
pub mod window;

use lathe_protocol::{
    AssistantMessage, FilePart, Map, Message, MessageError, MessageWithParts, Part, ToolPart,
    ToolState,
};
use lathe_provider::{
    AssistantContent, FileContent, ModelInfo, ModelMessage, ToolOutcome, UserContent, WireKind,
};
use serde_json::Value;

pub use window::visible;

pub use crate::pictures::FittedPicture;

pub const COMPACTED_OUTPUT: &str = "[Old tool result content cleared]";
pub const INTERRUPTED: &str = "[Tool execution was interrupted]";
const COMPACTION_PROMPT: &str = "What did we do so far?";
const SUBTASK_NOTE: &str = "The following tool was executed by the user";

/// The model that the messages are for: they are adapted to what it accepts.
pub struct Target<'a> {
    pub model: &'a ModelInfo,
    pub wire: WireKind,
    /// Scales a picture to the provider's limits.
    pub fit: &'a (dyn Fn(&FilePart, Vec<u8>) -> Option<FittedPicture> + Sync),
}

impl Target<'_> {
    fn images_in_results(&self) -> bool {
        self.wire == WireKind::Anthropic
    }

    fn is_author(&self, message: &AssistantMessage) -> bool {
        message.provider_id == self.model.provider && message.model_id == self.model.id
    }
}

/// Converts all the given messages.
pub fn convert_messages<'a>(
    messages: impl IntoIterator<Item = &'a MessageWithParts>,
    target: &Target,
) -> Vec<ModelMessage> {
    let mut out = Vec::new();
    for message in messages {
        match &message.info {
            Message::User(_) => push_user(&mut out, user_content(&message.parts, target)),
            Message::Assistant(info) => push_assistant(&mut out, info, &message.parts, target),
        }
    }
    out
}

fn push_user(out: &mut Vec<ModelMessage>, content: Vec<UserContent>) {
    if !content.is_empty() {
        out.push(ModelMessage::User { content });
    }
}

fn user_content(parts: &[Part], target: &Target) -> Vec<UserContent> {
    let text = |text: &str| UserContent::Text {
        text: text.to_owned(),
    };
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(part) if part.ignored != Some(true) && !part.text.is_empty() => {
                Some(text(&part.text))
            }
            Part::File(file) => files::convert(file, target),
            Part::Compaction(_) => Some(text(COMPACTION_PROMPT)),
            Part::Subtask(_) => Some(text(SUBTASK_NOTE)),
            _ => None,
        })
        .collect()
}

fn push_assistant(
    out: &mut Vec<ModelMessage>,
    info: &AssistantMessage,
    parts: &[Part],
    target: &Target,
) {
    if is_left_out(info, parts) {
        return;
    }
    let same_model = target.is_author(info);
    let mut content = Vec::new();
    for part in parts {
        match part {
            Part::Text(part) if !part.text.is_empty() => content.push(AssistantContent::Text {
                text: part.text.clone(),
                metadata: own_metadata(part.metadata.as_ref(), same_model),
            }),
            Part::Reasoning(part) if same_model => content.push(AssistantContent::Reasoning {
                text: part.text.clone(),
                metadata: own_metadata(part.metadata.as_ref(), true),
            }),
            Part::Tool(tool) => {
                let (call, attachments) = tool_call(tool, same_model, target);
                push_user(out, attachments);
                content.push(call);
            }
            _ => {}
        }
    }
    if !content.is_empty() {
        out.push(ModelMessage::Assistant { content });
    }
}

/// Whether a failed message is left out. One that was stopped, or cut by the output limit, is
/// sent if it has content: a person who asks to continue refers to it.
fn is_left_out(info: &AssistantMessage, parts: &[Part]) -> bool {
    let is_empty = |part: &Part| matches!(part, Part::StepStart(_) | Part::Reasoning(_));
    match &info.error {
        None => false,
        Some(MessageError::Aborted(_) | MessageError::OutputLength(_)) => {
            parts.iter().all(is_empty)
        }
        Some(_) => true,
    }
}

fn own_metadata(metadata: Option<&Map>, same_model: bool) -> Map {
    metadata.filter(|_| same_model).cloned().unwrap_or_default()
}

/// The call with its result, and attachments that are sent as a separate message.
fn tool_call(
    tool: &ToolPart,
    same_model: bool,
    target: &Target,
) -> (AssistantContent, Vec<UserContent>) {
    let mut separate = Vec::new();
    let result = match tool.state() {
        ToolState::Completed(done) if done.time.compacted.is_some() => {
            ToolOutcome::text(COMPACTED_OUTPUT)
        }
        ToolState::Completed(done) => {
            let files = done.attachments.as_deref().unwrap_or_default();
            let mut outcome = ToolOutcome::text(done.output.clone());
            if target.images_in_results() {
                outcome.attachments = embed_files(files, target, &mut outcome.text);
            } else {
                separate = attachments_message(&tool.tool, files, target);
            }
            outcome
        }
        ToolState::Error(failed) => ToolOutcome::error(failed.error.clone()),
        ToolState::Pending(_) | ToolState::Running(_) => ToolOutcome::error(INTERRUPTED),
    };
    let call = AssistantContent::ToolCall {
        id: tool.call_id.clone(),
        name: tool.tool.clone(),
        input: Value::Object(tool.state().input().clone()),
        metadata: own_metadata(tool.metadata.as_ref(), same_model),
        result,
    };
    (call, separate)
}

/// The files for inside the result; what cannot be sent is mentioned in its text.
fn embed_files(files: &[FilePart], target: &Target, text: &mut String) -> Vec<FileContent> {
    let mut inside = Vec::new();
    for content in files.iter().filter_map(|file| files::convert(file, target)) {
        match content {
            UserContent::File(file) => inside.push(file),
            UserContent::Text { text: note } => {
                text.push('\n');
                text.push_str(&note);
            }
        }
    }
    inside
}

fn attachments_message(tool: &str, files: &[FilePart], target: &Target) -> Vec<UserContent> {
    let files: Vec<_> = files
        .iter()
        .filter_map(|file| files::convert(file, target))
        .collect();
    if files.is_empty() {
        return Vec::new();
    }
    let lead = format!("The tool {tool} returned the following attachments:");
    [UserContent::Text { text: lead }]
        .into_iter()
        .chain(files)
        .collect()
}

#[cfg(test)]
mod tests;
