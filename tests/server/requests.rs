//! Permissions and questions are asked over the events and answered over HTTP.

use lathe_test_support::fake_model::{call, text};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::door::{Door, until};

fn prompt() -> Value {
    json!({ "parts": [{ "type": "text", "text": "go" }] })
}

#[tokio::test]
async fn a_permission_is_asked_for_and_what_is_rejected_does_not_happen() {
    let door = Door::open().await;
    door.model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "d" }),
    )]);
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.1.27").await;
    let message = format!("{path}/message");
    let waiting = door.post(&message, prompt());
    let answering = async {
        let seen = until(&mut events, "permission.asked").await;
        let asked = seen.last().unwrap()["properties"].clone();
        assert_eq!(door.get("/permission").await[0]["id"], asked["id"]);
        let id = asked["id"].as_str().unwrap();
        let answer = json!({ "reply": "reject" });
        door.post(&format!("/permission/{id}/reply"), answer).await
    };
    let (_, answered) = tokio::join!(waiting, answering);
    assert_eq!(answered, json!(true));
    assert!(!door.app.path("made").exists());
    assert_eq!(door.get("/permission").await, json!([]));
}

#[tokio::test]
async fn older_clients_answer_a_permission_at_their_own_address() {
    let door = Door::open().await;
    door.model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "d" }),
    )]);
    door.model.reply([text("made")]);
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.1.27").await;
    let message = format!("{path}/message");
    let waiting = door.post(&message, prompt());
    let answering = async {
        let seen = until(&mut events, "permission.asked").await;
        let id = seen.last().unwrap()["properties"]["id"].clone();
        let id = id.as_str().unwrap();
        let elsewhere = format!("/session/ses_other/permissions/{id}");
        let answer = json!({ "response": "once" });
        let refused = door.refused(Method::POST, &elsewhere, answer.clone()).await;
        assert_eq!(refused.0, StatusCode::NOT_FOUND);
        door.post(&format!("{path}/permissions/{id}"), answer).await
    };
    tokio::join!(waiting, answering);
    assert!(door.app.path("made").exists());
}

#[tokio::test]
async fn a_question_is_answered() {
    let door = Door::open().await;
    let question = json!({ "questions": [{
        "question": "Which?", "header": "Which",
        "options": [{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }],
    }] });
    door.model.reply([call("question", question)]);
    let second = door.model.reply([text("B it is")]);
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.18.34").await;
    let message = format!("{path}/message");
    let waiting = door.post(&message, prompt());
    let answering = async {
        let seen = until(&mut events, "question.asked").await;
        let id = seen.last().unwrap()["properties"]["id"].clone();
        assert_eq!(door.get("/question").await[0]["id"], id);
        let reply = format!("/question/{}/reply", id.as_str().unwrap());
        door.post(&reply, json!({ "answers": [["B"]] })).await
    };
    let (answer, _) = tokio::join!(waiting, answering);
    assert!(second.was_asked());
    assert_eq!(answer["info"]["finish"], "stop");
}
