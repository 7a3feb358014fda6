//! Messages: send a prompt or a command, read, page.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{OriginalUri, State};
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{
    Event, FilePartSource, MessageId, MessageWithParts, ModelRef, PartId, SessionId, SessionStatus,
};
use lathe_session::bus::{BusItem, Notification, Subscription};
use lathe_session::{Author, Chosen, Sessions, parse_model_ref};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::Kept;
use crate::context::{Asked, Input, MessagePath, SessionPath, Shared};
use crate::reply::{self, Answer, Refusal};
use crate::wire;

/// How far back the answer to a prompt is looked for.
const ANSWER_TAIL: usize = 100;

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
    #[serde(default)]
    parts: Vec<PartInput>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum PartInput {
    Text {
        id: Option<String>,
        text: String,
    },
    File {
        id: Option<String>,
        url: String,
        mime: Option<String>,
        filename: Option<String>,
        source: Option<Box<FilePartSource>>,
    },
    Agent {
        name: String,
    },
    Subtask {
        prompt: String,
        agent: String,
    },
}

impl PromptBody {
    pub fn into_prompt(self) -> Answer<(PromptInput, Chosen)> {
        if self.no_reply {
            return Err(Refusal::not_available("A prompt without an answer"));
        }
        let mut chosen = Chosen {
            message: self
                .message_id
                .as_deref()
                .map(MessageId::parse)
                .transpose()?,
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
                PartInput::Text { id, text } => {
                    let id = id.as_deref().map(PartId::parse).transpose()?;
                    chosen.text_part = chosen.text_part.or(id);
                    if !input.text.is_empty() {
                        input.text.push_str("\n\n");
                    }
                    input.text.push_str(&text);
                }
                PartInput::File {
                    id,
                    url,
                    mime,
                    filename,
                    source,
                } => {
                    if let Some(id) = id.as_deref().map(PartId::parse).transpose()? {
                        chosen.file_parts.push((url.clone(), id));
                    }
                    input.files.push(PromptFile {
                        url,
                        mime,
                        filename,
                        source: source.map(|source| *source),
                    });
                }
                PartInput::Agent { name } => agents.push(name),
                PartInput::Subtask { prompt, agent } => {
                    input.text.push_str(&prompt);
                    agents.push(agent);
                }
            }
        }
        // A mention in the text is how an agent is named to the core.
        for name in agents {
            let mention = format!("@{name}");
            if !input.text.contains(&mention) {
                input.text = format!("{mention} {}", input.text);
            }
        }
        Ok((input, chosen))
    }
}

/// Sends a prompt. The headers of the answer go at once, its body when the turn has ended.
pub async fn send(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(body): Input<PromptBody>,
) -> Answer<Response> {
    let (input, chosen) = body.into_prompt()?;
    let events = shared.sessions.subscribe();
    let prompt = shared.sessions.prompt_as(&id, input, chosen).await?;
    Ok(answer_later(shared, id, prompt, events, |answer| answer))
}

/// Sends a prompt and does not wait for the answer.
pub async fn send_async(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(body): Input<PromptBody>,
) -> Answer<Response> {
    let (input, chosen) = body.into_prompt()?;
    shared.sessions.prompt_as(&id, input, chosen).await?;
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
}

pub async fn run_command(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(body): Input<CommandBody>,
) -> Answer<Response> {
    let input = PromptInput {
        agent: body.agent,
        model: body.model.as_deref().and_then(parse_model_ref),
        variant: body.variant,
        ..PromptInput::default()
    };
    let events = shared.sessions.subscribe();
    let (command, arguments) = (&body.command, &body.arguments);
    let sessions = &shared.sessions;
    let sent = sessions.run_command_by(Author::Client, &id, command, arguments, input);
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
    let chosen = body.message_id.as_deref().map(MessageId::parse);
    let chosen = chosen.transpose()?;
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
    let page = sessions.messages(id, None, ANSWER_TAIL).await?;
    let answers = || {
        let messages = page.messages.iter().rev();
        messages.filter(|message| message.info.as_assistant().is_some())
    };
    let own = |message: &&MessageWithParts| {
        let answer = message.info.as_assistant();
        answer.is_some_and(|answer| answer.parent_id == *prompt)
    };
    let found = answers().find(own).or_else(|| answers().next());
    Ok(found.map_or_else(|| json!({}), wire::value))
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
