//! A provider fails: the turn retries, or ends with a clear error.

use std::time::Duration;

use lathe_protocol::{Event, Finish, MessageError, Part, SessionStatus};
use lathe_provider::WireKind;
use lathe_session::bus::Notification;
use lathe_test_support::app::{CANARY_KEY, TestApp, until, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, cut, full, reasoning, reset, text};
use serde_json::json;

const WIRE: WireKind = WireKind::Anthropic;

async fn waiting(app: &TestApp, events: &mut lathe_session::bus::Subscription) {
    until(events, |event| {
        matches!(
            event,
            Event::SessionStatus {
                status: SessionStatus::Retry { .. },
                ..
            }
        )
    })
    .await;
    app.clock.advance(Duration::from_secs(60));
}

#[tokio::test]
async fn an_overloaded_provider_is_retried_and_the_attempt_is_recorded() {
    let model = FakeModel::start().await;
    model.refuse(529, &[], "Overloaded");
    model.reply([text("here now")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    waiting(&app, &mut events).await;
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(
        app.outline().await,
        ["user: text", "assistant: step-start retry text step-finish"]
    );
}

#[tokio::test]
async fn after_a_reset_in_mid_stream_no_text_and_no_call_is_repeated() {
    let model = FakeModel::start().await;
    model.reply([reasoning("hm"), text("Half of the an"), reset()]);
    model.reply([
        text("The whole answer"),
        call("read", json!({ "filePath": "a.txt" })),
        reset(),
    ]);
    model.reply([
        text("The whole answer."),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    model.reply([text("done")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n");
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    waiting(&app, &mut events).await;
    waiting(&app, &mut events).await;
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(
        app.outline().await,
        [
            "user: text",
            "assistant: step-start retry retry text tool step-finish",
            "assistant: step-start text step-finish",
        ]
    );
    assert_eq!(app.calls().await, ["read: completed"]);
    let messages = app.messages().await;
    let texts: Vec<_> = messages[1]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(part) => Some(part.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["The whole answer."]);
}

#[tokio::test]
async fn a_provider_that_keeps_failing_ends_the_turn_with_its_reason_and_its_text() {
    let model = FakeModel::start().await;
    for _ in 0..6 {
        model.reply([text("I was about to"), cut()]);
    }
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    for _ in 0..5 {
        waiting(&app, &mut events).await;
    }
    until_idle(&mut events, &app.session.id).await;
    let messages = app.messages().await;
    let answer = messages[1].info.as_assistant().unwrap();
    assert!(
        matches!(&answer.error, Some(MessageError::Api(_))),
        "{:?}",
        answer.error
    );
    assert_eq!(answer.finish, Some(Finish::Error));
    let said = messages[1]
        .parts
        .iter()
        .filter(|part| matches!(part, Part::Text(_)))
        .count();
    assert_eq!(said, 1, "the last attempt's text stays, once");
}

#[tokio::test]
async fn retry_now_does_not_wait() {
    let model = FakeModel::start().await;
    model.refuse(500, &[("retry-after", "300")], "later");
    model.reply([text("now")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    until(&mut events, |event| {
        matches!(
            event,
            Event::SessionStatus {
                status: SessionStatus::Retry { .. },
                ..
            }
        )
    })
    .await;
    app.sessions.retry_now(&app.session.id);
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(
        app.messages().await[1].info.as_assistant().unwrap().finish,
        Some(Finish::Stop)
    );
}

#[tokio::test]
async fn a_refused_key_is_reported_not_retried_and_never_shown() {
    for status in [401, 500] {
        let model = FakeModel::start().await;
        let echo = format!("bad key {CANARY_KEY}, sorry");
        model.refuse(status, &[("retry-after", "9999")], &echo);
        let app = TestApp::with_model(&model, WIRE).await;
        let mut events = app.sessions.subscribe();
        app.send("hello").await;
        let published = until(&mut events, |event| {
            matches!(event, Event::SessionIdle { .. })
        })
        .await;
        let error = app.messages().await[1]
            .info
            .as_assistant()
            .unwrap()
            .error
            .clone()
            .unwrap();
        if status == 401 {
            assert!(matches!(error, MessageError::ProviderAuth(_)), "{error:?}");
        }
        for one in published {
            if let Notification::Event(event) = one {
                let line = serde_json::to_string(&*event).unwrap();
                assert!(!line.contains(CANARY_KEY), "{line}");
            }
        }
        assert_eq!(
            files_with_key(app.data_dir()),
            ["config.json"],
            "only where it was put"
        );
    }
}

fn files_with_key(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let content = match std::fs::read(entry.path()) {
                Ok(content) => content,
                // A file that is written under another name first, or a lock that was let go.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => panic!("{}: {error}", entry.path().display()),
            };
            if String::from_utf8_lossy(&content).contains(CANARY_KEY) {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[tokio::test]
async fn an_answer_cut_by_its_length_is_an_error_of_its_own() {
    let model = FakeModel::start().await;
    model.reply([text("and so on and"), full()]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("hello").await;
    let messages = app.messages().await;
    let answer = messages[1].info.as_assistant().unwrap();
    assert!(matches!(answer.error, Some(MessageError::OutputLength(_))));
    assert_eq!(answer.finish, Some(Finish::Length));
}

#[tokio::test]
async fn an_answer_cut_by_its_length_is_continued() {
    let model = FakeModel::start().await;
    model.reply([
        text("First I look."),
        call("read", json!({ "filePath": "a.txt" })),
        full(),
    ]);
    let next = model.reply([text("and then")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n");
    app.ask("hello").await;
    app.ask("go on").await;
    let seen = next.request();
    assert!(seen.assistant_text().contains("First I look."));
    assert!(seen.tool_output("read").contains("one"));
}

#[tokio::test]
async fn an_unknown_model_is_a_clear_error() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "hi".into(),
        model: Some(lathe_protocol::ModelRef::new("fake", "nothing")),
        ..Default::default()
    };
    app.sessions.prompt(&app.session.id, input).await.unwrap();
    until_idle(&mut events, &app.session.id).await;
    let error = app.messages().await[1]
        .info
        .as_assistant()
        .unwrap()
        .error
        .clone()
        .unwrap();
    assert!(error.message().contains("nothing"), "{}", error.message());
}
