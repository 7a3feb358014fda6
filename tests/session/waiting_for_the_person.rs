//! The time in which a call waits for the person is stored with it.

use std::time::Duration;

use lathe_protocol::{Part, ToolPart, ToolState};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_session::clock::Clock;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::{Value, json};

async fn tool_call(app: &TestApp) -> ToolPart {
    let messages = app.messages().await;
    let mut calls = messages.into_iter().flat_map(|message| message.parts);
    let found = calls.find_map(|part| match part {
        Part::Tool(call) => Some(call),
        _ => None,
    });
    found.unwrap()
}

#[tokio::test]
async fn a_call_has_the_time_in_which_it_waited_for_a_permission() {
    let model = FakeModel::start().await;
    let input = json!({ "command": "touch made", "description": "Touch" });
    model.reply([call("bash", input)]);
    model.reply([text("done")]);
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let mut events = app.sessions.subscribe();
    app.send("first").await;
    let request = app.next_permission(&mut events).await;
    let asked = app.clock.now().0;
    app.clock.advance(Duration::from_secs(5));
    let answer = app.sessions.answer_permission(&request.id, Answer::Once);
    answer.await.unwrap();
    until_idle(&mut events, &app.session.id).await;

    let call = tool_call(&app).await;
    let ToolState::Completed(done) = call.state() else {
        panic!("the call did not complete")
    };
    let waits = done
        .metadata
        .get("waits")
        .and_then(Value::as_array)
        .unwrap();
    let [wait] = waits.as_slice() else {
        panic!("{waits:?}")
    };
    let at = |name: &str| wait[name].as_i64().unwrap();
    assert!(at("start") <= asked && at("end") >= asked + 5_000, "{wait}");
}

#[tokio::test]
async fn a_call_that_asked_nobody_has_none() {
    let model = FakeModel::start().await;
    model.reply([call("read", json!({ "filePath": "README.md" }))]);
    model.reply([text("done")]);
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let mut events = app.sessions.subscribe();
    app.send("first").await;
    until_idle(&mut events, &app.session.id).await;
    let call = tool_call(&app).await;
    let metadata = match call.state() {
        ToolState::Completed(done) => done.metadata.clone(),
        ToolState::Error(failed) => failed.metadata.clone().unwrap_or_default(),
        state => panic!("{state:?}"),
    };
    assert_eq!(metadata.get("waits"), None);
}
