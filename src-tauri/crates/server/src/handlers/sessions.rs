//! Sessions: list, create, change, fork, revert, share, remove.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{OriginalUri, State};
use axum::response::Response;
use http::HeaderMap;
use lathe_protocol::ipc::{PromptInput, RevertTarget};
use lathe_protocol::{
    Action, MessageId, ModelRef, PartId, Rule, Session, SessionId, SessionStatus,
};
use lathe_session::{Failed, Sessions, parse_model_ref, title_contains};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answers::Kept;
use crate::context::{Asked, Input, OpenPlace, Place, SessionPath, Shared};
use crate::handlers::messages::until_idle;
use crate::reply::{self, Answer, Refusal};
use crate::wire;

#[derive(Deserialize)]
pub struct ListQuery {
    /// Only those used since then, in milliseconds.
    start: Option<f64>,
    search: Option<String>,
    /// Only those that are no subtasks.
    roots: Option<String>,
    limit: Option<usize>,
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    place: Place,
    Asked(query): Asked<ListQuery>,
    OriginalUri(uri): OriginalUri,
) -> Answer<Response> {
    let version = (0, shared.sessions.session_changes());
    let project = &place.project;
    let request = format!("{uri} {} {}", project.id, project.worktree);
    if let Some(kept) = shared.answers.find(&request, version) {
        return Ok(kept.response());
    }
    let sessions = select(shared.sessions.list(project).await?, query);
    let kept = Kept::json(reply::bytes(&sessions)?, HeaderMap::new());
    shared.answers.put(request, version, &kept);
    Ok(kept.response())
}

pub async fn list_all(State(shared): State<Arc<Shared>>, Asked(query): Asked<ListQuery>) -> Answer {
    let sessions = shared.sessions.list_all().await?;
    reply::json(&select(sessions, query))
}

pub fn select(mut sessions: Vec<Session>, query: ListQuery) -> Vec<Session> {
    if let Some(start) = query.start {
        sessions.retain(|session| session.time.updated.0 as f64 >= start);
    }
    if let Some(words) = &query.search {
        sessions.retain(title_contains(words));
    }
    if query.roots.is_some_and(|roots| roots == "true") {
        sessions.retain(|session| session.parent_id.is_none());
    }
    sessions.truncate(query.limit.unwrap_or(usize::MAX));
    sessions
}

#[derive(Deserialize, JsonSchema)]
pub struct NewSession {
    #[serde(rename = "parentID")]
    parent_id: Option<String>,
    title: Option<String>,
    permission: Option<Vec<Rule>>,
}

pub async fn create(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Input(new): Input<NewSession>,
) -> Answer {
    let sessions = &shared.sessions;
    let parent = new.parent_id.as_deref().map(SessionId::parse).transpose()?;
    if let Some(parent) = &parent {
        sessions.get(parent).await?;
    }
    let project = sessions.open_project(&place.directory).await?;
    let directory = place.directory.display().to_string();
    let created = sessions.create_in(&project, &directory, parent.as_ref());
    let created = created.await?;
    let title = new.title.filter(|title| !title.trim().is_empty());
    let rules = narrowing(new.permission);
    if title.is_none() && rules.is_empty() {
        return reply::json(&created);
    }
    let edited = sessions.update(&created.id, move |session| {
        if let Some(title) = title {
            session.title = title.trim().to_owned();
        }
        if !rules.is_empty() {
            session.permission = Some(rules);
        }
    });
    reply::json(&edited.await?)
}

/// A client may forbid more; only the person can allow more.
fn narrowing(rules: Option<Vec<Rule>>) -> Vec<Rule> {
    let mut rules = rules.unwrap_or_default();
    rules.retain(|rule| rule.action != Action::Allow);
    rules
}

pub async fn get(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    reply::json(&shared.sessions.get(&id).await?)
}

#[derive(Deserialize, JsonSchema)]
pub struct SessionEdit {
    title: Option<String>,
    time: Option<TimeEdit>,
}

#[derive(Deserialize, JsonSchema)]
pub struct TimeEdit {
    /// When it was archived; null to take it out of the archive.
    archived: Option<f64>,
}

pub async fn update(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(edit): Input<SessionEdit>,
) -> Answer {
    let sessions = &shared.sessions;
    let mut session = sessions.get(&id).await?;
    if let Some(title) = edit.title {
        session = sessions.rename(&id, &title).await?;
    }
    if let Some(time) = edit.time {
        session = sessions.archive(&id, time.archived.is_some()).await?;
    }
    reply::json(&session)
}

pub async fn remove(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    shared.sessions.get(&id).await?;
    shared.sessions.remove(&id).await?;
    reply::yes()
}

pub async fn children(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    shared.sessions.get(&id).await?;
    reply::json(&shared.sessions.children(&id).await?)
}

pub async fn statuses(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let mut statuses = BTreeMap::new();
    let sessions = &shared.sessions;
    let elsewhere = sessions.busy_elsewhere().await.into_iter();
    let elsewhere = elsewhere.map(|id| (id, SessionStatus::Busy));
    for (id, status) in elsewhere.chain(sessions.statuses()) {
        if shared.is_in(&id, &place).await {
            statuses.insert(id.to_string(), status);
        }
    }
    reply::json(&statuses)
}

pub async fn todos(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    shared.sessions.get(&id).await?;
    reply::json(&wire::todos(&shared.sessions.todos(&id).await?))
}

#[derive(Deserialize)]
pub struct DiffQuery {
    #[serde(rename = "messageID")]
    message_id: Option<String>,
}

pub async fn diff(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Asked(query): Asked<DiffQuery>,
) -> Answer {
    let turn = query.message_id.as_deref().map(MessageId::parse);
    let turn = turn.transpose()?;
    shared.sessions.get(&id).await?;
    let diffs = shared.sessions.diff(&id, turn.as_ref()).await?;
    reply::json(&wire::diffs(&diffs))
}

#[derive(Deserialize, JsonSchema)]
pub struct ForkPoint {
    /// The first message that is not copied.
    #[serde(rename = "messageID")]
    message_id: Option<String>,
}

pub async fn fork(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(point): Input<ForkPoint>,
) -> Answer {
    let before = point.message_id.as_deref().map(MessageId::parse);
    let before = before.transpose()?;
    let forked = shared.sessions.fork(&id, before.as_ref(), false).await?;
    reply::json(&forked)
}

#[derive(Deserialize, JsonSchema)]
pub struct RevertPoint {
    #[serde(rename = "messageID")]
    message_id: String,
    #[serde(rename = "partID")]
    part_id: Option<String>,
}

pub async fn revert(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(point): Input<RevertPoint>,
) -> Answer {
    let message_id = MessageId::parse(&point.message_id)?;
    let target = match point.part_id.as_deref().map(PartId::parse).transpose()? {
        Some(part_id) => RevertTarget::Part {
            message_id,
            part_id,
        },
        None => RevertTarget::Message {
            message_id,
            keep_files: false,
        },
    };
    shared.sessions.get(&id).await?;
    // A client that hangs up must not stop it half way.
    let work = async move { shared.sessions.revert(&id, &target).await };
    reply::json(&to_its_end(work).await?.session)
}

pub async fn unrevert(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    let session = shared.sessions.get(&id).await?;
    // Nothing to undo is no error for the clients.
    if session.revert.is_none() {
        return reply::json(&session);
    }
    let work = async move { shared.sessions.unrevert(&id).await };
    reply::json(&to_its_end(work).await?.session)
}

async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failed>> + Send + 'static,
) -> Result<T, Failed> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(Failed::refused(error.to_string())))
}

pub async fn share(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    let preview = shared.sessions.share_preview(&id).await?;
    if preview.endpoint.is_some() {
        // The window shows first what would be sent to that server.
        return Err(Refusal::not_available("Sharing on a server"));
    }
    reply::json(&shared.sessions.share(&id, None).await?)
}

pub async fn unshare(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    shared.sessions.get(&id).await?;
    reply::json(&shared.sessions.unshare(&id).await?)
}

pub async fn abort(State(shared): State<Arc<Shared>>, SessionPath(id): SessionPath) -> Answer {
    shared.sessions.get(&id).await?;
    stop(&shared.sessions, &id).await?;
    reply::yes()
}

/// Stops the session's turn, if it is one of this program.
pub async fn stop(sessions: &Sessions, id: &SessionId) -> Answer<()> {
    sessions.abort(id).await;
    match sessions.is_busy_elsewhere(id).await {
        true => {
            let message = "Another program works on this session. Stop it there";
            Err(Refusal::Conflict(message.into()))
        }
        false => Ok(()),
    }
}

pub async fn summarize(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(input): Input<ModelInput>,
) -> Answer {
    let events = shared.sessions.subscribe();
    shared.sessions.compact_with(&id, input.model()).await?;
    until_idle(&shared.sessions, &id, events).await;
    reply::yes()
}

#[derive(Deserialize, JsonSchema)]
pub struct ModelInput {
    #[serde(rename = "providerID")]
    provider_id: Option<String>,
    #[serde(rename = "modelID")]
    model_id: Option<String>,
}

impl ModelInput {
    fn model(self) -> Option<ModelRef> {
        let (provider, model) = self.provider_id.zip(self.model_id)?;
        parse_model_ref(&format!("{provider}/{model}"))
    }
}

/// Runs the `init` command, which writes the project's instructions.
pub async fn init(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    Input(input): Input<ModelInput>,
) -> Answer {
    let prompt = PromptInput {
        model: input.model(),
        ..PromptInput::default()
    };
    let events = shared.sessions.subscribe();
    match shared.sessions.run_command(&id, "init", "", prompt).await {
        Err(Failed::Missing {
            kind: "command", ..
        }) => return Err(Refusal::not_available("The command init")),
        sent => sent?,
    };
    until_idle(&shared.sessions, &id, events).await;
    reply::yes()
}
