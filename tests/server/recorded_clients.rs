//! What real clients asked, recorded by `tests/real_clients/proxy.mjs` and asked again.
//!
//! Ids of sessions and the folder are those of this run; everything else is sent as it was. Each
//! answer has the status of then, and the shape that the schemas and the table of routes say.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use lathe_protocol::validators;
use lathe_server::ROUTES;
use lathe_test_support::fake_model::text;
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::door::Door;
use crate::route_table::{Does, TABLE, commit_all, fits};

#[derive(Deserialize)]
struct Recorded {
    method: String,
    path: String,
    headers: HashMap<String, String>,
    body: Value,
    status: u16,
    /// The id of what the request made.
    made: Option<String>,
}

/// The recordings: `LATHE_RECORD=tests/fixtures/clients cargo xtask test --real-clients` makes
/// them anew.
fn recordings() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/clients");
    let files = fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let read = |path: &Path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    let mut found: Vec<_> = files.map(|path| read(&path)).collect();
    found.sort();
    found
}

#[tokio::test]
async fn what_real_clients_asked_is_answered_as_it_was() {
    let recordings = recordings();
    let clients: Vec<_> = recordings.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "python",
        "run-1.1.27",
        "run-newest",
        "tui-1.1.27",
        "tui-newest",
        "web-newest",
    ];
    assert_eq!(clients, wanted);
    for (client, lines) in &recordings {
        replay(client, lines).await;
    }
}

async fn replay(client: &str, lines: &str) {
    let door = Door::open().await;
    door.app.write("a.txt", "hello\n");
    commit_all(&door);
    let folder = door.app.path(".").canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let encoded: String = url::form_urlencoded::byte_serialize(folder.as_bytes()).collect();
    let mut ids: Vec<(String, String)> = Vec::new();
    for line in lines.lines() {
        let mut line = line
            .replace("{encoded folder}", &encoded)
            .replace("{folder}", folder)
            // The provider of the recorded run, and the one of these tests.
            .replace("\"talk\"", "\"fake\"");
        for (then, now) in &ids {
            line = line.replace(then, now);
        }
        let recorded: Recorded = serde_json::from_str(&line).unwrap();
        let at = format!("{client}: {} {}", recorded.method, recorded.path);
        let is_prompt = ["/message", "/prompt_async"]
            .iter()
            .any(|end| recorded.path.contains(end));
        if recorded.method == "POST" && is_prompt {
            door.model.reply([text("Hello from the model.")]);
        }
        let method = Method::from_bytes(recorded.method.as_bytes()).unwrap();
        let mut request = door.request(method, &recorded.path);
        for (name, value) in &recorded.headers {
            request = request.header(name, value);
        }
        if !recorded.body.is_null() {
            request = request.body(recorded.body.to_string());
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), recorded.status, "{at}");
        let kind = response.headers().get("content-type").cloned();
        let Some(kind) = kind else { continue };
        if kind != "application/json" {
            assert_eq!(kind, "text/event-stream", "{at}");
            continue;
        }
        let answer: Value = response.json().await.unwrap();
        if let (Some(then), Some(now)) = (&recorded.made, answer["id"].as_str()) {
            ids.push((then.clone(), now.to_owned()));
        }
        if let Err(wrong) = check(&recorded, &answer) {
            panic!("{at}: {wrong}: {answer}");
        }
    }
}

/// Whether an answer is what its route answers.
fn check(recorded: &Recorded, answer: &Value) -> Result<(), String> {
    let path = recorded.path.split('?').next().unwrap_or_default();
    let route = ROUTES
        .iter()
        .find(|route| route.method == recorded.method && is_of(path, route.path));
    let route = route.ok_or("there is no such route")?;
    let row = TABLE
        .iter()
        .find(|(method, path, _)| (*method, *path) == (route.method, route.path));
    match row {
        Some((_, _, Does::Answers(_, shape))) => {
            let shape: Value = serde_json::from_str(shape).unwrap();
            fits(answer, &shape)?;
        }
        Some((_, _, Does::Empty(wanted, _))) if !route.path.starts_with("/api/") => {
            let wanted: Value = serde_json::from_str(wanted).unwrap();
            if *answer != wanted {
                return Err(format!("it is not {wanted}"));
            }
        }
        _ => {}
    }
    let is_valid = |schema: &str, value: &Value| validators::validate(schema, value).is_ok();
    let valid = match (route.method, route.path) {
        ("POST", "/session" | "/session/{sessionID}/fork")
        | ("GET" | "PATCH", "/session/{sessionID}") => is_valid("session", answer),
        ("POST", "/session/{sessionID}/message") => is_valid("messageWithParts", answer),
        ("GET", "/session/{sessionID}/message") => {
            let mut messages = answer.as_array().into_iter().flatten();
            messages.all(|message| is_valid("messageWithParts", message))
        }
        _ => true,
    };
    valid
        .then_some(())
        .ok_or_else(|| "it is not valid by its schema".to_owned())
}

/// Whether a path is one of a route.
fn is_of(path: &str, route: &str) -> bool {
    let (mut path, mut route) = (path.split('/'), route.split('/'));
    loop {
        match (path.next(), route.next()) {
            (None, None) => return true,
            (Some(_), Some(name)) if name.starts_with('{') => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}
