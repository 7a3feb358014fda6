//! Tool calls: run, denied, allowed, aborted, and always ended.

use std::time::Duration;

use lathe_protocol::{Action, Event, Part, ToolState};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_test_support::app::{TestApp, until, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, raw_call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

#[tokio::test]
async fn a_tool_runs_and_the_model_reads_its_result() {
    let model = FakeModel::start().await;
    model.reply([
        text("Let me look."),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    let second = model.reply([text("It says one.")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n");

    app.ask("what does it say?").await;

    assert!(second.request().tool_output("read").contains("one"));
    assert_eq!(
        app.outline().await,
        [
            "user: text",
            "assistant: step-start text tool step-finish",
            "assistant: step-start text step-finish",
        ]
    );
    let messages = app.messages().await;
    let parents: Vec<_> = messages[1..]
        .iter()
        .map(|message| message.info.as_assistant().unwrap().parent_id.clone())
        .collect();
    assert_eq!(
        parents,
        [messages[0].info.id().clone(), messages[0].info.id().clone()]
    );
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_that_names_the_known_ones() {
    let model = FakeModel::start().await;
    model.reply([call("teleport", json!({ "to": "moon" }))]);
    let second = model.reply([text("sorry")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;
    assert_eq!(app.calls().await, ["invalid: error"]);
    let error = second.request().tool_error("invalid").to_owned();
    assert!(
        error.contains("teleport") && error.contains("read"),
        "{error}"
    );
}

#[tokio::test]
async fn a_tool_name_is_matched_without_case() {
    let model = FakeModel::start().await;
    model.reply([call("Read", json!({ "filePath": "a.txt" }))]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n");
    app.ask("go").await;
    assert_eq!(app.calls().await, ["read: completed"]);
}

#[tokio::test]
async fn arguments_that_are_not_json_are_quoted_in_the_error_and_stored() {
    let model = FakeModel::start().await;
    model.reply([raw_call("read", "{\"filePath\": oops")]);
    let second = model.reply([text("sorry")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;
    assert!(second.request().tool_error("read").contains("oops"));
    let messages = app.messages().await;
    let Some(Part::Tool(tool)) = messages[1]
        .parts
        .iter()
        .find(|part| matches!(part, Part::Tool(_)))
    else {
        panic!("no tool part")
    };
    let ToolState::Error(failed) = tool.state() else {
        panic!("not an error")
    };
    assert_eq!(failed.extra.0["raw"], json!("{\"filePath\": oops"));
}

#[tokio::test]
async fn arguments_that_violate_the_schema_are_an_error_for_the_model() {
    let model = FakeModel::start().await;
    model.reply([call("read", json!({ "path": "a.txt" }))]);
    let second = model.reply([text("sorry")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;
    assert!(second.request().tool_error("read").contains("filePath"));
}

#[tokio::test]
async fn a_denied_tool_does_not_run_and_the_model_is_told() {
    let model = FakeModel::start().await;
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )]);
    let second = model.reply([text("understood")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .rule("bash", "touch *", Action::Deny);
    app.ask("go").await;
    assert!(!app.path("made").exists());
    assert!(second.request().tool_error("bash").contains("denied"));
}

#[tokio::test]
async fn a_tool_that_asks_runs_once_it_is_allowed() {
    let model = FakeModel::start().await;
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )]);
    model.reply([text("done")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    assert_eq!(
        (request.permission.as_str(), request.patterns.len()),
        ("bash", 1)
    );
    assert!(
        !app.path("made").exists(),
        "nothing happens before the answer"
    );
    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(app.path("made").exists());
    assert_eq!(app.calls().await, ["bash: completed"]);
}

#[tokio::test]
async fn a_plain_no_stops_the_turn() {
    let model = FakeModel::start().await;
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    app.sessions
        .answer_permission(&request.id, Answer::Reject { message: None })
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(!app.path("made").exists());
    assert_eq!(app.calls().await, ["bash: error"]);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_no_with_a_message_is_sent_to_the_model_and_the_turn_continues() {
    let model = FakeModel::start().await;
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )]);
    let second = model.reply([text("then I will not")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    let message = Some("use the other folder".to_owned());
    app.sessions
        .answer_permission(&request.id, Answer::Reject { message })
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(
        second
            .request()
            .tool_error("bash")
            .contains("use the other folder")
    );
}

#[tokio::test]
async fn always_is_remembered_and_can_be_revoked() {
    let model = FakeModel::start().await;
    let again = || {
        call(
            "bash",
            json!({ "command": "touch made", "description": "Touch" }),
        )
    };
    for _ in 0..2 {
        model.reply([again()]);
        model.reply([text("done")]);
    }
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    app.sessions
        .answer_permission(&request.id, Answer::Always)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;

    let approved = app.sessions.approved(&app.project).await.unwrap();
    assert_eq!(approved.len(), 1);
    assert_eq!(approved[0].pattern, request.always[0]);
    app.ask("again").await;
    assert_eq!(app.calls().await, ["bash: completed", "bash: completed"]);
    app.sessions
        .revoke(&app.project, &approved[0])
        .await
        .unwrap();
    assert_eq!(app.sessions.approved(&app.project).await.unwrap(), []);
}

#[tokio::test]
async fn the_same_call_three_times_in_a_row_asks_even_across_steps() {
    let model = FakeModel::start().await;
    for _ in 0..3 {
        model.reply([call("read", json!({ "filePath": "a.txt" }))]);
    }
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n");
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    assert_eq!(
        (request.permission.as_str(), request.patterns),
        ("doom_loop", vec!["read".to_owned()])
    );
    app.sessions
        .answer_permission(&request.id, Answer::Reject { message: None })
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(
        app.calls().await,
        ["read: completed", "read: completed", "read: error"]
    );
}

#[tokio::test]
async fn an_abort_ends_a_running_tool_and_settles_its_call() {
    let model = FakeModel::start().await;
    model.reply([call(
        "bash",
        json!({ "command": "sleep 600", "description": "Wait" }),
    )]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .rule("bash", "*", Action::Allow);
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    until(&mut events, |event| match event {
        Event::MessagePartUpdated(updated) => match &updated.part {
            Part::Tool(tool) => matches!(tool.state(), ToolState::Running(_)),
            _ => false,
        },
        _ => false,
    })
    .await;
    let aborted =
        tokio::time::timeout(Duration::from_secs(20), app.sessions.abort(&app.session.id));
    aborted
        .await
        .expect("an abort does not wait for the command");
    let messages = app.messages().await;
    let Some(Part::Tool(tool)) = messages[1]
        .parts
        .iter()
        .find(|part| matches!(part, Part::Tool(_)))
    else {
        panic!("no tool part")
    };
    let ToolState::Error(failed) = tool.state() else {
        panic!("still {}", tool.state().name())
    };
    assert_eq!(failed.error, "Tool execution aborted");
}

#[tokio::test]
async fn a_prompt_sent_while_busy_joins_at_the_next_step() {
    let model = FakeModel::start().await;
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )]);
    let second = model.reply([text("done both")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("first").await;
    let request = app.next_permission(&mut events).await;
    let steer = app.send("and also this").await;
    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(second.request().user_text().contains("and also this"));
    let messages = app.messages().await;
    assert_eq!(
        messages
            .last()
            .unwrap()
            .info
            .as_assistant()
            .unwrap()
            .parent_id,
        steer
    );
}

#[tokio::test]
async fn a_step_that_changed_files_names_them_and_the_tree_before() {
    let model = FakeModel::start().await;
    let write = json!({ "filePath": "made.txt", "content": "new\n" });
    model.reply([call("write", write)]);
    model.reply([text("made")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .rule("edit", "*", Action::Allow);
    app.ask("make it").await;

    assert_eq!(app.read("made.txt"), "new\n");
    let messages = app.messages().await;
    let hashes: Vec<_> = messages[1]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::StepStart(part) => part.snapshot.clone(),
            Part::StepFinish(part) => part.snapshot.clone(),
            _ => None,
        })
        .collect();
    let [before, after] = hashes.as_slice() else {
        panic!("{hashes:?}")
    };
    assert_ne!(before, after);
    let Some(Part::Patch(patch)) = messages[1].parts.last() else {
        panic!("no patch")
    };
    assert_eq!(&patch.hash, before);
    let made = app
        .path("made.txt")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    assert_eq!(patch.files, [made]);
    let kinds = app.outline().await;
    assert_eq!(kinds[1], "assistant: step-start tool step-finish patch");
    assert_eq!(kinds[2], "assistant: step-start text step-finish");
}
