//! A prompt comes after everything that happened before it was sent, however long its files take to
//! be read, and nobody waits for that.

use std::time::Duration;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Action, Event, Message, MessageId, Part, PermissionRequest};
use lathe_provider::WireKind;
use lathe_session::bus::Subscription;
use lathe_session::{Answer, Author, Result};
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, Gate, call, hold, text};
use serde_json::json;
use tokio::task::JoinHandle;

const WIRE: WireKind = WireKind::OpenaiChat;
/// Longer than anything here takes.
const HANGS: Duration = Duration::from_secs(60);
const PROMPT: &str = "Look at @notes.txt";

async fn start(model: &FakeModel) -> TestApp {
    let app = TestApp::with_model(model, WIRE).await;
    app.file("notes.txt", "buy milk\n")
        .rule("read", "*", Action::Ask)
}

/// A program sends a prompt, for whose file the person is asked.
async fn send_as_program(
    app: &TestApp,
    events: &mut Subscription,
) -> (JoinHandle<Result<MessageId>>, PermissionRequest) {
    let (sessions, id) = (app.sessions.clone(), app.session.id.clone());
    let input = PromptInput {
        text: PROMPT.to_owned(),
        ..PromptInput::default()
    };
    let sending = tokio::spawn(async move { sessions.prompt_by(Author::Client, &id, input).await });
    (sending, app.next_permission(events).await)
}

async fn allow(app: &TestApp, request: &PermissionRequest) {
    let answered = app.sessions.answer_permission(&request.id, Answer::Once);
    answered.await.unwrap();
}

/// What was written in the session, in its order.
async fn texts(app: &TestApp) -> Vec<String> {
    let messages = app.messages().await.into_iter();
    let text = |part: &Part| match part {
        Part::Text(part) if part.synthetic != Some(true) => Some(part.text.clone()),
        _ => None,
    };
    messages
        .filter_map(|one| one.parts.iter().find_map(text))
        .collect()
}

#[tokio::test]
async fn a_prompt_whose_file_is_read_while_a_step_begins_comes_after_that_step() {
    let (model, first, second) = (FakeModel::start().await, Gate::closed(), Gate::closed());
    let list = || call("glob", json!({ "pattern": "*" }));
    let one = model.reply([text("one"), hold(&first), list()]);
    let two = model.reply([text("two"), hold(&second), list()]);
    let three = model.reply([text("three")]);
    let app = start(&model).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    one.asked().await;
    let (sending, request) = send_as_program(&app, &mut events).await;
    first.open();
    two.asked().await;
    allow(&app, &request).await;
    let prompt = sending.await.unwrap().unwrap();
    second.open();
    until_idle(&mut events, &app.session.id).await;

    assert!(three.request().prompt().contains(PROMPT));
    let order = ["go", "one", "two", PROMPT, "three"];
    assert_eq!(texts(&app).await, order);
    let app = app.restart().await;
    assert_eq!(texts(&app).await, order);
    let undone = app.sessions.undo_last_turn(&app.session.id, true).await;
    let revert = undone.unwrap().session.revert;
    assert_eq!(revert.map(|revert| revert.message_id), Some(prompt));
}

#[tokio::test]
async fn a_prompt_whose_file_is_read_until_the_turn_has_ended_is_answered() {
    let (model, gate) = (FakeModel::start().await, Gate::closed());
    let one = model.reply([
        text("one"),
        hold(&gate),
        call("glob", json!({ "pattern": "*" })),
    ]);
    model.reply([text("two")]);
    let app = start(&model).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    one.asked().await;
    let (sending, request) = send_as_program(&app, &mut events).await;
    gate.open();
    until_idle(&mut events, &app.session.id).await;
    let three = model.reply([text("three")]);
    allow(&app, &request).await;
    sending.await.unwrap().unwrap();
    until_idle(&mut events, &app.session.id).await;

    assert!(three.request().prompt().contains(PROMPT));
    assert_eq!(texts(&app).await, ["go", "one", "two", PROMPT, "three"]);
    let messages = app.messages().await;
    let dates: Vec<_> = messages.iter().map(|one| one.info.created()).collect();
    assert!(dates.is_sorted(), "{dates:?}");
}

#[tokio::test]
async fn a_session_can_be_used_and_removed_while_the_prompt_of_a_program_waits_for_a_person() {
    let model = FakeModel::start().await;
    let app = start(&model).await;
    let mut events = app.sessions.subscribe();
    let (sending, _) = send_as_program(&app, &mut events).await;
    model.reply([text("one")]);
    let used = async {
        app.ask("go").await;
        app.sessions.remove(&app.session.id).await.unwrap();
    };
    let used = tokio::time::timeout(HANGS, used).await;
    used.expect("the session waits for the program");
    let ended = tokio::time::timeout(HANGS, sending).await;
    let sent = ended.expect("the program waits for ever").unwrap();
    assert!(sent.is_err(), "{sent:?}");
}

#[tokio::test]
async fn what_a_program_sends_twice_under_one_id_is_taken_once() {
    let model = FakeModel::start().await;
    let app = start(&model).await;
    let chosen = lathe_session::Chosen {
        message: Some(MessageId::parse("msg_chosen").unwrap()),
        ..Default::default()
    };
    let mut events = app.sessions.subscribe();
    let mut sending = Vec::new();
    for _ in 0..2 {
        let (sessions, id) = (app.sessions.clone(), app.session.id.clone());
        let chosen = chosen.clone();
        let input = PromptInput {
            text: PROMPT.to_owned(),
            ..PromptInput::default()
        };
        let sent = tokio::spawn(async move { sessions.prompt_as(&id, input, chosen).await });
        sending.push((sent, app.next_permission(&mut events).await));
    }
    let answer = model.reply([text("one")]);
    let mut taken = Vec::new();
    for (sent, request) in sending {
        allow(&app, &request).await;
        taken.push(sent.await.unwrap().is_ok());
    }
    assert_eq!(taken, [true, false]);
    until_idle(&mut events, &app.session.id).await;
    assert!(answer.was_asked());
    let is_prompt = |message: &Message| message.as_user().is_some();
    let messages = app.messages().await;
    let prompts = messages.iter().filter(|one| is_prompt(&one.info));
    assert_eq!(prompts.count(), 1);
}

#[tokio::test]
async fn prompts_of_a_person_keep_their_order_however_long_their_files_take() {
    let model = FakeModel::start().await;
    model.reply([text("one")]);
    model.reply([text("two")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write("large.txt", "word ".repeat(100_000));
    let send = |text: &str| {
        app.sessions.prompt(
            &app.session.id,
            PromptInput {
                text: text.to_owned(),
                ..PromptInput::default()
            },
        )
    };
    let mut events = app.sessions.subscribe();
    let (first, second) = tokio::join!(send("first @large.txt"), send("second"));
    let sent = [first.unwrap(), second.unwrap()];
    until_idle(&mut events, &app.session.id).await;
    let messages = app.messages().await;
    let users = messages.iter().filter(|one| one.info.as_user().is_some());
    let order: Vec<_> = users.map(|one| one.info.id().clone()).collect();
    assert_eq!(order, sent);
}

#[tokio::test]
async fn the_command_of_a_template_is_shown_as_work_and_can_be_stopped() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE)
        .await
        .rule("bash", "*", Action::Allow);
    app.write_config("lathe/command/slow.md", "It says !`sleep 600`\n");
    let mut events = app.sessions.subscribe();
    let (sessions, id) = (app.sessions.clone(), app.session.id.clone());
    let input = PromptInput::default();
    let running = tokio::spawn(async move { sessions.run_command(&id, "slow", "", input).await });
    let is_busy = |event: &Event| {
        matches!(event, Event::SessionStatus { status, .. }
            if *status == lathe_protocol::SessionStatus::Busy)
    };
    lathe_test_support::app::until(&mut events, is_busy).await;
    assert_eq!(app.sessions.statuses().len(), 1);

    app.sessions.abort(&app.session.id).await;
    let ended = tokio::time::timeout(HANGS, running).await;
    let ran = ended.expect("it goes on").unwrap();
    assert!(ran.is_err(), "{ran:?}");
    assert_eq!(app.sessions.statuses(), []);
    assert_eq!(app.messages().await, []);
}
