//! Permission requests, and what an answer applies to.

use futures::future::join_all;
use lathe_protocol::PermissionId;
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_session::bus::Subscription;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, Item, call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

#[tokio::test]
async fn the_explore_agent_asks_before_unclear_commands_and_secrets() {
    for (tool, input) in [
        (
            "bash",
            json!({ "command": "echo hi > made", "description": "Write" }),
        ),
        ("read", json!({ "filePath": ".env" })),
    ] {
        let model = FakeModel::start().await;
        let task = json!({
            "description": "Look", "prompt": "look around", "subagent_type": "explore"
        });
        model.reply([call("task", task)]);
        model.reply([call(tool, input)]);
        let app = TestApp::with_model(&model, WIRE)
            .await
            .file(".env", "KEY=1\n");
        let mut events = app.sessions.subscribe();
        app.send("go").await;
        assert_eq!(app.next_permission(&mut events).await.permission, tool);
        app.sessions.abort(&app.session.id).await;
        assert!(!app.path("made").exists());
    }
}

#[tokio::test]
async fn grep_does_not_read_what_read_would_ask_about() {
    let model = FakeModel::start().await;
    model.reply([call("grep", json!({ "pattern": "token" }))]);
    let after = model.reply([text("nothing there")]);
    model.reply([call("grep", json!({ "pattern": "token", "path": ".env" }))]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file(".env", "token = 1\n")
        .file(".env.example", "token = ?\n");
    app.ask("which tokens?").await;
    let found = after.request().tool_output("grep").to_owned();
    assert!(found.contains("token = ?"), "{found}");
    assert!(!found.contains("token = 1"), "{found}");
    assert!(found.contains("1 file was left out"), "{found}");

    let mut events = app.sessions.subscribe();
    app.send("and in .env?").await;
    let request = app.next_permission(&mut events).await;
    assert_eq!(
        (request.permission.as_str(), request.patterns),
        ("read", vec![".env".to_owned()])
    );
    app.sessions.abort(&app.session.id).await;
}

fn fetch(host: &str) -> Item {
    call("webfetch", json!({ "url": format!("http://{host}/") }))
}

/// The next requests, in any order.
async fn all_asked(app: &TestApp, events: &mut Subscription, count: usize) -> Vec<PermissionId> {
    let mut requests = Vec::new();
    for _ in 0..count {
        requests.push(app.next_permission(events).await.id);
    }
    requests
}

#[tokio::test]
async fn a_no_with_a_message_answers_all_open_requests() {
    let model = FakeModel::start().await;
    model.reply([fetch("one.invalid"), fetch("two.invalid")]);
    let second = model.reply([text("then I will read the docs")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let requests = all_asked(&app, &mut events, 2).await;
    let message = Some("read docs/ instead".to_owned());
    app.sessions
        .answer_permission(&requests[0], Answer::Reject { message })
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.calls().await, ["webfetch: error", "webfetch: error"]);
    assert!(second.was_asked(), "the turn goes on");
    let said = second.request().body.to_string();
    assert_eq!(said.matches("read docs/ instead").count(), 2);
}

#[tokio::test]
async fn answers_given_at_the_same_time_are_all_remembered() {
    let hosts = ["a", "b", "c", "d", "e", "f"].map(|name| format!("{name}.invalid"));
    let model = FakeModel::start().await;
    model.reply(hosts.iter().map(|host| fetch(host)));
    model.reply([text("none of them answers")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let requests = all_asked(&app, &mut events, hosts.len()).await;
    let always = |id| app.sessions.answer_permission(id, Answer::Always);
    for answered in join_all(requests.iter().map(always)).await {
        answered.unwrap();
    }
    until_idle(&mut events, &app.session.id).await;
    let approved = app.sessions.approved(&app.project.id).await.unwrap();
    assert_eq!(approved.len(), hosts.len(), "{approved:?}");

    // Half of them by another process.
    let (twin, id) = (app.second_process().await, &app.project.id);
    let (here, there) = approved.split_at(hosts.len() / 2);
    let here = join_all(here.iter().map(|rule| app.sessions.revoke(id, rule)));
    let there = join_all(there.iter().map(|rule| twin.revoke(id, rule)));
    let (here, there) = tokio::join!(here, there);
    for revoked in here.into_iter().chain(there) {
        revoked.unwrap();
    }
    assert_eq!(app.sessions.approved(&app.project.id).await.unwrap(), []);
}
