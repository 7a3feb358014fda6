//! The project: config, providers, agents, commands, tool servers, paths.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use lathe_session::models::{Models, Provider, WireKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::context::{Input, NamePath, Place, Shared};
use crate::reply::{self, Answer};
use crate::wire;

pub async fn health() -> Answer {
    Ok(Json(
        json!({ "healthy": true, "version": env!("CARGO_PKG_VERSION") }),
    ))
}

/// Not the config files themselves, which may hold keys: what the clients need of them.
pub async fn config(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let models = shared
        .sessions
        .models_in(&place.project, &place.directory)
        .await;
    let model = models.default().await;
    Ok(Json(json!({
        "model": format!("{}/{}", model.provider_id, model.model_id),
        "share": "manual",
        "autoupdate": false,
        "username": "",
        "agent": {},
        "mode": {},
        "command": {},
        "plugin": [],
        "mcp": {},
        "keybinds": {},
    })))
}

/// Those that can be used now: with a key, or with none needed.
pub async fn usable(models: &Models) -> Vec<Provider> {
    let keys = models.keys().await;
    let is_usable =
        |provider: &&Provider| match provider.is_local || provider.wire == WireKind::Demo {
            true => !provider.models.is_empty(),
            false => {
                provider.access.key.is_some() || keys.iter().any(|key| key.provider == provider.id)
            }
        };
    let catalog = models.catalog();
    catalog
        .providers()
        .iter()
        .filter(is_usable)
        .cloned()
        .collect()
}

async fn defaults(models: &Models, providers: &[Provider]) -> Value {
    let chosen = models.default().await;
    let mut defaults = Map::new();
    for provider in providers {
        let first = provider.models.first().map(|model| model.info.id.clone());
        let model = match provider.id == chosen.provider_id {
            true => Some(chosen.model_id.clone()),
            false => provider.default_model.clone().or(first),
        };
        if let Some(model) = model {
            defaults.insert(provider.id.clone(), json!(model));
        }
    }
    Value::Object(defaults)
}

pub async fn config_providers(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let models = shared
        .sessions
        .models_in(&place.project, &place.directory)
        .await;
    let providers = usable(&models).await;
    let default = defaults(&models, &providers).await;
    let providers: Vec<_> = providers.iter().map(wire::provider).collect();
    Ok(Json(json!({ "providers": providers, "default": default })))
}

pub async fn providers(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let models = shared
        .sessions
        .models_in(&place.project, &place.directory)
        .await;
    let usable = usable(&models).await;
    let default = defaults(&models, &usable).await;
    let connected: Vec<_> = usable.iter().map(|provider| &provider.id).collect();
    let catalog = models.catalog();
    let all: Vec<_> = catalog.providers().iter().map(wire::provider).collect();
    Ok(Json(
        json!({ "all": all, "default": default, "connected": connected }),
    ))
}

pub async fn agents(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let mut agents = shared.sessions.agents(&place.project).await?;
    // Clients start with the first one.
    agents.sort_by_key(|agent| !agent.default);
    Ok(Json(agents.iter().map(wire::agent).collect()))
}

pub async fn commands(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let commands = shared.sessions.commands(&place.project).await?;
    Ok(Json(commands.iter().map(wire::command).collect()))
}

pub async fn projects(State(shared): State<Arc<Shared>>) -> Answer {
    reply::json(&shared.sessions.projects().await?)
}

pub async fn current(place: Place) -> Answer {
    let mut project = wire::value(&place.project);
    if place.project.sandboxes.is_none() {
        project["sandboxes"] = json!([]);
    }
    Ok(Json(project))
}

pub async fn directories(place: Place) -> Answer {
    Ok(Json(json!([place.project.worktree])))
}

pub async fn paths(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let home = std::env::home_dir().unwrap_or_default();
    Ok(Json(json!({
        "home": home,
        "state": shared.directory,
        "config": home.join(".config").join("lathe"),
        "worktree": place.project.worktree,
        "directory": place.directory,
    })))
}

pub async fn tool_servers(State(shared): State<Arc<Shared>>) -> Answer {
    let servers = shared.sessions.mcp().list();
    let servers: Map<_, _> = servers
        .iter()
        .map(|server| (server.name.clone(), wire::tool_server(server)))
        .collect();
    Ok(Json(Value::Object(servers)))
}

pub async fn connect(State(shared): State<Arc<Shared>>, NamePath(name): NamePath) -> Answer {
    shared.sessions.mcp().set_enabled(&name, true).await?;
    reply::yes()
}

pub async fn disconnect(State(shared): State<Arc<Shared>>, NamePath(name): NamePath) -> Answer {
    shared.sessions.mcp().set_enabled(&name, false).await?;
    reply::yes()
}

pub async fn resources(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let resources = shared.sessions.mcp().resources(&place.project.id).await;
    let resources: Map<_, _> = resources
        .iter()
        .map(|one| {
            let sent = json!({
                "name": one.name,
                "uri": one.uri,
                "description": one.description,
                "mimeType": one.mime,
                "client": one.server,
            });
            (format!("{}:{}", one.server, one.uri), sent)
        })
        .collect();
    Ok(Json(Value::Object(resources)))
}

pub async fn tool_ids(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let tools = shared.folders.tools(&place.project, &place.directory);
    let names = tools.await?.into_iter().map(|(name, ..)| json!(name));
    Ok(Json(names.collect()))
}

/// The same for every model.
pub async fn tools(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let tools = shared.folders.tools(&place.project, &place.directory);
    let tools = tools.await?.into_iter();
    let tools = tools.map(|(name, description, schema)| {
        json!({ "id": name, "description": description, "parameters": schema })
    });
    Ok(Json(tools.collect()))
}

/// The folders of its forks.
pub async fn worktrees(place: Place) -> Answer {
    reply::json(&place.project.sandboxes.unwrap_or_default())
}

#[derive(Deserialize, JsonSchema)]
pub struct LogLine {
    #[serde(default)]
    service: String,
    #[serde(default)]
    message: String,
}

/// What is taken of a line that a client writes to the log.
const MOST_MESSAGE: usize = 2000;
const MOST_SERVICE: usize = 100;

pub async fn log(Input(line): Input<LogLine>) -> Answer {
    let message: String = line.message.chars().take(MOST_MESSAGE).collect();
    let service: String = line.service.chars().take(MOST_SERVICE).collect();
    tracing::info!(?service, client = ?message, "a client says");
    reply::yes()
}
