//! Messages: send a prompt or a command, read, page.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{OriginalUri, State};
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{
    BadId, Event, FilePartSource, MessageId, MessageWithParts, ModelRef, PartId, SessionId,
    SessionStatus,
};
use lathe_session::bus::{BusItem, Notification, Subscription};
use lathe_session::{Chosen, ChosenText, Sessions, parse_model_ref};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::Kept;
use crate::context::{Asked, Input, MessagePath, SessionPath, Shared};
use crate::reply::{self, Answer, Refusal};
use crate::wire;

/// More than there are tools.
const MOST_DENIED: usize = 1000;

#[derive(Deserialize, JsonSchema)]
pub struct PromptBody {
    #[serde(rename = "messageID")]
    message_id: Option<String>,
    model: Option<ModelRef>,
    agent: Option<String>,
    variant: Option<String>,
    system: Option<String>,
    #[serde(rename = "noReply", default)]
    no_reply: bool,
    /// False for those that the agent must not use from here on.
    #[serde(default)]
    tools: BTreeMap<String, bool>,
    #[serde(default)]
    parts: Vec<PartInput>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum PartInput {
    Text {
        id: Option<String>,
        text: String,
        /// Not written by the person.
        synthetic: Option<bool>,
    },
    File(FileInput),
    Agent {
        name: String,
    },
    Subtask {
        prompt: String,
        agent: String,
    },
}

#[derive(Deserialize, JsonSchema)]
pub struct FileInput {
    id: Option<String>,
    url: String,
    mime: Option<String>,
    filename: Option<String>,
    source: Option<Box<FilePartSource>>,
}

impl PromptBody {
    fn into_prompt(self) -> Answer<(PromptInput, Chosen)> {
        if self.no_reply {
            return Err(Refusal::not_available("A prompt without an answer"));
        }
        let mut chosen = Chosen {
            message: parse_id(self.message_id, MessageId::parse)?,
            system: self.system,
            ..Chosen::default()
        };
        let mut input = PromptInput {
            agent: self.agent,
            model: self.model,
            variant: self.variant,
            ..PromptInput::default()
        };
        let mut agents = Vec::new();
        for part in self.parts {
            match part {
                PartInput::Text {
                    id,
                    text,
                    synthetic,
                } => chosen.texts.push(ChosenText {
                    id: parse_id(id, PartId::parse)?,
                    text,
                    synthetic: synthetic == Some(true),
                }),
                PartInput::File(file) => file.add_to(&mut input, &mut chosen)?,
                PartInput::Agent { name } => agents.push(name),
                PartInput::Subtask { prompt, agent } => {
                    chosen.texts.push(plain(prompt));
                    agents.push(agent);
                }
            }
        }
        agents
            .iter()
            .for_each(|name| mention(name, &mut chosen.texts));
        chosen.texts.retain(|piece| !piece.text.trim().is_empty());
        let of_person = chosen.texts.iter().filter(|piece| !piece.synthetic);
        let texts: Vec<_> = of_person.map(|piece| piece.text.as_str()).collect();
        input.text = texts.join("\n\n");
        Ok((input, chosen))
    }

    /// The tools that the client takes from the agent. None can be given.
    fn denied_tools(&self) -> Answer<Vec<String>> {
        let denied = self.tools.iter().filter(|(_, is_allowed)| !**is_allowed);
        let denied: Vec<_> = denied.map(|(name, _)| name.clone()).collect();
        let is_list_of_allowed =
            denied.iter().any(|name| name.contains('*')) && denied.len() < self.tools.len();
        if is_list_of_allowed || denied.len() > MOST_DENIED {
            let message = "`tools` can only take tools away: name each one that is not to be used";
            return Err(Refusal::BadRequest(message.into()));
        }
        Ok(denied)
    }
}

fn plain(text: String) -> ChosenText {
    ChosenText {
        id: None,
        text,
        synthetic: false,
    }
}

fn parse_id<Id>(text: Option<String>, parse: fn(&str) -> Result<Id, BadId>) -> Answer<Option<Id>> {
    Ok(text.as_deref().map(parse).transpose()?)
}

/// A mention in the text is how an agent is named to the core.
fn mention(agent: &str, texts: &mut Vec<ChosenText>) {
    let mention = format!("@{agent}");
    let mut of_person = texts.iter_mut().filter(|piece| !piece.synthetic);
    let Some(first) = of_person.next() else {
        texts.insert(0, plain(mention));
        return;
    };
    if !first.text.contains(&mention) && !of_person.any(|piece| piece.text.contains(&mention)) {
        first.text = format!("{mention} {}", first.text);
    }
}

impl FileInput {
    fn add_to(self, input: &mut PromptInput, chosen: &mut Chosen) -> Answer<()> {
        if let Some(id) = parse_id(self.id, PartId::parse)? {
            chosen.file_parts.push((self.url.clone(), id));
        }
        input.files.push(PromptFile {
            url: self.url,
            mime: self.mime,
            filename: self.filename,
            source: self.source.map(|source| *source),
        });
        Ok(())
    }
}

/// Takes the tools away that the prompt forbids, and sends it.
pub async fn submit(sessions: &Sessions, id: &SessionId, body: PromptBody) -> Answer<MessageId> {
    let denied = body.denied_tools()?;
    let (input, chosen) = body.into_prompt()?;
    sessions.deny_tools(id, &denied).await?;
    Ok(sessions.prompt_as(id, input, chosen).await?)
}

/// Sends a prompt. The headers of the answer go at once, its body when the turn has ended.
pub async fn send(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(body): Input<PromptBody>,
) -> Answer<Response> {
    let events = shared.sessions.subscribe();
    let prompt = submit(&shared.sessions, &id, body).await?;
    Ok(answer_later(shared, id, prompt, events, |answer| answer))
}

/// Sends a prompt and does not wait for the answer.
pub async fn send_async(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(body): Input<PromptBody>,
) -> Answer<Response> {
    submit(&shared.sessions, &id, body).await?;
    Ok(reply::no_content())
}

#[derive(Deserialize, JsonSchema)]
pub struct CommandBody {
    command: String,
    #[serde(default)]
    arguments: String,
    agent: Option<String>,
    /// As `provider/model`.
    model: Option<String>,
    variant: Option<String>,
    #[serde(rename = "messageID")]
    message_id: Option<String>,
    /// Only files.
    #[serde(default)]
    parts: Vec<PartInput>,
}

pub async fn run_command(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(body): Input<CommandBody>,
) -> Answer<Response> {
    let mut input = PromptInput {
        agent: body.agent,
        model: body.model.as_deref().and_then(parse_model_ref),
        variant: body.variant,
        ..PromptInput::default()
    };
    let mut chosen = Chosen {
        message: parse_id(body.message_id, MessageId::parse)?,
        ..Chosen::default()
    };
    for part in body.parts {
        match part {
            PartInput::File(file) => file.add_to(&mut input, &mut chosen)?,
            _ => {
                let what = "A command with other parts than files";
                return Err(Refusal::not_available(what));
            }
        }
    }
    let events = shared.sessions.subscribe();
    let (command, arguments) = (&body.command, &body.arguments);
    let sessions = &shared.sessions;
    let sent = sessions.run_command_as(&id, command, arguments, input, chosen);
    let prompt = sent.await?;
    Ok(answer_later(shared, id, prompt, events, |answer| answer))
}

#[derive(Deserialize, JsonSchema)]
pub struct ShellBody {
    command: String,
    agent: Option<String>,
    model: Option<ModelRef>,
    #[serde(rename = "messageID")]
    message_id: Option<String>,
}

/// Runs a command as the agent would: with its permission, and with its output in the session.
pub async fn run_shell(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(body): Input<ShellBody>,
) -> Answer<Response> {
    let chosen = parse_id(body.message_id, MessageId::parse)?;
    let events = shared.sessions.subscribe();
    let (command, agent, model) = (&body.command, body.agent, body.model);
    let started = shared
        .sessions
        .run_shell(&id, command, agent, model, chosen);
    let prompt = started.await?;
    Ok(answer_later(shared, id, prompt, events, as_both_read_it))
}

/// Older clients read the message itself, newer ones the message with its parts.
fn as_both_read_it(mut answer: Value) -> Value {
    let info = answer.get("info").and_then(Value::as_object).cloned();
    if let (Some(fields), Some(info)) = (answer.as_object_mut(), info) {
        for (name, value) in info {
            fields.entry(name).or_insert(value);
        }
    }
    answer
}

fn answer_later(
    shared: Arc<Shared>,
    id: SessionId,
    prompt: MessageId,
    events: Subscription,
    shape: fn(Value) -> Value,
) -> Response {
    let answer = async move {
        tokio::select! {
            () = until_idle(&shared.sessions, &id, events) => {}
            () = shared.closing.cancelled() => {}
        }
        let answer = find_answer(&shared.sessions, &id, &prompt).await;
        let answer = answer.map(shape).unwrap_or_else(
            |error| json!({ "name": "UnknownError", "data": { "message": error.to_string() } }),
        );
        Ok::<_, std::convert::Infallible>(Bytes::from(answer.to_string()))
    };
    let mut response = Response::new(Body::from_stream(stream::once(answer)));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Waits until the session's turn has ended.
pub async fn until_idle(sessions: &Sessions, id: &SessionId, mut events: Subscription) {
    let is_idle = || sessions.status(id) == SessionStatus::Idle;
    while let Some(item) = events.next().await {
        let BusItem::Notification(numbered) = item else {
            if is_idle() {
                return;
            }
            continue;
        };
        let Notification::Event(event) = &numbered.notification else {
            continue;
        };
        match &**event {
            // The end of an earlier turn, when the next one has begun, is not the end.
            Event::SessionIdle { session_id } if session_id == id && is_idle() => return,
            Event::SessionDeleted { info } if info.id == *id => return,
            _ => {}
        }
    }
}

async fn find_answer(
    sessions: &Sessions,
    id: &SessionId,
    prompt: &MessageId,
) -> lathe_session::Result<Value> {
    let answers = sessions.answers_since(id, prompt).await?;
    let is_own = |message: &&MessageWithParts| {
        let answer = message.info.as_assistant();
        answer.is_some_and(|answer| answer.parent_id == *prompt)
    };
    let found = answers.iter().rfind(is_own).or(answers.last());
    Ok(found.map_or_else(|| unanswered(id, prompt), wire::value))
}

/// In the place of an answer: the turn was stopped before its first step, or the prompt was not
/// sent at all.
fn unanswered(id: &SessionId, prompt: &MessageId) -> Value {
    let message = "The prompt was not answered";
    json!({
        "info": {
            "role": "assistant",
            "sessionID": id,
            "parentID": prompt,
            "error": { "name": "MessageAbortedError", "data": { "message": message } },
        },
        "parts": [],
    })
}

#[derive(Deserialize)]
pub struct PageQuery {
    limit: Option<usize>,
    /// The cursor of an earlier page.
    before: Option<String>,
}

/// The newest messages before the cursor, oldest first.
pub async fn list(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Asked(query): Asked<PageQuery>,
    OriginalUri(uri): OriginalUri,
) -> Answer<Response> {
    let before = query.before.as_deref().map(MessageId::parse).transpose()?;
    let limit = query.limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let sessions = &shared.sessions;
    let version = (sessions.sequence(&id), sessions.session_changes());
    let request = uri.to_string();
    if let Some(kept) = shared.answers.find(&request, version) {
        return Ok(kept.response());
    }
    sessions.get(&id).await?;
    let page = sessions.messages(&id, before.as_ref(), limit).await?;
    let body = reply::bytes(&page.messages)?;
    let mut sent = HeaderMap::new();
    let oldest = page.messages.first().filter(|_| page.has_older);
    if let Some(oldest) = oldest {
        let cursor = oldest.info.id();
        let next = format!(
            "<{}?limit={limit}&before={cursor}>; rel=\"next\"",
            uri.path()
        );
        let headers = [
            (header::LINK, next),
            (HeaderName::from_static("x-next-cursor"), cursor.to_string()),
        ];
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                sent.insert(name, value);
            }
        }
    }
    let kept = Kept::json(body, sent);
    shared.answers.put(request, version, &kept);
    Ok(kept.response())
}

pub async fn get(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    MessagePath(message): MessagePath,
) -> Answer {
    let found = shared.sessions.message(&id, &message).await?;
    let missing = || Refusal::NotFound(format!("There is no message {message}"));
    reply::json(&found.ok_or_else(missing)?)
}
