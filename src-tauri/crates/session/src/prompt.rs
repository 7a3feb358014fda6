//! Builds a user message from text and attachments.

mod files;
mod host;
mod parts;
mod resources;

use std::sync::Arc;

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{
    CreatedTime, Extra, FilePart, FilePartSource, Message, MessageWithParts, Part, Project,
    Session, UserMessage,
};

use crate::core::Core;
use files::Reader;
pub use host::{PromptHost, tool_context};
use lathe_records::{Failed, Result};
use lathe_workspace::mentions;
use lathe_workspace::setup::Setup;
pub use parts::{NewSubtask, PartList};

/// A prompt before it becomes a message.
pub struct Prompt {
    pub input: PromptInput,
    /// Written by another agent: mentions in it are ignored, because a model could use them to
    /// read what it may not.
    pub by_agent: bool,
    /// Replaces the text.
    pub subtask: Option<NewSubtask>,
}

impl Prompt {
    pub fn by_person(input: PromptInput) -> Self {
        Prompt {
            input,
            by_agent: false,
            subtask: None,
        }
    }
}

/// Builds the message for a session; it is not stored yet.
pub async fn build_message(
    core: &Arc<Core>,
    session: &Session,
    prompt: Prompt,
) -> Result<MessageWithParts> {
    let project = core.workspace.project_of(session).await?;
    let setup = core.workspace.setup(session, &project).await;
    build(core, &setup, session, &project, prompt).await
}

async fn build(
    core: &Arc<Core>,
    setup: &Setup,
    session: &Session,
    project: &Project,
    prompt: Prompt,
) -> Result<MessageWithParts> {
    let records = &core.records;
    let newest = records
        .store()
        .messages(&session.id, None, 1)
        .await?
        .messages;
    let newest = newest.last().map(|message| &message.info);
    // Never earlier than the newest message, or the prompt would sort before it.
    let now = newest.map_or(records.now(), |newest| records.now().max(newest.created()));
    let agent = prompt.input.agent.clone();
    let agent = agent.unwrap_or_else(|| setup.agents.default_name().to_owned());
    let model = match prompt.input.model.clone() {
        Some(model) => Some(model),
        None => setup.agents.find(&agent).and_then(|one| one.model.clone()),
    };
    let model = match model {
        Some(model) => model,
        None => setup.models.default().await,
    };
    let info = UserMessage {
        id: records.ids().message(now),
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
        variant: prompt.input.variant.clone(),
        extra: Extra::default(),
    };
    let parts = build_parts(core, setup, session, project, &info, prompt).await?;
    let info = Message::User(info);
    Ok(MessageWithParts { info, parts })
}

/// The parts of a queued prompt after its text was edited. Attachments stay; mentions are
/// resolved again.
pub async fn edited_parts(
    core: &Arc<Core>,
    setup: &Setup,
    session: &Session,
    project: &Project,
    message: &MessageWithParts,
    text: &str,
) -> Result<Vec<Part>> {
    let Message::User(info) = &message.info else {
        return Err(Failed::refused("Only a prompt can be changed"));
    };
    let files = message.parts.iter().filter_map(|part| match part {
        Part::File(file) => still_attached(file, text),
        _ => None,
    });
    let input = PromptInput {
        text: text.to_owned(),
        files: files.collect(),
        ..PromptInput::default()
    };
    build_parts(
        core,
        setup,
        session,
        project,
        info,
        Prompt::by_person(input),
    )
    .await
}

/// The parts in order: the text, attachments, mentions.
async fn build_parts(
    core: &Arc<Core>,
    setup: &Setup,
    session: &Session,
    project: &Project,
    info: &UserMessage,
    prompt: Prompt,
) -> Result<Vec<Part>> {
    let Prompt {
        input,
        by_agent,
        subtask,
    } = prompt;
    if input.text.trim().is_empty() && input.files.is_empty() && subtask.is_none() {
        return Err(Failed::refused("The prompt is empty"));
    }
    let id = info.id.clone();
    let mut parts = PartList::new(
        &core.records,
        session.id.clone(),
        id.clone(),
        info.time.created,
    );
    let agent = setup.agents.get(info.agent.as_deref());
    let host = PromptHost::granted(
        core,
        project,
        core.permissions.rules(setup, &agent, session, &[]),
    );
    let reader = Reader {
        core,
        project,
        agents: &setup.agents,
        cx: tool_context(core, session, project, id, host),
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
        reader.add_mentions(&input, &mut parts).await;
    }
    Ok(parts.into_parts())
}

/// A file that the text mentions is resolved again by its name. A symbol or a resource cannot be
/// resolved again; it stays while the text still mentions it.
fn still_attached(file: &FilePart, text: &str) -> Option<PromptFile> {
    let mut source = file.source.clone();
    let named = match &mut source {
        Some(FilePartSource::File(source)) if source.text.value.starts_with('@') => return None,
        Some(FilePartSource::Symbol(source)) => Some(&mut source.text),
        Some(FilePartSource::Resource(source)) => Some(&mut source.text),
        Some(FilePartSource::File(_)) | None => None,
    };
    if let Some(named) = named.filter(|named| !named.value.is_empty()) {
        *named = mentions::locate(&named.value, text)?;
    }
    Some(PromptFile {
        url: file.url.clone(),
        mime: Some(file.mime.clone()),
        filename: file.filename.clone(),
        source,
    })
}
