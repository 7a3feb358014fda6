//! Commands that a person runs in a session themselves.

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Part, ToolPart, ToolState};
use lathe_provider::WireKind;
use lathe_session::Failed;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

use crate::revert::{revert, to};

const WIRE: WireKind = WireKind::Anthropic;

fn command(line: &str) -> PromptInput {
    PromptInput {
        text: line.to_owned(),
        ..PromptInput::default()
    }
}

async fn run(app: &TestApp, line: &str) -> ToolPart {
    let mut events = app.sessions.subscribe();
    let id = &app.session.id;
    app.sessions
        .run_own_command(id, command(line))
        .await
        .unwrap();
    until_idle(&mut events, id).await;
    let messages = app.messages().await;
    let parts = &messages.last().unwrap().parts;
    let mut calls = parts.iter().filter_map(|part| match part {
        Part::Tool(call) => Some(call.clone()),
        _ => None,
    });
    calls.next_back().unwrap()
}

#[tokio::test]
async fn a_command_of_the_person_runs_without_a_question_and_without_the_model() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    let call = run(&app, "echo tulips > bed.txt; cat bed.txt").await;
    let ToolState::Completed(done) = call.state() else {
        panic!("{:?}", call.state())
    };
    assert_eq!(done.output.trim(), "tulips");
    assert_eq!(model.requests().len(), 0, "no model was asked");
    assert!(app.sessions.permissions().is_empty());
}

#[tokio::test]
async fn the_agent_reads_the_command_and_its_output_with_the_next_prompt() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    run(&app, "echo eleven beds").await;
    let answered = model.reply([text("Eleven.")]);
    let mut events = app.sessions.subscribe();
    app.send("How many beds?").await;
    until_idle(&mut events, &app.session.id).await;
    let request = answered.request();
    assert!(request.tool_output("bash").contains("eleven beds"));
    assert!(request.user_text().contains("!echo eleven beds"));
}

#[tokio::test]
async fn what_a_command_of_the_person_changed_is_not_credited_to_the_agent() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    run(&app, "echo mine > mine.txt").await;
    let messages = app.messages().await;
    let patches = messages.iter().flat_map(|message| &message.parts);
    assert_eq!(
        patches
            .filter(|part| matches!(part, Part::Patch(_)))
            .count(),
        0
    );
}

#[tokio::test]
async fn a_command_of_the_person_is_no_obstacle_for_a_revert() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    let app = &agent.app;
    let call = run(app, "echo mine > mine.txt").await;
    assert_eq!(call.extra.0.get("credit"), Some(&json!({})));
    let outcome = revert(app, &to(&turn)).await;
    assert_eq!(
        (outcome.complete, outcome.hides_messages, &outcome.unknown),
        (true, 5, &Vec::new())
    );
    assert_eq!(agent.tree(), ["a.txt 1\n", "mine.txt mine\n"]);
}

#[tokio::test]
async fn what_an_earlier_version_recorded_of_such_a_command_is_no_obstacle_either() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    let call = run(&agent.app, "echo mine > mine.txt").await;
    let path = agent
        .app
        .data_dir()
        .join(format!("storage/part/{}/{}.json", call.message_id, call.id));
    let mut stored: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    stored["credit"] = json!({ "unknown": "snapshots are switched off" });
    std::fs::write(path, stored.to_string()).unwrap();
    let agent = agent.restart().await;
    let outcome = revert(&agent.app, &to(&turn)).await;
    assert!(outcome.complete, "{outcome:#?}");
    assert_eq!(agent.tree(), ["a.txt 1\n", "mine.txt mine\n"]);
}

#[tokio::test]
async fn an_at_sign_in_a_command_mentions_nothing() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    run(&app, "echo @README.md").await;
    let messages = app.messages().await;
    let files = messages[0].parts.iter();
    assert_eq!(
        files.filter(|part| matches!(part, Part::File(_))).count(),
        0
    );
}

#[tokio::test]
async fn a_command_is_refused_while_a_turn_runs_and_when_it_is_empty() {
    let model = FakeModel::start().await;
    let input = json!({ "command": "touch made", "description": "Touch" });
    model.reply([call("bash", input)]);
    let app = TestApp::with_model(&model, WIRE).await;
    let id = &app.session.id;
    let mut events = app.sessions.subscribe();
    app.send("first").await;
    app.next_permission(&mut events).await;
    let refused = app.sessions.run_own_command(id, command("ls")).await;
    assert!(matches!(refused, Err(Failed::Busy)), "{refused:?}");
    app.sessions.abort(id).await;
    let empty = app.sessions.run_own_command(id, command("  ")).await;
    assert!(empty.is_err());
}
