//! The two forms of streaming text, and which events reach which subscriber.

use lathe_test_support::fake_model::text;
use serde_json::{Value, json};

use crate::door::{Door, until};

fn prompt() -> Value {
    json!({ "parts": [{ "type": "text", "text": "hi" }] })
}

fn of_kind<'a>(seen: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let seen = seen.iter().filter(|event| event["type"] == kind);
    seen.map(|event| &event["properties"]).collect()
}

#[tokio::test]
async fn an_older_client_gets_the_whole_part_with_each_delta() {
    let door = Door::open().await;
    door.model.reply([text("Hel"), text("lo")]);
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.1.27").await;
    let message = format!("{path}/message");
    let (_, seen) = tokio::join!(
        door.post(&message, prompt()),
        until(&mut events, "session.idle")
    );
    assert!(of_kind(&seen, "message.part.delta").is_empty());
    let updates = of_kind(&seen, "message.part.updated");
    let updates = updates.iter().filter(|update| update["delta"].is_string());
    let mut whole = String::new();
    for update in updates {
        whole.push_str(update["delta"].as_str().unwrap());
        assert_eq!(update["part"]["text"], whole);
    }
    assert_eq!(whole, "Hello");
}

#[tokio::test]
async fn a_newer_client_gets_only_the_new_text() {
    let door = Door::open().await;
    door.model.reply([text("Hel"), text("lo")]);
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.18.34").await;
    let message = format!("{path}/message");
    let (_, seen) = tokio::join!(
        door.post(&message, prompt()),
        until(&mut events, "session.idle")
    );
    let deltas = of_kind(&seen, "message.part.delta");
    let whole: String = deltas
        .iter()
        .map(|delta| delta["delta"].as_str().unwrap())
        .collect();
    assert_eq!(whole, "Hello");
    assert!(deltas.iter().all(|delta| delta["field"] == "text"));
    let updates = of_kind(&seen, "message.part.updated");
    assert!(updates.iter().all(|update| update["delta"].is_null()));
}

#[tokio::test]
async fn a_client_may_choose_the_form() {
    let door = Door::open().await;
    door.model.reply([text("Hello")]);
    let path = door.new_session().await;
    let mut events = door.events("/event?deltas=delta", "somebody").await;
    let message = format!("{path}/message");
    let (_, seen) = tokio::join!(
        door.post(&message, prompt()),
        until(&mut events, "session.idle")
    );
    assert!(!of_kind(&seen, "message.part.delta").is_empty());
}

#[tokio::test]
async fn subscribers_that_read_later_get_the_same() {
    for agent in ["opencode/1.1.27", "opencode/1.18.34"] {
        let door = Door::open().await;
        let words: Vec<_> = (0..200)
            .map(|number| text(format!("word{number} ")))
            .collect();
        door.model.reply(words);
        let path = door.new_session().await;
        let mut first = door.events("/event", agent).await;
        let mut second = door.events("/event", agent).await;
        let message = format!("{path}/message");
        let (_, seen) = tokio::join!(
            door.post(&message, prompt()),
            until(&mut first, "session.idle")
        );
        let later = until(&mut second, "session.idle").await;
        let without_beats = |mut events: Vec<Value>| {
            events.retain(|event| event["type"] != "server.heartbeat");
            events
        };
        assert_eq!(without_beats(later), without_beats(seen));
    }
}

#[tokio::test]
async fn another_project_has_its_own_events_and_the_global_stream_has_all() {
    let door = Door::open().await;
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().to_str().unwrap();
    let mut own = door.events("/event", "").await;
    let mut all = door.events("/global/event", "").await;
    let elsewhere = door
        .post(&format!("/session?directory={folder}"), json!({}))
        .await;
    let here = door.post("/session", json!({})).await;

    let seen = until(&mut own, "session.created").await;
    assert_eq!(seen.last().unwrap()["properties"]["info"]["id"], here["id"]);
    let seen = until(&mut all, "session.created").await;
    let first = seen.last().unwrap();
    assert_eq!(first["directory"], folder);
    assert_eq!(
        first["payload"]["properties"]["info"]["id"],
        elsewhere["id"]
    );
}
