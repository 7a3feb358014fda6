//! Files for models and wires that do not support them.

use super::{AssistantContent, FileContent, ModelMessage, UserContent};

impl FileContent {
    /// The text that replaces a file which the model or its wire does not support. An error
    /// instead would fail this prompt and every later one with the file in its history.
    pub(crate) fn placeholder(&self) -> String {
        format!(
            "[The file {} ({}) is not shown: this model cannot read files of this type]",
            self.label(),
            self.mime
        )
    }
}

/// For wires without files in tool results: moves the files into a user message before the
/// assistant message whose tools returned them.
pub(crate) fn lift_attachments(messages: &[ModelMessage]) -> Vec<ModelMessage> {
    let mut lifted = Vec::with_capacity(messages.len());
    for message in messages {
        let mut message = message.clone();
        if let ModelMessage::Assistant { content } = &mut message {
            let files: Vec<UserContent> = content.iter_mut().flat_map(take_files).collect();
            if !files.is_empty() {
                lifted.push(ModelMessage::User { content: files });
            }
        }
        lifted.push(message);
    }
    lifted
}

fn take_files(content: &mut AssistantContent) -> Vec<UserContent> {
    let AssistantContent::ToolCall { name, result, .. } = content else {
        return Vec::new();
    };
    if result.attachments.is_empty() {
        return Vec::new();
    }
    let text = format!("The tool {name} returned the following attachments:");
    let files = result.attachments.drain(..).map(UserContent::File);
    std::iter::once(UserContent::Text { text })
        .chain(files)
        .collect()
}
