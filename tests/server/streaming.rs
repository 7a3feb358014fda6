//! The order of events that `docs/streaming.md` describes is the one of real turns.

use std::fs;
use std::path::Path;

use lathe_protocol::SessionId;
use lathe_test_support::disk;
use lathe_test_support::fake_model::{Gate, call, hold, reasoning, text};
use serde_json::{Value, json};

use crate::door::{Door, until};

/// The lines of the block under a heading of the document.
fn documented(heading: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/streaming.md");
    let document = fs::read_to_string(path).unwrap();
    let section = document.split(&format!("\n## {heading}\n")).nth(1);
    let section = section.unwrap_or_else(|| panic!("no section {heading}"));
    let block = section.split("```").nth(1).unwrap();
    block.lines().skip(1).map(str::to_owned).collect()
}

/// One line for an event, without what differs from run to run; none for what may come at any time.
fn line(event: &Value) -> Option<String> {
    let kind = event["type"].as_str().unwrap();
    let properties = &event["properties"];
    let detail = match kind {
        "session.updated" | "session.diff" | "server.heartbeat" => return None,
        "message.updated" if properties["info"]["summary"].is_object() => return None,
        "message.part.updated" if has_snapshot(&properties["part"]) => return None,
        "message.updated" => of_message(&properties["info"]),
        "message.part.updated" => of_part(&properties["part"]),
        "session.status" => properties["status"]["type"].as_str().unwrap().to_owned(),
        "permission.asked" => properties["permission"].as_str().unwrap().to_owned(),
        "permission.replied" => properties["reply"].as_str().unwrap().to_owned(),
        "session.error" => properties["error"]["name"].as_str().unwrap().to_owned(),
        _ => String::new(),
    };
    Some(format!("{kind} {detail}").trim().to_owned())
}

/// The snapshot of a step is added to its first part when it is ready.
fn has_snapshot(part: &Value) -> bool {
    part["type"] == "step-start" && part["snapshot"].is_string()
}

fn of_message(info: &Value) -> String {
    let role = info["role"].as_str().unwrap();
    let mut words = vec![role];
    if info["summary"] == json!(true) {
        words.push("summary");
    }
    if info["time"]["completed"].is_number() {
        words.push("completed");
    }
    words.extend(info["error"]["name"].as_str());
    words.join(" ")
}

fn of_part(part: &Value) -> String {
    let kind = part["type"].as_str().unwrap();
    let detail = match kind {
        "tool" => part["state"]["status"].as_str(),
        "step-finish" => part["reason"].as_str(),
        "text" | "reasoning" if part["time"]["end"].is_number() => Some("ended"),
        "text" | "reasoning" if part["time"]["start"].is_number() => Some("started"),
        _ => None,
    };
    format!("{kind} {}", detail.unwrap_or_default())
}

/// The lines of several events; the same line again and again is one.
fn lines(events: &[Value]) -> Vec<String> {
    let mut lines: Vec<_> = events.iter().filter_map(line).collect();
    lines.dedup();
    lines
}

fn prompt() -> Value {
    json!({ "parts": [{ "type": "text", "text": "hi" }] })
}

const NEWER: &str = "opencode/1.18.34";

/// Sends a prompt and returns the events of its turn.
async fn turn(door: &Door) -> Vec<String> {
    let message = format!("{}/message", door.new_session().await);
    let mut events = door.events("/event", NEWER).await;
    let (_, seen) = tokio::join!(
        door.post(&message, prompt()),
        until(&mut events, "session.idle")
    );
    lines(&seen)
}

#[tokio::test]
async fn a_turn_with_reasoning_and_text() {
    let door = Door::open().await;
    door.model
        .reply([reasoning("Hmm"), text("Hel"), text("lo")]);
    assert_eq!(turn(&door).await, documented("Reasoning and text"));
}

#[tokio::test]
async fn a_turn_with_a_tool_that_needs_a_permission() {
    let door = Door::open().await;
    assert_eq!(disk::shortage(door.app.data_dir()), None);
    let command = json!({ "command": "touch made", "description": "d" });
    door.model.reply([text("I will"), call("bash", command)]);
    door.model.reply([text("done")]);
    let message = format!("{}/message", door.new_session().await);
    let mut events = door.events("/event", NEWER).await;
    let answering = async {
        let mut seen = until(&mut events, "permission.asked").await;
        let id = seen.last().unwrap()["properties"]["id"].clone();
        let path = format!("/permission/{}/reply", id.as_str().unwrap());
        door.post(&path, json!({ "reply": "once" })).await;
        seen.extend(until(&mut events, "session.idle").await);
        seen
    };
    let (_, seen) = tokio::join!(door.post(&message, prompt()), answering);
    assert_eq!(lines(&seen), documented("A tool call"));
}

#[tokio::test]
async fn a_turn_with_a_retry() {
    let door = Door::open().await;
    door.model
        .refuse(529, &[("retry-after", "300")], "Overloaded");
    door.model.reply([text("Hello")]);
    let path = door.new_session().await;
    let message = format!("{path}/message");
    let mut events = door.events("/event", NEWER).await;
    let retrying = async {
        let mut seen = Vec::new();
        while seen.last().and_then(line).as_deref() != Some("session.status retry") {
            seen.extend(until(&mut events, "session.status").await);
        }
        let id = SessionId::parse(path.rsplit('/').next().unwrap()).unwrap();
        door.app.sessions.retry_now(&id);
        seen.extend(until(&mut events, "session.idle").await);
        seen
    };
    let (_, seen) = tokio::join!(door.post(&message, prompt()), retrying);
    assert_eq!(lines(&seen), documented("A retry"));
}

#[tokio::test]
async fn a_turn_that_is_aborted() {
    let door = Door::open().await;
    let gate = Gate::closed();
    door.model.reply([text("beginning"), hold(&gate)]);
    let path = door.new_session().await;
    let message = format!("{path}/message");
    let mut events = door.events("/event", NEWER).await;
    let aborting = async {
        let mut seen = until(&mut events, "message.part.delta").await;
        door.post(&format!("{path}/abort"), json!({})).await;
        seen.extend(until(&mut events, "session.idle").await);
        seen
    };
    let (_, seen) = tokio::join!(door.post(&message, prompt()), aborting);
    assert_eq!(lines(&seen), documented("An abort"));
}

#[tokio::test]
async fn a_compaction() {
    let door = Door::open().await;
    door.model.reply([text("one")]);
    let path = door.new_session().await;
    door.post(&format!("{path}/message"), prompt()).await;
    door.model.reply([text("a summary")]);
    let mut events = door.events("/event", NEWER).await;
    let summarize = format!("{path}/summarize");
    let body = json!({ "providerID": "fake", "modelID": "m" });
    let (_, seen) = tokio::join!(
        door.post(&summarize, body),
        until(&mut events, "session.idle")
    );
    assert_eq!(lines(&seen), documented("A compaction"));
}
