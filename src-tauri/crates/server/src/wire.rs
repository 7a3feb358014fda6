//! Our values in the form that the clients read.
//!
//! Where two versions of the clients read different fields, an answer has both.

use lathe_protocol::ipc::{AgentMode, AgentView, CommandView, McpServerView, McpStatus};
use lathe_protocol::{Event, FileDiff, Part, PermissionReply, Todo};
use lathe_session::bus::Delta;
use lathe_session::models::{Model, Provider};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub fn event(kind: &str, properties: Value) -> Value {
    json!({ "type": kind, "properties": properties })
}

/// Our types always have a JSON form.
pub fn value<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| {
        tracing::error!(%error, "a value has no JSON form");
        Value::Null
    })
}

pub fn core_event(event: &Event) -> Value {
    let mut sent = value(event);
    let session = event.session_id().map(value);
    let Some(properties) = sent.get_mut("properties").and_then(Value::as_object_mut) else {
        return sent;
    };
    // Newer clients read it from every event.
    if let Some(session) = session {
        properties.entry("sessionID").or_insert(session);
    }
    match event {
        // The clients know once, always and reject.
        Event::PermissionReplied {
            reply: PermissionReply::Session,
            ..
        } => {
            properties.insert("reply".into(), json!("once"));
        }
        Event::SessionDiff { diff, .. } => {
            properties.insert("diff".into(), diffs(diff));
        }
        Event::TodoUpdated { todos: list, .. } => {
            properties.insert("todos".into(), todos(list));
        }
        _ => {}
    }
    sent
}

pub fn part_updated(part: &Part, delta: Option<&str>) -> Value {
    let mut properties = json!({ "sessionID": part.session_id(), "part": part });
    if let Some(delta) = delta {
        properties["delta"] = json!(delta);
    }
    event("message.part.updated", properties)
}

pub fn delta(delta: &Delta) -> Value {
    let properties = json!({
        "sessionID": delta.session_id,
        "messageID": delta.message_id,
        "partID": delta.part_id,
        "field": "text",
        "delta": delta.text,
    });
    event("message.part.delta", properties)
}

/// With both texts for older clients and a patch for newer ones.
pub fn diffs(diffs: &[FileDiff]) -> Value {
    let diff = |diff: &FileDiff| {
        let before = diff.before.as_deref().unwrap_or_default();
        let after = diff.after.as_deref().unwrap_or_default();
        let patch = diff.patch.clone().unwrap_or_else(|| {
            similar::TextDiff::from_lines(before, after)
                .unified_diff()
                .header(&diff.file, &diff.file)
                .to_string()
        });
        let mut sent = value(diff);
        sent["before"] = json!(before);
        sent["after"] = json!(after);
        sent["patch"] = json!(patch);
        if diff.status.is_none() {
            sent["status"] = json!("modified");
        }
        sent
    };
    Value::Array(diffs.iter().map(diff).collect())
}

pub fn todos(todos: &[Todo]) -> Value {
    let numbered = todos.iter().enumerate().map(|(index, todo)| {
        let mut sent = value(todo);
        if todo.id.is_none() {
            sent["id"] = json!((index + 1).to_string());
        }
        if todo.priority.is_none() {
            sent["priority"] = json!("medium");
        }
        sent
    });
    Value::Array(numbered.collect())
}

pub fn agent(agent: &AgentView) -> Value {
    let mode = match agent.mode {
        AgentMode::Primary => "primary",
        AgentMode::Subagent => "subagent",
        AgentMode::All => "all",
    };
    let mut sent = json!({
        "name": agent.name,
        "description": agent.description,
        "mode": mode,
        "native": agent.built_in,
        "builtIn": agent.built_in,
        "permission": [],
        "tools": {},
        "options": {},
    });
    for (name, found) in [
        ("color", agent.color.as_ref().map(value)),
        ("model", agent.model.as_ref().map(value)),
        ("steps", agent.steps.as_ref().map(value)),
    ] {
        if let Some(found) = found {
            sent[name] = found;
        }
    }
    sent
}

/// As the routes below `/api` have it.
pub fn newer_agent(view: &AgentView) -> Value {
    let mut sent = agent(view);
    sent["id"] = json!(view.name);
    sent["hidden"] = json!(false);
    sent["permissions"] = json!([]);
    sent["request"] = json!({ "headers": {}, "body": {} });
    sent
}

pub fn command(command: &CommandView) -> Value {
    let hints: Vec<_> = command.hint.iter().collect();
    json!({
        "name": command.name,
        "description": command.description,
        "source": "command",
        "template": "",
        "hints": hints,
    })
}

pub fn provider(provider: &Provider) -> Value {
    let models = provider.models.iter();
    let models: Map<_, _> = models
        .map(|one| (one.info.id.clone(), model(provider, one)))
        .collect();
    json!({
        "id": provider.id,
        "name": provider.name,
        "source": "config",
        "env": provider.key_env,
        "options": {},
        "models": models,
    })
}

fn model(provider: &Provider, model: &Model) -> Value {
    let info = &model.info;
    let limits = value(&info.limits);
    let prices = info.prices.as_ref().map(|prices| value(&prices.base));
    let prices = prices.unwrap_or_default();
    let price = |name: &str| prices.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let limit = |name: &str| limits.get(name).cloned().unwrap_or(json!(0));
    let variants = info.variants.iter();
    let variants: Map<_, _> = variants.map(|name| (name.clone(), json!({}))).collect();
    let attachment = info.images || info.pdf;
    json!({
        "id": info.id,
        "providerID": provider.id,
        "name": info.name,
        "api": { "id": info.wire_id, "url": "", "npm": "" },
        "status": "active",
        "release_date": "",
        "capabilities": {
            "temperature": true,
            "reasoning": info.reasoning,
            "attachment": attachment,
            "toolcall": info.tools,
            "input": media(info.images, info.pdf),
            "output": media(false, false),
            "interleaved": false,
        },
        // The same, where the list of all providers has it.
        "temperature": true,
        "reasoning": info.reasoning,
        "attachment": attachment,
        "tool_call": info.tools,
        "cost": {
            "input": price("input"),
            "output": price("output"),
            "cache": { "read": price("cacheRead"), "write": price("cacheWrite") },
        },
        "limit": { "context": limit("context"), "output": limit("output") },
        "options": {},
        "headers": {},
        "variants": variants,
    })
}

/// As the routes below `/api` have it. Requests are not made by clients, so nothing of them is
/// said.
pub fn newer_provider(provider: &Provider) -> Value {
    json!({
        "id": provider.id,
        "name": provider.name,
        "api": { "type": "native", "settings": {} },
        "request": { "headers": {}, "body": {} },
    })
}

pub fn newer_model(provider: &Provider, one: &Model) -> Value {
    let info = &one.info;
    let older = model(provider, one);
    let variants = info.variants.iter();
    let variants = variants.map(|name| json!({ "id": name, "headers": {}, "body": {} }));
    let kinds = [("text", true), ("image", info.images), ("pdf", info.pdf)];
    let taken = kinds.iter().filter(|(_, is_taken)| *is_taken);
    json!({
        "id": info.id,
        "providerID": provider.id,
        "name": info.name,
        "api": { "id": info.wire_id, "type": "native", "settings": {} },
        "capabilities": {
            "tools": info.tools,
            "input": taken.map(|(kind, _)| kind).collect::<Vec<_>>(),
            "output": ["text"],
        },
        "request": { "headers": {}, "body": {} },
        "variants": variants.collect::<Vec<_>>(),
        "time": { "released": 0 },
        "cost": [older["cost"]],
        "status": "active",
        "enabled": true,
        "limit": older["limit"],
    })
}

fn media(image: bool, pdf: bool) -> Value {
    json!({ "text": true, "audio": false, "image": image, "video": false, "pdf": pdf })
}

pub fn tool_server(server: &McpServerView) -> Value {
    match server.status {
        McpStatus::Off => json!({ "status": "disabled" }),
        McpStatus::Failed => {
            json!({ "status": "failed", "error": server.error.clone().unwrap_or_default() })
        }
        _ => json!({ "status": "connected" }),
    }
}
