//! `/` commands: prompts from templates.

use lathe_protocol::ipc::{CommandView, PromptInput};
use lathe_protocol::{Event, MessageId, ModelRef, Part};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_test_support::app::{TestApp, until, until_idle};
use lathe_test_support::fake_model::{FakeModel, text};

const WIRE: WireKind = WireKind::OpenaiChat;

async fn run(app: &TestApp, name: &str, args: &str) -> MessageId {
    let mut events = app.sessions.subscribe();
    let input = PromptInput::default();
    let ran = app.sessions.run_command(&app.session.id, name, args, input);
    let id = ran.await.expect("the command is sent");
    until_idle(&mut events, &app.session.id).await;
    id
}

#[tokio::test]
async fn a_command_sends_its_text_with_arguments_and_files_filled_in() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("notes.txt", "buy milk\n");
    app.write_config(
        "lathe/command/note/find.md",
        "---\ndescription: Find a note\nagent: plan\n---\nFind $1 in @notes.txt, then $2.\n",
    );
    let mut events = app.sessions.subscribe();

    let id = run(&app, "note/find", "milk 'pour it' now").await;

    let seen = first.request().user_text();
    assert!(
        seen.contains("Find milk in @notes.txt, then pour it now."),
        "{seen}"
    );
    assert!(seen.contains("buy milk"), "{seen}");
    let messages = app.messages().await;
    assert_eq!(
        messages[0].info.as_user().unwrap().agent.as_deref(),
        Some("plan")
    );
    let published = until(&mut events, |event| {
        matches!(event, Event::CommandExecuted { .. })
    })
    .await;
    let Some(lathe_session::bus::Notification::Event(event)) = published.last() else {
        panic!("{published:?}")
    };
    assert_eq!(
        **event,
        Event::CommandExecuted {
            name: "note/find".into(),
            session_id: app.session.id.clone(),
            arguments: "milk 'pour it' now".into(),
            message_id: id,
        }
    );
}

#[tokio::test]
async fn commands_are_listed_and_can_be_replaced() {
    let app = TestApp::start()
        .await
        .file(".opencode/command/mine.md", "Do it.");
    app.write_config(
        "lathe/lathe.json",
        r#"{ "command": { "review": { "template": "My review of $ARGUMENTS", "description": "Mine" } } }"#,
    );
    let commands = app.sessions.commands(&app.project).await.unwrap();
    let view = |name: &str, description: &str, hint: Option<&str>| CommandView {
        name: name.into(),
        description: description.into(),
        hint: hint.map(str::to_owned),
        built_in: false,
    };
    assert!(commands[0].name == "init" && commands[0].built_in);
    assert_eq!(
        commands[1..],
        [
            view("review", "Mine", Some("[arguments]")),
            view("mine", "", None)
        ]
    );
    let missing = app
        .sessions
        .run_command(&app.session.id, "nope", "", PromptInput::default());
    assert_eq!(
        missing.await.unwrap_err().to_string(),
        "there is no command nope"
    );
}

#[tokio::test]
async fn a_shell_command_in_a_template_needs_the_permission_it_always_needs() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/command/say.md",
        "It said: !`touch made && echo hello $1`.",
    );
    let mut events = app.sessions.subscribe();
    let (sessions, id) = (app.sessions.clone(), app.session.id.clone());
    let running = tokio::spawn(async move {
        sessions
            .run_command(&id, "say", "you", PromptInput::default())
            .await
    });
    let request = app.next_permission(&mut events).await;
    assert_eq!(request.permission, "bash");
    assert_eq!(request.patterns, ["touch made", "echo hello you"]);
    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    running.await.unwrap().unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(first.request().user_text().contains("It said: hello you"));
}

#[tokio::test]
async fn a_refused_shell_command_sends_nothing() {
    let app = TestApp::start().await;
    app.write_config(
        "lathe/lathe.json",
        r#"{ "permission": { "bash": "deny" } }"#,
    );
    app.write_config("lathe/command/say.md", "It said: !`touch made`.");
    let ran = app
        .sessions
        .run_command(&app.session.id, "say", "", PromptInput::default());
    let refused = ran.await.unwrap_err().to_string();
    assert!(refused.contains("touch made"), "{refused}");
    assert_eq!(app.messages().await, []);
    assert!(!app.path("made").exists());
}

#[tokio::test]
async fn a_command_can_be_sent_as_a_subtask() {
    let model = FakeModel::start().await;
    for _ in 0..4 {
        model.reply([text("ok")]);
    }
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/command/look.md",
        "---\ndescription: Look around\nagent: explore\n---\nLook for $ARGUMENTS.",
    );
    run(&app, "look", "tea").await;
    // The number of steps is tested elsewhere.
    for _ in 0..model.unused_replies() {
        model.remove_next_reply();
    }
    let messages = app.messages().await;
    let Part::Subtask(task) = &messages[0].parts[0] else {
        panic!("{:?}", messages[0].parts)
    };
    assert_eq!(
        (
            task.prompt.as_str(),
            task.description.as_str(),
            task.agent.as_str(),
            task.command.as_deref()
        ),
        ("Look for tea.", "Look around", "explore", Some("look"))
    );
}

#[tokio::test]
async fn a_command_for_an_agent_goes_to_that_agents_model() {
    let model = FakeModel::start().await;
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/agent/mine.md",
        "---\nmode: primary\nmodel: fake/m\n---\nYou are mine.\n",
    );
    app.write_config("lathe/command/go.md", "---\nagent: mine\n---\nGo.");
    let mut events = app.sessions.subscribe();
    // The window sends the model that it shows, which belongs to the agent that it shows.
    let input = PromptInput {
        agent: Some("build".into()),
        model: Some(ModelRef::new("fake", "other")),
        ..PromptInput::default()
    };
    let ran = app.sessions.run_command(&app.session.id, "go", "", input);
    ran.await.expect("the command is sent");
    until_idle(&mut events, &app.session.id).await;

    let messages = app.messages().await;
    let prompt = messages[0].info.as_user().unwrap();
    assert_eq!(prompt.agent.as_deref(), Some("mine"));
    assert_eq!(prompt.model, Some(ModelRef::new("fake", "m")));
}

#[tokio::test]
async fn a_session_continues_with_its_own_agent_after_a_subtask() {
    let model = FakeModel::start().await;
    for _ in 0..4 {
        model.reply([text("ok")]);
    }
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config("lathe/command/look.md", "---\nagent: explore\n---\nLook.");
    let mut events = app.sessions.subscribe();
    let input = PromptInput {
        agent: Some("plan".into()),
        ..PromptInput::default()
    };
    let ran = app.sessions.run_command(&app.session.id, "look", "", input);
    ran.await.expect("the command is sent");
    until_idle(&mut events, &app.session.id).await;
    for _ in 0..model.unused_replies() {
        model.remove_next_reply();
    }
    let messages = app.messages().await;
    let prompt = messages[0].info.as_user().unwrap();
    assert_eq!(prompt.agent.as_deref(), Some("plan"));
}
