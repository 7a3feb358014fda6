//! From what a person typed to a stored user message.

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    CreatedTime, Extra, Message, MessageWithParts, ModelRef, Part, Session, TextPart, UserMessage,
};

use crate::agents;
use crate::error::{Failed, Result};
use crate::records::Records;

/// Makes the message; nothing is stored yet.
pub async fn build(
    records: &Records,
    session: &Session,
    input: PromptInput,
    default_model: ModelRef,
) -> Result<MessageWithParts> {
    if input.text.trim().is_empty() {
        return Err(Failed::refused("The prompt is empty"));
    }
    let newest = records
        .store()
        .messages(&session.id, None, 1)
        .await?
        .messages;
    let newest = newest.last().map(|message| &message.info);
    // Time never goes back within a session, or the prompt would sort before older messages.
    let now = newest.map_or(records.now(), |newest| records.now().max(newest.created()));
    let id = records.ids().message(now);
    let text = Part::Text(TextPart {
        id: records.ids().part(now),
        session_id: session.id.clone(),
        message_id: id.clone(),
        text: input.text,
        synthetic: None,
        ignored: None,
        time: None,
        metadata: None,
        extra: Extra::default(),
    });
    let info = Message::User(UserMessage {
        id,
        session_id: session.id.clone(),
        time: CreatedTime {
            created: now,
            extra: Extra::default(),
        },
        summary: None,
        agent: Some(input.agent.unwrap_or_else(|| agents::DEFAULT.to_owned())),
        model: Some(input.model.unwrap_or(default_model)),
        system: None,
        tools: None,
        variant: input.variant,
        extra: Extra::default(),
    });
    Ok(MessageWithParts {
        info,
        parts: vec![text],
    })
}
