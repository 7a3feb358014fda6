//! Prompts: ids that the client chose, prompts that are not waited for, abort, commands.

use futures::Stream;
use lathe_test_support::fake_model::{Gate, hold, text};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::door::{Door, until};

#[tokio::test]
async fn ids_and_instructions_that_the_client_chose_are_used() {
    let door = Door::open().await;
    let asked = door.model.reply([text("yes")]);
    let path = door.new_session().await;
    let body = json!({
        "messageID": "msg_chosen",
        "system": "Answer in one word.",
        "parts": [{ "id": "prt_chosen", "type": "text", "text": "Ready?" }],
    });
    let answer = door.post(&format!("{path}/message"), body.clone()).await;
    assert_eq!(answer["info"]["parentID"], "msg_chosen");
    let prompt = door.get(&format!("{path}/message/msg_chosen")).await;
    assert_eq!(prompt["parts"][0]["id"], "prt_chosen");
    assert_eq!(prompt["info"]["system"], "Answer in one word.");
    drop(asked);

    let other = door.new_session().await;
    let (status, message) = door
        .refused(Method::POST, &format!("{other}/message"), body)
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(message, "There is already a message msg_chosen");
}

#[tokio::test]
async fn a_prompt_that_is_not_waited_for_is_answered_over_the_events() {
    let door = Door::open().await;
    door.model.reply([text("later")]);
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.18.34").await;
    let request = door.request(Method::POST, &format!("{path}/prompt_async"));
    let body = json!({ "parts": [{ "type": "text", "text": "hi" }] });
    let response = request.json(&body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    until(&mut events, "session.idle").await;
    let messages = door.get(&format!("{path}/message")).await;
    assert_eq!(messages.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_abort_ends_the_turn_and_the_waiting_request() {
    let door = Door::open().await;
    let gate = Gate::closed();
    let asked = door.model.reply([text("beginning"), hold(&gate)]);
    let path = door.new_session().await;
    let body = json!({ "parts": [{ "type": "text", "text": "hi" }] });
    let message = format!("{path}/message");
    let waiting = door.post(&message, body);
    let abort = async {
        asked.asked().await;
        door.post(&format!("{path}/abort"), json!({})).await
    };
    let (answer, aborted) = tokio::join!(waiting, abort);
    assert_eq!(aborted, json!(true));
    assert_eq!(answer["info"]["error"]["name"], "MessageAbortedError");
    assert_eq!(door.get("/session/status").await, json!({}));
}

#[tokio::test]
async fn a_prompt_to_a_session_that_is_not_there_is_not_found() {
    let door = Door::open().await;
    let body = json!({ "parts": [{ "type": "text", "text": "hi" }] });
    let (status, _) = door
        .refused(Method::POST, "/session/ses_none/message", body)
        .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_file_that_a_client_names_is_read_like_the_agent_reads_it() {
    let door = Door::open().await;
    door.app.write("notes.txt", "water the fern");
    door.app.write(".env", "KEY=fern");
    let path = door.new_session().await;
    let message = format!("{path}/message");
    let file = |name: &str| {
        let url = format!("file://{}", door.app.path(name).display());
        json!({ "parts": [{ "type": "file", "url": url }, { "type": "text", "text": "Read it" }] })
    };
    let asked = door.model.reply([text("I did")]);
    door.post(&message, file("notes.txt")).await;
    assert!(asked.request().body.to_string().contains("water the fern"));

    let mut events = door.events("/event", "opencode/1.18.34").await;
    let sent = door.refused(Method::POST, &message, file(".env"));
    let ((status, why), _) = tokio::join!(sent, reject(&door, &mut events));
    assert_eq!(status, StatusCode::BAD_REQUEST, "{why}");

    let asked = door.model.reply([text("I could not")]);
    let body = json!({ "parts": [{ "type": "text", "text": "What is in @.env?" }] });
    tokio::join!(door.post(&message, body), reject(&door, &mut events));
    assert!(!asked.request().body.to_string().contains("KEY=fern"));
    let messages = door.get(&message).await.to_string();
    assert!(!messages.contains("KEY=fern"), "{messages}");
}

async fn reject(door: &Door, events: &mut (impl Stream<Item = Value> + Unpin)) {
    let seen = until(events, "permission.asked").await;
    let asked = &seen.last().unwrap()["properties"];
    let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    door.post(&path, json!({ "reply": "reject" })).await;
}

#[tokio::test]
async fn a_rule_that_allows_is_not_taken_from_a_client() {
    let door = Door::open().await;
    let rules = json!([
        { "permission": "*", "pattern": "*", "action": "allow" },
        { "permission": "bash", "pattern": "*", "action": "deny" },
    ]);
    let session = door.post("/session", json!({ "permission": rules })).await;
    assert_eq!(session["permission"], json!([rules[1]]));
}
