//! From what a person typed and attached to a stored user message.

mod files;
mod host;
mod parts;

use std::sync::Arc;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    CreatedTime, Extra, Message, MessageWithParts, ModelRef, Project, Session, UserMessage,
};

use crate::agents;
use crate::core::Core;
use crate::error::{Failed, Result};
use files::Reader;
pub use parts::PartList;

/// Makes the message; nothing is stored yet. Its parts stand in the order in which the
/// person gave them: the text, what was attached, what the text mentions.
pub async fn build(
    core: &Arc<Core>,
    session: &Session,
    project: &Project,
    input: PromptInput,
    default_model: ModelRef,
) -> Result<MessageWithParts> {
    if input.text.trim().is_empty() && input.files.is_empty() {
        return Err(Failed::refused("The prompt is empty"));
    }
    let records = &core.records;
    let newest = records
        .store()
        .messages(&session.id, None, 1)
        .await?
        .messages;
    let newest = newest.last().map(|message| &message.info);
    // Time never goes back within a session, or the prompt would sort before older messages.
    let now = newest.map_or(records.now(), |newest| records.now().max(newest.created()));
    let id = records.ids().message(now);
    let mut parts = PartList::new(records, session.id.clone(), id.clone(), now);
    let reader = Reader::new(core, session, project, &id);
    if !input.text.trim().is_empty() {
        parts.text(input.text.clone());
    }
    for file in &input.files {
        reader.attach(file, &mut parts).await?;
    }
    reader.mentions(&input, &mut parts).await;
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
        parts: parts.into_parts(),
    })
}
