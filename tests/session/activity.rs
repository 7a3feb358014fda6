//! What all sessions are doing, for a window that starts to listen.

use std::collections::HashMap;

use lathe_protocol::SessionStatus;
use lathe_protocol::ipc::Activity;
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;

#[tokio::test]
async fn names_busy_sessions_waiting_requests_and_the_sessions_above_them() {
    let model = FakeModel::start().await;
    let task = json!({ "description": "Touch it", "prompt": "touch", "subagent_type": "general" });
    model.reply([call("task", task)]);
    let command = json!({ "command": "touch made", "description": "Touch" });
    model.reply([call("bash", command)]);
    model.reply([text("touched")]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    assert_eq!(app.sessions.activity().await, Activity::default());

    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    let activity = app.sessions.activity().await;
    let busy = [&app.session.id, &request.session_id];
    let statuses: HashMap<_, _> = busy
        .into_iter()
        .map(|id| (id.clone(), SessionStatus::Busy))
        .collect();
    assert_eq!(activity.statuses, statuses);
    assert_eq!(activity.permissions, std::slice::from_ref(&request));
    assert_eq!(activity.questions, []);
    assert_eq!(activity.sessions.len(), 2);
    let task = activity
        .sessions
        .iter()
        .find(|one| one.id == request.session_id)
        .expect("the task's session");
    assert_eq!(task.parent_id.as_ref(), Some(&app.session.id));
    assert!(activity.sessions.iter().any(|one| one.id == app.session.id));

    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.sessions.activity().await, Activity::default());
}
