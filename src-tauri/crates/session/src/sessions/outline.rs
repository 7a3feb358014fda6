//! The prompts of a session, to find one's way in a long one.

use lathe_protocol::{MessageId, MessageWithParts, Part, SessionId};
use lathe_records::Result;
use serde::Serialize;

use super::Sessions;

const PAGE: usize = 200;
/// As much of a prompt as a line can show.
const SHOWN_CHARS: usize = 200;

/// A prompt in the outline of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlineEntry {
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// The beginning of what the person wrote; empty if they only attached something.
    pub text: String,
}

impl Sessions {
    /// What the person wrote in a session, oldest first.
    pub async fn outline(&self, id: &SessionId) -> Result<Vec<OutlineEntry>> {
        let mut entries = Vec::new();
        let mut before = None;
        loop {
            let page = self
                .core
                .records
                .messages(id, before.as_ref(), PAGE)
                .await?;
            entries.extend(page.messages.iter().rev().filter_map(entry));
            before = page.messages.first().map(|one| one.info.id().clone());
            if !page.has_older || before.is_none() {
                break;
            }
        }
        entries.reverse();
        Ok(entries)
    }
}

/// None for messages that no person wrote.
fn entry(message: &MessageWithParts) -> Option<OutlineEntry> {
    let user = message.info.as_user()?;
    let is_written = message.parts.iter().any(|part| match part {
        Part::Text(text) => text.synthetic != Some(true),
        Part::File(_) | Part::Subtask(_) => true,
        _ => false,
    });
    let words = message.parts.iter().find_map(|part| match part {
        Part::Text(text) if text.synthetic != Some(true) => Some(text.text.as_str()),
        Part::Subtask(task) => Some(task.description.as_str()),
        _ => None,
    });
    is_written.then(|| OutlineEntry {
        message_id: user.id.clone(),
        text: words
            .unwrap_or_default()
            .chars()
            .take(SHOWN_CHARS)
            .collect(),
    })
}
