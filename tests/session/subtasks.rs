//! Subtasks run in child sessions, and their last text is the result of the call.

use std::time::Duration;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Action, Event, MessageId, Part, Rule, Session, SessionStatus, ToolPart, ToolState,
};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_session::bus::Notification;
use lathe_test_support::app::{TestApp, until, until_idle};
use lathe_test_support::fake_model::{FakeModel, Item, call, stall, text};
use serde_json::{Value, json};

const WIRE: WireKind = WireKind::OpenaiChat;

fn task(agent: &str, prompt: &str) -> Item {
    let input = json!({ "description": "Find it", "prompt": prompt, "subagent_type": agent });
    call("task", input)
}

fn touch() -> Item {
    call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )
}

async fn child(app: &TestApp) -> Session {
    let children = app.sessions.children(&app.session.id).await.unwrap();
    let [child] = children.as_slice() else {
        panic!("{children:?}")
    };
    child.clone()
}

async fn task_part(app: &TestApp) -> ToolPart {
    let messages = app.messages().await;
    let parts = messages.into_iter().flat_map(|message| message.parts);
    let mut tasks = parts.filter_map(|part| match part {
        Part::Tool(tool) if tool.tool == "task" => Some(tool),
        _ => None,
    });
    tasks.next_back().expect("a task call")
}

#[tokio::test]
async fn a_subtask_runs_in_a_child_session_and_its_last_text_is_the_result() {
    let model = FakeModel::start().await;
    model.reply([task("explore", "find the word")]);
    let inner = model.reply([
        text("Looking."),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    model.reply([text("The word is one.")]);
    let last = model.reply([text("It is one.")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n");
    app.ask("which word?").await;

    let child = child(&app).await;
    assert_eq!(child.parent_id.as_ref(), Some(&app.session.id));
    assert_eq!(child.title, "Find it (@explore subagent)");
    let asked = inner.request();
    assert_eq!(asked.prompt(), "find the word");
    assert!(
        !asked.user_text().contains("which word?"),
        "it sees nothing of the parent"
    );
    assert!(!asked.tools.iter().any(|tool| tool == "task"), "depth 1");
    assert!(asked.tools.iter().any(|tool| tool == "read"));
    assert!(
        !asked.tools.iter().any(|tool| tool == "edit"),
        "explore only looks"
    );
    let expected = format!("The word is one.\n\n(session_id: {})", child.id);
    assert_eq!(last.request().tool_output("task"), expected);

    let part = task_part(&app).await;
    let ToolState::Completed(done) = part.state() else {
        panic!("{part:?}")
    };
    assert_eq!(done.metadata["sessionId"], json!(child.id));
    let summary: Vec<_> = done.metadata["summary"]
        .as_array()
        .unwrap()
        .iter()
        .map(shown)
        .collect();
    assert_eq!(summary, [("read".to_owned(), "completed".to_owned())]);
    assert_eq!(app.sessions.status(&child.id), SessionStatus::Idle);
}

fn shown(call: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&call["tool"]), text(&call["state"]["status"]))
}

#[tokio::test]
async fn an_unknown_agent_is_an_error_that_names_the_known_ones() {
    let model = FakeModel::start().await;
    model.reply([task("wizard", "conjure")]);
    model.reply([task("build", "not for tasks")]);
    let last = model.reply([text("sorry")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;
    let error = last.request().tool_error("task").to_owned();
    assert_eq!(
        error,
        "There is no agent named \"build\" that takes tasks. There are: general, explore."
    );
    assert_eq!(app.sessions.children(&app.session.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_subtask_can_be_continued_by_its_session_id() {
    let model = FakeModel::start().await;
    model.reply([task("general", "begin")]);
    model.reply([text("begun")]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;
    let id = child(&app).await.id;

    let again = |id: &str| {
        call(
            "task",
            json!({ "description": "More", "prompt": "go on", "subagent_type": "general", "session_id": id }),
        )
    };
    model.reply([again(id.as_str())]);
    let inner = model.reply([text("finished")]);
    model.reply([again(app.session.id.as_str())]);
    let last = model.reply([text("ok")]);
    app.ask("go on").await;
    assert!(
        inner.request().user_text().contains("begin"),
        "it remembers"
    );
    assert_eq!(child(&app).await.id, id, "no second session");
    let results: Vec<_> = last
        .request()
        .calls
        .iter()
        .map(|call| call.result.clone().unwrap())
        .collect();
    assert!(results[1].text.starts_with("finished"));
    assert!(
        results[2].is_error,
        "a session that is no task of this one is refused"
    );
}

#[tokio::test]
async fn the_progress_of_a_subtask_is_shown_in_the_parents_call() {
    let model = FakeModel::start().await;
    model.reply([task("general", "touch it")]);
    model.reply([touch()]);
    model.reply([text("touched")]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    // While the child waits for a permission, its call is running, which the parent shows.
    let running = |event: &Event| match event {
        Event::MessagePartUpdated(updated) => match &updated.part {
            Part::Tool(tool) if tool.tool == "task" => match tool.state() {
                ToolState::Running(running) => running
                    .metadata
                    .as_ref()
                    .is_some_and(|metadata| metadata["summary"][0]["tool"] == "bash"),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    };
    until(&mut events, running).await;
    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(app.path("made").exists());
}

#[tokio::test]
async fn a_permission_request_of_a_subtask_is_shown_in_its_parent() {
    let model = FakeModel::start().await;
    model.reply([task("general", "touch it")]);
    model.reply([touch()]);
    model.reply([text("touched")]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    let child = child(&app).await;
    assert_eq!(request.session_id, child.id);
    let asked = std::slice::from_ref(&request);
    assert_eq!(app.sessions.permissions_in(&app.session.id), asked);
    assert_eq!(app.sessions.permissions_in(&child.id), asked);
    let other = app.sessions.create(&app.project, None).await.unwrap();
    assert_eq!(app.sessions.permissions_in(&other.id), []);
    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.calls().await, ["task: completed"]);
}

#[tokio::test]
async fn a_plain_no_to_a_subtask_stops_the_parent() {
    let model = FakeModel::start().await;
    model.reply([task("general", "touch it")]);
    model.reply([touch()]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    let no = Answer::Reject { message: None };
    app.sessions
        .answer_permission(&request.id, no)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.calls().await, ["task: error"]);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn an_abort_of_the_parent_ends_the_subtask() {
    let model = FakeModel::start().await;
    model.reply([task("general", "wait")]);
    let inner = model.reply([text("…"), stall()]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.send("go").await;
    inner.asked().await;
    let child = child(&app).await;
    assert_eq!(app.sessions.status(&child.id), SessionStatus::Busy);
    let abort = app.sessions.abort(&app.session.id);
    tokio::time::timeout(Duration::from_secs(20), abort)
        .await
        .expect("it ends");
    assert_eq!(app.sessions.status(&child.id), SessionStatus::Idle);
    assert_settled(&app, &child).await;
}

#[tokio::test]
async fn an_abort_of_the_subtask_ends_the_parents_turn() {
    let model = FakeModel::start().await;
    model.reply([task("general", "wait")]);
    let inner = model.reply([text("…"), stall()]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    inner.asked().await;
    let child = child(&app).await;
    app.sessions.abort(&child.id).await;
    until_idle(&mut events, &app.session.id).await;
    assert_settled(&app, &child).await;
    assert_eq!(model.requests().len(), 2);
}

async fn assert_settled(app: &TestApp, child: &Session) {
    let part = task_part(app).await;
    let ToolState::Error(failed) = part.state() else {
        panic!("{part:?}")
    };
    assert_eq!(failed.error, "Tool execution aborted");
    let page = app
        .sessions
        .messages(&child.id, None, usize::MAX)
        .await
        .unwrap();
    for message in page.messages {
        if let Some(info) = message.info.as_assistant() {
            assert!(info.time.completed.is_some());
        }
    }
}

#[tokio::test]
async fn a_failed_subtask_is_an_error_that_the_parent_reads() {
    let model = FakeModel::start().await;
    model.reply([task("general", "go")]);
    model.refuse(400, &[], "this model is out of order");
    let last = model.reply([text("pity")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;
    assert!(
        last.request()
            .tool_error("task")
            .contains("this model is out of order")
    );
}

#[tokio::test]
async fn subtasks_of_one_step_run_in_parallel() {
    let model = FakeModel::start().await;
    model.reply([task("general", "left"), task("general", "right")]);
    let replies = [model.reply([text("one")]), model.reply([text("two")])];
    model.reply([text("both")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;
    let mut prompts = replies.map(|reply| reply.request().prompt().to_owned());
    prompts.sort();
    assert_eq!(prompts, ["left", "right"]);
    assert_eq!(app.calls().await, ["task: completed", "task: completed"]);
}

#[tokio::test]
async fn a_denied_agent_gets_no_subtask() {
    let model = FakeModel::start().await;
    model.reply([task("general", "go")]);
    let last = model.reply([text("understood")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .rule("task", "general", Action::Deny);
    app.ask("go").await;
    assert!(last.request().tool_error("task").contains("denied"));
    assert_eq!(app.sessions.children(&app.session.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_subtask_may_not_do_what_its_parent_may_not() {
    let model = FakeModel::start().await;
    model.reply([task("general", "touch it")]);
    model.reply([touch()]);
    let inner = model.reply([text("I may not")]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let deny = Rule {
        permission: "bash".into(),
        pattern: "touch *".into(),
        action: Action::Deny,
    };
    let narrow = move |session: &mut Session| session.permission = Some(vec![deny]);
    app.sessions.update(&app.session.id, narrow).await.unwrap();
    app.ask("go").await;
    assert!(inner.request().tool_error("bash").contains("denied"));
    assert!(!app.path("made").exists());
}

async fn look(app: &TestApp) -> MessageId {
    let input = PromptInput::default();
    let sent = app
        .sessions
        .run_command(&app.session.id, "look", "", input)
        .await;
    sent.unwrap()
}

/// A command whose prompt is a subtask.
fn command(model: &str) -> Value {
    let look = json!({ "template": "look around", "description": "Look around",
        "agent": "explore", "subtask": true, "model": model });
    json!({ "command": { "look": look } })
}

#[tokio::test]
async fn subtasks_of_a_prompt_run_before_the_model_is_asked() {
    let model = FakeModel::start().await;
    let inner = model.reply([text("found")]);
    let last = model.reply([text("summed up")]);
    let app = TestApp::with_config(&model, WIRE, command("fake/m")).await;
    let mut events = app.sessions.subscribe();
    let asked = look(&app).await;
    until_idle(&mut events, &app.session.id).await;

    assert_eq!(inner.request().prompt(), "look around");
    let seen = last.request();
    assert!(
        seen.user_text()
            .contains("The following tool was executed by the user")
    );
    assert!(seen.tool_output("task").starts_with("found"));
    assert_eq!(
        app.outline().await,
        [
            "user: subtask",
            "assistant: step-start tool step-finish",
            "assistant: step-start text step-finish",
        ]
    );
    let messages = app.messages().await;
    for message in &messages[1..] {
        assert_eq!(message.info.as_assistant().unwrap().parent_id, asked);
    }
    let part = task_part(&app).await;
    assert_eq!(
        part.call_id,
        messages[0].parts[0].id().as_str(),
        "so that it never runs twice"
    );
}

/// A message with one open call, as a killed process leaves it.
fn left_open(app: &TestApp, session: &Session, tool: &str, metadata: &Value) {
    let write = |path: String, value: Value| {
        let path = app.data_dir().join("storage").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    };
    let (id, tag) = (&session.id, &session.id.as_str()[4..16]);
    let (message, part) = (
        format!("msg_{tag}AAAAAAAAAAAAAA"),
        format!("prt_{tag}AAAAAAAAAAAAAA"),
    );
    write(
        format!("message/{id}/{message}.json"),
        json!({ "id": message, "sessionID": id, "role": "assistant", "time": { "created": 2 },
            "parentID": "msg_b996eae6c001AAAAAAAAAAAAAA", "modelID": "m", "providerID": "p" }),
    );
    let state =
        json!({ "status": "running", "input": {}, "metadata": metadata, "time": { "start": 3 } });
    write(
        format!("part/{message}/{part}.json"),
        json!({ "id": part, "sessionID": id, "messageID": message, "type": "tool", "callID": "c",
            "tool": tool, "state": state }),
    );
}

#[tokio::test]
async fn a_crash_during_a_subtask_settles_parent_and_child() {
    let app = TestApp::start().await;
    let made = app
        .sessions
        .create(&app.project, Some(&app.session.id))
        .await
        .unwrap();
    left_open(
        &app,
        &app.session,
        "task",
        &json!({ "sessionId": made.id, "summary": [] }),
    );
    left_open(&app, &made, "bash", &json!({}));
    app.sessions.recover(&app.session.id).await;
    assert_settled(&app, &made).await;
}

#[tokio::test]
async fn events_of_a_child_session_are_published() {
    let model = FakeModel::start().await;
    model.reply([task("general", "go")]);
    model.reply([text("done")]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let published = until(
        &mut events,
        |event| matches!(event, Event::SessionIdle { session_id } if *session_id == app.session.id),
    )
    .await;
    let child = child(&app).await.id;
    let about = published.iter().filter_map(|one| match one {
        Notification::Event(event) if event.session_id() == Some(&child) => match &**event {
            Event::SessionCreated { .. } => Some("created"),
            Event::SessionStatus {
                status: SessionStatus::Busy,
                ..
            } => Some("busy"),
            Event::SessionIdle { .. } => Some("idle"),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(about.collect::<Vec<_>>(), ["created", "busy", "idle"]);
}

#[tokio::test]
async fn a_subtask_may_name_its_own_model() {
    let model = FakeModel::start().await;
    let inner = model.reply([text("found")]);
    model.reply([text("ok")]);
    let app = TestApp::with_config(&model, WIRE, command("fake/m2")).await;
    let mut events = app.sessions.subscribe();
    look(&app).await;
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(inner.request().body["model"], json!("m2"));
}
