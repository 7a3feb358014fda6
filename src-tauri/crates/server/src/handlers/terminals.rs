//! Terminals. A program runs in one only with the permission that the agent would need for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::response::Response;
use lathe_folders::{TerminalInput, TerminalSize};
use lathe_session::files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Asked, Input, OpenPlace, Place, Shared, TerminalPath};
use crate::reply::{self, Answer};
use crate::terminals::TICKET_TIME;

const USUAL_SIZE: TerminalSize = TerminalSize {
    rows: 24,
    columns: 80,
};
/// More than a person pastes.
const MOST_INPUT: usize = 1024 * 1024;
/// Where the system lists its shells.
const SHELLS: &str = "/etc/shells";
const MOST_SHELLS: u64 = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
pub struct NewTerminal {
    /// The person's shell if there is none.
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    cwd: Option<String>,
    title: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Waits until the person has allowed it. A client that hangs up withdraws the question.
pub async fn create(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Input(new): Input<NewTerminal>,
) -> Answer {
    let asking = shared.terminals.ask()?;
    let input = TerminalInput {
        command: new.command,
        arguments: new.args,
        variables: new.env.into_iter().collect(),
        size: USUAL_SIZE,
    };
    let folders = &shared.folders;
    let started = folders.open_terminal(place.at(new.cwd.as_deref().unwrap_or_default()), input);
    let started = tokio::select! {
        started = started => started?,
        () = shared.closing.cancelled() => {
            return Err(reply::Refusal::TooMany("The server stops".into()));
        }
    };
    drop(asking);
    let directory = place.directory.display().to_string();
    let project = place.project.id.clone();
    let added = shared
        .terminals
        .add(started, new.title, project, directory, &shared.closing);
    reply::json(&added?)
}

pub async fn list(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    reply::json(&shared.terminals.list(&place.project.id))
}

pub async fn get(State(shared): State<Arc<Shared>>, TerminalPath(id): TerminalPath) -> Answer {
    reply::json(&shared.terminals.find(&id)?.info())
}

#[derive(Deserialize, JsonSchema)]
pub struct TerminalEdit {
    title: Option<String>,
    size: Option<SizeInput>,
}

#[derive(Deserialize, JsonSchema)]
pub struct SizeInput {
    rows: u16,
    cols: u16,
}

pub async fn update(
    State(shared): State<Arc<Shared>>,
    TerminalPath(id): TerminalPath,
    Input(edit): Input<TerminalEdit>,
) -> Answer {
    let size = edit.size.map(|size| TerminalSize {
        rows: size.rows,
        columns: size.cols,
    });
    reply::json(&shared.terminals.update(&id, edit.title, size).await?)
}

pub async fn remove(State(shared): State<Arc<Shared>>, TerminalPath(id): TerminalPath) -> Answer {
    shared.terminals.remove(&id)?;
    reply::yes()
}

pub async fn ticket(State(shared): State<Arc<Shared>>, TerminalPath(id): TerminalPath) -> Answer {
    let ticket = shared.terminals.new_ticket(&id)?;
    let seconds = TICKET_TIME.as_secs();
    Ok(Json(json!({ "ticket": ticket, "expires_in": seconds })))
}

#[derive(Deserialize)]
pub struct ConnectQuery {
    /// What the client has seen, in UTF-16 units; -1 for nothing of what was written before.
    cursor: Option<i64>,
}

/// Text frames in both directions, without any frame of our own.
pub async fn connect(
    State(shared): State<Arc<Shared>>,
    TerminalPath(id): TerminalPath,
    Asked(query): Asked<ConnectQuery>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let terminal = shared.terminals.find(&id)?;
    let upgrade = upgrade.map_err(|error| reply::Refusal::BadRequest(error.to_string()))?;
    let upgrade = upgrade
        .max_message_size(MOST_INPUT)
        .max_frame_size(MOST_INPUT);
    Ok(upgrade.on_upgrade(async move |socket| terminal.connect(socket, query.cursor).await))
}

/// The shells that the system lists and has.
pub async fn shells() -> Answer {
    let listed = tokio::task::spawn_blocking(|| files::read_text(SHELLS.as_ref(), MOST_SHELLS));
    let listed = listed.await.ok().and_then(Result::ok).unwrap_or_default();
    let shells = listed
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('/') && std::path::Path::new(line).is_file())
        .map(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            json!({ "path": path, "name": name, "acceptable": true })
        });
    Ok(Json(Value::Array(shells.collect())))
}
