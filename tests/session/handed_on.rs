//! PROMISES 22: work that is handed on, three deep, gets nothing unasked that the first session
//! would have been asked about.

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Action, PermissionMode, Rule, Session, SessionId};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_test_support::app::{TestApp, until};
use lathe_test_support::fake_model::{FakeModel, Item, call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

/// A task of a task: no agent hands work on twice, but a store may hold it. Each of the two may do
/// everything by its own rules.
async fn three_deep(app: &TestApp) -> SessionId {
    deep(app, 2).await
}

/// The last of so many sessions, each of which is a task of the one before.
async fn deep(app: &TestApp, tasks: usize) -> SessionId {
    let everything = Rule {
        permission: "*".to_owned(),
        pattern: "*".to_owned(),
        action: Action::Allow,
    };
    let mut parent = app.session.clone();
    for number in 0..tasks {
        let id = format!("ses_46275e2c6ffe{number:014}");
        let session = Session {
            id: SessionId::parse(&id).unwrap(),
            parent_id: Some(parent.id.clone()),
            permission: Some(vec![everything.clone()]),
            ..parent
        };
        let folder = app.data_dir().join("storage/session");
        let file = folder
            .join(app.project.id.as_str())
            .join(format!("{id}.json"));
        std::fs::write(file, serde_json::to_string(&session).unwrap()).unwrap();
        parent = session;
    }
    parent.id
}

fn bash(command: &str) -> Item {
    call("bash", json!({ "command": command, "description": "Work" }))
}

/// What the agent `general` in that session is asked about in one turn; the answer is no each time.
async fn asked(app: &TestApp, id: &SessionId) -> Vec<String> {
    use lathe_protocol::Event;
    use lathe_session::bus::Notification;

    let mut events = app.sessions.subscribe();
    let input = PromptInput {
        text: "go on".to_owned(),
        agent: Some("general".to_owned()),
        ..PromptInput::default()
    };
    app.sessions.prompt(id, input).await.unwrap();
    let mut asked = Vec::new();
    loop {
        let ends =
            |event: &Event| matches!(event, Event::SessionIdle { session_id } if session_id == id);
        let wanted = |event: &Event| matches!(event, Event::PermissionAsked(_)) || ends(event);
        let Some(Notification::Event(event)) = until(&mut events, wanted).await.pop() else {
            continue;
        };
        let Event::PermissionAsked(request) = &*event else {
            return asked;
        };
        let message = Some("no".to_owned());
        let no = Answer::Reject { message };
        app.sessions
            .answer_permission(&request.id, no)
            .await
            .unwrap();
        asked.push(format!(
            "{} {}",
            request.permission,
            request.patterns.join(" ")
        ));
    }
}

#[tokio::test]
async fn a_task_of_a_task_is_asked_for_what_the_first_session_would_be_asked_for() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE)
        .await
        .file("a.txt", "1\n")
        .file(".env", "KEY=1\n");
    model.reply([text("ready")]);
    app.ask_as("build", "begin").await;
    let deepest = three_deep(&app).await;
    let sandbox = app.sessions.mode(&app.project).await.sandbox;
    let calls = || {
        [
            call("read", json!({ "filePath": "a.txt" })),
            call("read", json!({ "filePath": ".env" })),
            call("write", json!({ "filePath": "made", "content": "x" })),
            bash("cat a.txt"),
            bash("touch made"),
            bash("git push"),
            call("webfetch", json!({ "url": "http://host.invalid/" })),
        ]
    };
    let always = ["read .env", "webfetch host.invalid"];
    let in_ask = ["edit made", "bash touch made", "bash git push"];
    let mut modes = vec![(PermissionMode::Ask, [&always[..], &in_ask].concat())];
    if sandbox.engine.is_some() {
        modes.push((PermissionMode::Auto, always.to_vec()));
    }
    modes.push((PermissionMode::Full, Vec::new()));
    for (mode, expected) in modes {
        app.set_mode(mode).await;
        model.reply(calls());
        model.reply([text("done")]);
        let mut asked = asked(&app, &deepest).await;
        asked.sort();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(asked, expected, "{mode:?}");
        let made = app.path("made").exists();
        assert_eq!(made, mode != PermissionMode::Ask, "{mode:?}");
    }
}

#[tokio::test]
async fn what_the_first_session_may_not_do_is_denied_to_a_task_of_a_task_in_every_mode() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE).await;
    model.reply([text("ready")]);
    app.ask_as("plan", "begin").await;
    let deepest = three_deep(&app).await;
    let sandbox = app.sessions.mode(&app.project).await.sandbox;
    let mut modes = vec![PermissionMode::Ask, PermissionMode::Full];
    modes.extend(sandbox.engine.map(|_| PermissionMode::Auto));
    for mode in modes {
        app.set_mode(mode).await;
        model.reply([
            call("write", json!({ "filePath": "made", "content": "x" })),
            bash("touch made"),
        ]);
        model.reply([text("I may not")]);
        assert_eq!(
            asked(&app, &deepest).await,
            Vec::<String>::new(),
            "{mode:?}"
        );
        assert!(!app.path("made").exists(), "{mode:?}");
    }
}

#[tokio::test]
async fn a_chain_of_tasks_that_is_too_long_to_look_through_does_nothing() {
    use lathe_protocol::Event;

    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE).await;
    model.reply([text("ready")]);
    app.ask_as("plan", "begin").await;
    app.set_mode(PermissionMode::Full).await;
    let id = deep(&app, 20).await;
    model.reply([bash("touch made")]);
    model.reply([text("done")]);
    let mut events = app.sessions.subscribe();
    let input = PromptInput {
        text: "go on".to_owned(),
        agent: Some("general".to_owned()),
        ..PromptInput::default()
    };
    if app.sessions.prompt(&id, input).await.is_ok() {
        let ends =
            |event: &Event| matches!(event, Event::SessionIdle { session_id } if *session_id == id);
        until(&mut events, ends).await;
    }
    assert!(!app.path("made").exists());
}
