//! Prompts: ids that the client chose, prompts that are not waited for, abort, commands.

use futures::Stream;
use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Action, PermissionMode, Rule, SessionId};
use lathe_session::bus::{BusItem, Notification};
use lathe_test_support::app::until_idle;
use lathe_test_support::fake_model::{Gate, call, hold, text};
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

/// It waited for a turn that was stopped.
#[tokio::test]
async fn a_prompt_that_was_never_sent_is_not_answered_with_another_answer() {
    let door = Door::open().await;
    let call_of_tool = json!({ "command": "touch made", "description": "d" });
    door.model.reply([call("bash", call_of_tool)]);
    let path = door.new_session().await;
    let message = format!("{path}/message");
    let prompt = |id: &str| json!({ "messageID": id, "parts": [{ "type": "text", "text": "go" }] });
    let mut events = door.events("/event", "opencode/1.18.34").await;
    let mut queue = door.app.sessions.subscribe();
    let second = async {
        until(&mut events, "permission.asked").await;
        let abort = async {
            while let Some(item) = queue.next().await {
                if let BusItem::Notification(one) = item
                    && let Notification::Queue(waiting) = &one.notification
                    && !waiting.messages.is_empty()
                {
                    break;
                }
            }
            door.post(&format!("{path}/abort"), json!({})).await
        };
        tokio::join!(door.post(&message, prompt("msg_second")), abort).0
    };
    let (first, second) = tokio::join!(door.post(&message, prompt("msg_first")), second);
    assert_eq!(first["info"]["parentID"], "msg_first");
    let wanted = json!({
        "info": {
            "role": "assistant",
            "sessionID": path.strip_prefix("/session/").unwrap(),
            "parentID": "msg_second",
            "error": {
                "name": "MessageAbortedError",
                "data": { "message": "The prompt was not answered" },
            },
        },
        "parts": [],
    });
    assert_eq!(second, wanted);
}

#[tokio::test]
async fn a_turn_of_another_program_is_busy_and_cannot_be_stopped_here() {
    let door = Door::open().await;
    let gate = Gate::closed();
    let asked = door.model.reply([text("beginning"), hold(&gate)]);
    let path = door.new_session().await;
    let id = path.strip_prefix("/session/").unwrap();
    let other = door.app.second_process().await;
    let mut events = other.subscribe();
    let id = SessionId::parse(id).unwrap();
    let input = PromptInput {
        text: "go".into(),
        ..PromptInput::default()
    };
    other.prompt(&id, input).await.unwrap();
    asked.asked().await;
    let busy = json!({ id.as_str(): { "type": "busy" } });
    assert_eq!(door.get("/session/status").await, busy);
    let abort = format!("{path}/abort");
    let refused = door.refused(Method::POST, &abort, json!({})).await;
    let words = "Another program works on this session. Stop it there";
    assert_eq!(refused, (StatusCode::CONFLICT, words.to_owned()));
    gate.open();
    until_idle(&mut events, &id).await;
    assert_eq!(door.get("/session/status").await, json!({}));
    assert_eq!(door.post(&abort, json!({})).await, json!(true));
}

#[tokio::test]
async fn tools_that_a_client_forbids_are_not_offered() {
    let door = Door::open().await;
    let path = door.new_session().await;
    let message = format!("{path}/message");
    let prompt =
        |tools: Value| json!({ "tools": tools, "parts": [{ "type": "text", "text": "go" }] });
    let asked = door.model.reply([text("done")]);
    door.post(&message, prompt(json!({ "bash": false, "read": true })))
        .await;
    let offered = asked.request().tools;
    let has = |name: &str| offered.iter().any(|tool| tool == name);
    assert_eq!((has("read"), has("bash")), (true, false), "{offered:?}");
    let rules = door.get(&path).await["permission"].clone();
    let wanted = json!([{ "permission": "bash", "pattern": "*", "action": "deny" }]);
    assert_eq!(rules, wanted);

    // Which ones are left cannot be said.
    let some = prompt(json!({ "*": false, "read": true }));
    let (status, why) = door.refused(Method::POST, &message, some).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let words = "`tools` can only take tools away: name each one that is not to be used";
    assert_eq!(why, words);
    let asked = door.model.reply([text("done")]);
    door.post(&message, prompt(json!({ "*": false }))).await;
    assert_eq!(asked.request().tools, Vec::<String>::new());
}

#[tokio::test]
async fn every_text_of_a_prompt_is_kept_with_its_id() {
    let door = Door::open().await;
    let asked = door.model.reply([text("yes")]);
    let path = door.new_session().await;
    let texts = json!([
        { "id": "prt_a", "type": "text", "text": "One" },
        { "id": "prt_b", "type": "text", "text": "The editor shows a.txt", "synthetic": true },
        { "id": "prt_c", "type": "text", "text": "Two" },
    ]);
    let body = json!({ "messageID": "msg_chosen", "parts": texts });
    door.post(&format!("{path}/message"), body).await;
    let prompt = door.get(&format!("{path}/message/msg_chosen")).await;
    let kept = prompt["parts"].as_array().unwrap().iter();
    let kept: Vec<_> = kept
        .map(|part| (&part["id"], &part["text"], &part["synthetic"]))
        .collect();
    let wanted = [
        (&json!("prt_a"), &json!("One"), &Value::Null),
        (
            &json!("prt_b"),
            &json!("The editor shows a.txt"),
            &json!(true),
        ),
        (&json!("prt_c"), &json!("Two"), &Value::Null),
    ];
    assert_eq!(kept, wanted);
    let sent = asked.request().user_text();
    for words in ["One", "The editor shows a.txt", "Two"] {
        assert!(sent.contains(words), "{sent}");
    }
}

#[tokio::test]
async fn a_command_keeps_its_id_and_its_files() {
    let door = Door::open().await;
    door.app.write("notes.txt", "water the fern");
    let asked = door.model.reply([text("done")]);
    let path = door.new_session().await;
    let command = format!("{path}/command");
    let url = format!("file://{}", door.app.path("notes.txt").display());
    let body = json!({
        "command": "review", "arguments": "it", "messageID": "msg_chosen",
        "parts": [{ "id": "prt_chosen", "type": "file", "url": url }],
    });
    let answer = door.post(&command, body).await;
    assert_eq!(answer["info"]["parentID"], "msg_chosen");
    assert!(asked.request().body.to_string().contains("water the fern"));
    let prompt = door.get(&format!("{path}/message/msg_chosen")).await;
    let parts: Vec<_> = prompt["parts"].as_array().unwrap().iter().collect();
    let file = parts.iter().find(|part| part["type"] == "file").unwrap();
    assert_eq!(file["id"], "prt_chosen");

    let parts = json!([{ "type": "text", "text": "more" }]);
    let body = json!({ "command": "review", "parts": parts });
    let (status, _) = door.refused(Method::POST, &command, body).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_session_is_summed_up_with_the_model_that_the_client_names() {
    let door = Door::open().await;
    door.model.reply([text("one")]);
    door.model.reply([text("A summary")]);
    let path = door.new_session().await;
    let body = json!({ "parts": [{ "type": "text", "text": "go" }] });
    door.post(&format!("{path}/message"), body).await;
    let model = json!({ "providerID": "fake", "modelID": "other" });
    door.post(&format!("{path}/summarize"), model.clone()).await;
    let messages = door.get(&format!("{path}/message")).await;
    let mut prompts = messages.as_array().unwrap().iter();
    let newest = prompts.rfind(|one| one["info"]["role"] == "user").unwrap();
    assert_eq!(newest["info"]["model"], model);
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

#[tokio::test]
async fn a_rule_that_asks_takes_no_denial_of_the_person_away() {
    let door = Door::open().await;
    let rule = |action| Rule {
        permission: "bash".into(),
        pattern: "touch *".into(),
        action,
    };
    door.app.sessions.set_rules(vec![rule(Action::Deny)]);
    door.app.set_mode(PermissionMode::Full).await;
    let command = json!({ "command": "touch made", "description": "d" });
    door.model.reply([call("bash", command)]);
    let second = door.model.reply([text("It is denied")]);
    let rules = json!({ "permission": [rule(Action::Ask)] });
    let session = door.post("/session", rules).await;
    let path = format!("/session/{}/message", session["id"].as_str().unwrap());
    let body = json!({ "parts": [{ "type": "text", "text": "go" }] });
    door.post(&path, body).await;
    assert!(!door.app.path("made").exists());
    assert!(
        second
            .request()
            .body
            .to_string()
            .contains("denied by a rule")
    );
}
