//! The routes below `/api` that clients of 1.18 call at their start. Their answers name the place
//! that they are about.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use lathe_protocol::Session;
use lathe_protocol::ipc::Mention;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Asked, OpenPlace, Place, Shared};
use crate::handlers::project::usable;
use crate::handlers::sessions::{ListQuery, select};
use crate::reply::Answer;
use crate::wire;

const USUAL_HITS: usize = 100;
const MOST_HITS: usize = 1000;

pub async fn health() -> Answer {
    Ok(Json(json!({ "healthy": true })))
}

pub async fn location(place: Place) -> Answer {
    Ok(Json(location_of(&place)))
}

fn location_of(place: &Place) -> Value {
    json!({
        "directory": place.directory,
        "project": { "id": place.project.id, "directory": place.project.worktree },
    })
}

fn answer(place: &Place, data: Vec<Value>) -> Answer {
    Ok(Json(
        json!({ "location": location_of(place), "data": data }),
    ))
}

/// For what this program does not have.
pub async fn nothing(place: Place) -> Answer {
    answer(&place, Vec::new())
}

pub async fn agents(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let agents = shared.sessions.agents(&place.project).await?;
    answer(&place, agents.iter().map(wire::newer_agent).collect())
}

pub async fn commands(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let commands = shared.sessions.commands(&place.project).await?;
    answer(&place, commands.iter().map(wire::command).collect())
}

pub async fn providers(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let models = shared
        .sessions
        .models_in(&place.project, &place.directory)
        .await;
    let usable = usable(&models).await;
    answer(&place, usable.iter().map(wire::newer_provider).collect())
}

pub async fn models(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let models = shared
        .sessions
        .models_in(&place.project, &place.directory)
        .await;
    let usable = usable(&models).await;
    let models = usable.iter().flat_map(|provider| {
        let models = provider.models.iter();
        models.map(|model| wire::newer_model(provider, model))
    });
    answer(&place, models.collect())
}

#[derive(Deserialize)]
pub struct FindQuery {
    #[serde(default)]
    query: String,
    limit: Option<usize>,
}

pub async fn find_files(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Asked(query): Asked<FindQuery>,
) -> Answer {
    let limit = query.limit.unwrap_or(USUAL_HITS).min(MOST_HITS);
    let found = shared
        .sessions
        .find_mentions(&place.project, &query.query, limit);
    let entries = found
        .await?
        .into_iter()
        .filter_map(|mention| match mention {
            Mention::File { path } => Some(json!({ "path": path, "type": "file" })),
            Mention::Directory { path } => Some(json!({ "path": path, "type": "directory" })),
            _ => None,
        });
    let entries = entries.collect();
    answer(&place, entries)
}

/// All in one page.
pub async fn sessions(
    State(shared): State<Arc<Shared>>,
    place: Place,
    Asked(query): Asked<ListQuery>,
) -> Answer {
    let sessions = shared.sessions.list(&place.project).await?;
    let sessions = select(sessions, query);
    let data: Vec<_> = sessions.iter().map(session).collect();
    Ok(Json(json!({ "data": data, "cursor": {} })))
}

fn session(session: &Session) -> Value {
    let mut sent = wire::value(session);
    sent["location"] = json!({ "directory": session.directory });
    // Counted only where a session is opened.
    sent["cost"] = json!(0);
    sent["tokens"] = json!({
        "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 },
    });
    sent
}
