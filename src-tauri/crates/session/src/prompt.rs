//! From what a person typed and attached to a stored user message.

mod files;
mod host;
mod parts;
mod resources;

use std::sync::Arc;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    CreatedTime, Extra, Message, MessageWithParts, Project, Session, UserMessage,
};

use crate::core::Core;
use crate::error::{Failed, Result};
use crate::setup::Setup;
use files::Reader;
pub use host::{PromptHost, context};
pub use parts::{NewSubtask, PartList};

/// What is sent: a person's words, or a task for another agent.
pub struct Prompt {
    pub input: PromptInput,
    /// Written by another agent: names in it are not followed, or a model could read with them
    /// what it may not.
    pub by_agent: bool,
    /// Stands in place of the text.
    pub subtask: Option<NewSubtask>,
}

/// Makes the message; nothing is stored yet. Its parts stand in the order in which the
/// person gave them: the text, what was attached, what the text mentions.
pub async fn build(
    core: &Arc<Core>,
    setup: &Setup,
    session: &Session,
    project: &Project,
    prompt: Prompt,
) -> Result<MessageWithParts> {
    let Prompt {
        input,
        by_agent,
        subtask,
    } = prompt;
    if input.text.trim().is_empty() && input.files.is_empty() && subtask.is_none() {
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
    let agent = input.agent.clone();
    let agent = agent.unwrap_or_else(|| setup.agents.default_name().to_owned());
    let rules = core.rules(setup, &setup.agents.get(Some(&agent)), session);
    let host = PromptHost::granted(rules);
    let reader = Reader {
        core,
        project,
        agents: &setup.agents,
        cx: context(core, session, project, id.clone(), host),
    };
    let is_subtask = subtask.is_some();
    match subtask {
        Some(subtask) => parts.subtask(subtask),
        None if input.text.trim().is_empty() => {}
        None => parts.text(input.text.clone()),
    }
    for file in &input.files {
        reader.attach(file, &mut parts).await?;
    }
    if !is_subtask && !by_agent {
        reader.mentions(&input, &mut parts).await;
    }
    let model = match input
        .model
        .or_else(|| setup.agents.find(&agent)?.model.clone())
    {
        Some(model) => model,
        None => setup.models.default().await,
    };
    let info = Message::User(UserMessage {
        id,
        session_id: session.id.clone(),
        time: CreatedTime {
            created: now,
            extra: Extra::default(),
        },
        summary: None,
        agent: Some(agent),
        model: Some(model),
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
