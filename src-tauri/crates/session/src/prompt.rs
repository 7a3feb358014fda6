//! Builds a user message from text and attachments.

mod host;

use std::ops::Range;
use std::sync::Arc;

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{
    CreatedTime, Extra, FilePart, FilePartSource, Message, MessageId, MessageWithParts, Millis,
    Part, PartId, Project, Session, SessionId, UserMessage, serial_cmp,
};

use crate::core::Core;
pub use host::{PromptHost, tool_context};
use lathe_permission::Gate;
use lathe_records::{Failed, Records, Result};
use lathe_workspace::attachments::Reader;
pub use lathe_workspace::attachments::{NewSubtask, PartList};
use lathe_workspace::mentions::{self, MentionText};
use lathe_workspace::setup::Setup;

/// A prompt before it becomes a message.
pub struct Prompt {
    pub input: PromptInput,
    pub author: Author,
    /// The bytes of the text that the author only quotes: mentions in them are ignored, because
    /// whoever wrote them could use one to have a file read.
    pub quoted: Vec<Range<usize>>,
    /// Replaces the text.
    pub subtask: Option<NewSubtask>,
    pub chosen: Chosen,
}

/// Who wrote a prompt. It decides how the files are read that the prompt names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// They name the files themselves: only what a rule denies is not read.
    Person,
    /// A program that is connected to the server: as if the agent read them.
    Client,
    /// Another agent: mentions in it are ignored, because a model could use them to read what it
    /// may not.
    Agent,
}

/// What a client chose for its prompt, instead of us.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    pub message: Option<MessageId>,
    /// The text of the prompt in pieces, with what the program of the client added to it. Without
    /// any, it is one piece.
    pub texts: Vec<ChosenText>,
    /// For attachments, by their URL.
    pub file_parts: Vec<(String, PartId)>,
    pub system: Option<String>,
}

/// A piece of the text of a client's prompt.
#[derive(Debug, Clone)]
pub struct ChosenText {
    pub id: Option<PartId>,
    pub text: String,
    /// Not written by the person.
    pub synthetic: bool,
}

impl Chosen {
    fn add_texts(&self, text: &str, parts: &mut PartList<'_>) {
        if self.texts.is_empty() && !text.trim().is_empty() {
            parts.text(text.to_owned());
        }
        for piece in &self.texts {
            match piece.synthetic {
                true => parts.synthetic(piece.text.clone()),
                false => parts.text(piece.text.clone()),
            }
        }
    }

    /// The texts are the first parts, in their order.
    fn name_parts(&self, parts: &mut [Part]) {
        let mut texts = self.texts.iter();
        let mut files = self.file_parts.clone();
        for part in parts {
            let id = match part {
                Part::Text(_) => texts.next().and_then(|text| text.id.clone()),
                Part::File(file) => {
                    let place = files.iter().position(|(url, _)| *url == file.url);
                    place.map(|place| files.remove(place).1)
                }
                _ => None,
            };
            if let Some(id) = id {
                let (session, message) = (part.session_id().clone(), part.message_id().clone());
                part.relocate(id, session, message);
            }
        }
    }
}

impl Prompt {
    pub fn by(author: Author, input: PromptInput) -> Self {
        Prompt {
            input,
            author,
            quoted: Vec::new(),
            subtask: None,
            chosen: Chosen::default(),
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
    let newest = newest(records, &session.id).await?;
    let now = records.date_after(newest.as_ref());
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
    let id = match &prompt.chosen.message {
        Some(id) => unused(records, id).await?,
        None => records.ids().message(now),
    };
    let info = UserMessage {
        id,
        session_id: session.id.clone(),
        time: CreatedTime {
            created: now,
            extra: Extra::default(),
        },
        summary: None,
        agent: Some(agent),
        model: Some(model),
        system: prompt.chosen.system.clone(),
        tools: None,
        variant: prompt.input.variant.clone(),
        unsent: None,
        extra: Extra::default(),
    };
    let parts = build_parts(core, setup, session, project, &info, prompt).await?;
    let info = Message::User(info);
    Ok(MessageWithParts { info, parts })
}

/// An id that a client chose must not be that of a message which exists, in any session.
pub async fn unused(records: &Records, id: &MessageId) -> Result<MessageId> {
    if records.store().parts(id).await?.items.is_empty() {
        return Ok(id.clone());
    }
    Err(Failed::refused(format!("There is already a message {id}")))
}

/// The prompt as it is stored while it waits for a running turn.
pub fn waiting(mut prompt: MessageWithParts) -> MessageWithParts {
    if let Message::User(info) = &mut prompt.info {
        info.unsent = Some(true);
    }
    prompt
}

/// The same prompt with new ids, dated after everything that the session has.
pub async fn dated_now(records: &Records, prompt: MessageWithParts) -> Result<MessageWithParts> {
    let MessageWithParts { info, mut parts } = prompt;
    let Message::User(mut info) = info else {
        return Err(Failed::refused("Only a prompt can be sent"));
    };
    let newest = newest(records, &info.session_id).await?;
    let now = records.date_after(newest.as_ref());
    info.id = records.ids().message(now);
    info.time.created = now;
    info.unsent = None;
    for part in &mut parts {
        let id = records.ids().part(now);
        part.relocate(id, info.session_id.clone(), info.id.clone());
    }
    let info = Message::User(info);
    Ok(MessageWithParts { info, parts })
}

/// Dates a prompt after the newest message of its session, if it is not yet: files were read for
/// it, it waited, and the session went on. True if it has another date now.
pub fn put_last(records: &Records, prompt: &mut Message, newest: Option<&Message>) -> bool {
    let Some(newest) = newest else {
        return false;
    };
    if newest.id() == prompt.id() || is_after(prompt, newest) {
        return false;
    }
    let Message::User(prompt) = prompt else {
        return false;
    };
    let after = Millis(newest.created().0 + 1);
    prompt.time.created = records.now().max(after);
    true
}

/// Messages are ordered by their date, and those of one millisecond by their id.
fn is_after(message: &Message, other: &Message) -> bool {
    let dates = message.created().cmp(&other.created());
    let order = dates.then_with(|| serial_cmp(message.id().as_str(), other.id().as_str()));
    order.is_gt()
}

pub async fn newest(records: &Records, session: &SessionId) -> Result<Option<Message>> {
    let mut page = records.store().messages(session, None, 1).await?;
    Ok(page.messages.pop().map(|message| message.info))
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
    let prompt = Prompt {
        quoted: still_quoted(&message.parts, text),
        ..Prompt::by(Author::Person, input)
    };
    build_parts(core, setup, session, project, info, prompt).await
}

/// What an edited text still quotes: in its lines that stay as they were, what was not read with
/// them is not read now.
fn still_quoted(parts: &[Part], text: &str) -> Vec<Range<usize>> {
    let own = parts.iter().filter_map(|part| match part {
        Part::Text(text) if text.synthetic != Some(true) => Some(text.text.as_str()),
        _ => None,
    });
    let before: Vec<&str> = own.flat_map(str::lines).collect();
    let read = |value: &str| {
        parts.iter().any(|part| match part {
            Part::File(FilePart {
                source: Some(FilePartSource::File(source)),
                ..
            }) => source.text.value == value,
            Part::Agent(agent) => agent.source.as_ref().is_some_and(|one| one.value == value),
            _ => false,
        })
    };
    let is_quoted = |named: &MentionText| {
        let (head, tail) = text.split_at(named.at());
        let from = head.rfind('\n').map_or(0, |at| at + 1);
        let to = tail.find('\n').map_or(text.len(), |at| head.len() + at);
        let line = text[from..to].trim_end_matches('\r');
        before.contains(&line) && !named.candidates().any(|one| read(&one.source.value))
    };
    let quoted = mentions::find_mentions(text).into_iter().filter(is_quoted);
    quoted.map(|named| named.at()..named.at() + 1).collect()
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
        author,
        quoted,
        subtask,
        chosen,
    } = prompt;
    if input.text.trim().is_empty() && input.files.is_empty() && subtask.is_none() {
        return Err(Failed::refused("Enter a prompt"));
    }
    let id = info.id.clone();
    let mut parts = PartList::new(
        &core.records,
        session.id.clone(),
        id.clone(),
        info.time.created,
    );
    let agent = setup.agents.get(info.agent.as_deref());
    let authority = core.authority(setup, project, session, &agent).await?;
    let authority = Arc::new(authority);
    let host = match author {
        Author::Client => {
            let permissions = &core.permissions;
            PromptHost::Asking(Gate::new(permissions, authority, session, project, None))
        }
        Author::Person | Author::Agent => PromptHost::Granted {
            core: core.clone(),
            authority,
        },
    };
    let reader = Reader {
        servers: core.workspace.mcp(),
        project,
        agents: &setup.agents,
        cx: tool_context(core, session, project, id, host),
    };
    let is_subtask = subtask.is_some();
    match subtask {
        Some(subtask) => parts.subtask(subtask),
        None => chosen.add_texts(&input.text, &mut parts),
    }
    for file in &input.files {
        reader.attach(file, &mut parts).await?;
    }
    if !is_subtask && author != Author::Agent {
        reader.add_mentions(&input, &quoted, &mut parts).await;
    }
    let mut parts = parts.into_parts();
    chosen.name_parts(&mut parts);
    Ok(parts)
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
