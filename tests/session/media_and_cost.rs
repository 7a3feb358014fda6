//! Images and cost of a whole session, including messages that are not loaded.

use lathe_protocol::{FilePart, Part};
use lathe_provider::Usage;
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, call, text, usage};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;
/// Only the first bytes are valid: it is never decoded here.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn names(file: &FilePart) -> Option<String> {
    file.mime
        .starts_with("image/")
        .then(|| file.filename.clone().unwrap_or_default())
}

#[tokio::test]
async fn images_from_tools_are_found_in_order_and_by_id() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    for name in ["one.png", "two.png", "three.png"] {
        std::fs::write(app.path(name), PNG).unwrap();
    }
    let read = |name: &str| call("read", json!({ "filePath": name }));
    model.reply([read("one.png"), read("two.png")]);
    model.reply([text("seen")]);
    app.ask("look at both").await;
    model.reply([read("three.png")]);
    model.reply([text("seen")]);
    app.ask("and the last").await;

    let id = &app.session.id;
    let found = app.sessions.attachments(id, |file| Some(file.clone()));
    let found = found.await.unwrap();
    assert_eq!(
        found.len(),
        3,
        "{:?}",
        found.iter().map(names).collect::<Vec<_>>()
    );
    for file in &found {
        let one = app
            .sessions
            .attachment(id, &file.message_id, &file.id)
            .await
            .unwrap();
        assert_eq!(one.as_ref(), Some(file));
    }
    let messages = app.messages().await;
    let in_order: Vec<_> = messages
        .iter()
        .flat_map(|message| &message.parts)
        .flat_map(|part| match part {
            Part::Tool(tool) => tool.attachments().to_vec(),
            _ => Vec::new(),
        })
        .collect();
    assert_eq!(found, in_order);
}

#[tokio::test]
async fn an_attachment_is_not_found_under_another_session() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    std::fs::write(app.path("one.png"), PNG).unwrap();
    model.reply([call("read", json!({ "filePath": "one.png" }))]);
    model.reply([text("seen")]);
    app.ask("look").await;
    let other = app.sessions.create(&app.project, None).await.unwrap();
    let found = app
        .sessions
        .attachments(&app.session.id, |file| Some(file.clone()));
    let file = found.await.unwrap().remove(0);
    let elsewhere = app
        .sessions
        .attachment(&other.id, &file.message_id, &file.id);
    assert_eq!(elsewhere.await.unwrap(), None);
}

#[tokio::test]
async fn a_session_costs_what_its_answers_cost_to_the_last_digit() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    assert_eq!(app.sessions.usage(&app.session.id).await.unwrap().cost, 0.0);
    for _ in 0..3 {
        // 0.3 dollars: three of them are 0.8999999999999999 where they are added as floats.
        let used = Usage {
            input: 90_000,
            output: 2_000,
            ..Usage::default()
        };
        model.reply([text("expensive"), usage(used)]);
        app.ask("again").await;
    }
    let total = app.sessions.usage(&app.session.id).await.unwrap();
    assert_eq!(total.cost, 0.9);
    assert_eq!(
        (total.tokens.input.0, total.tokens.output.0),
        (270_000, 6_000)
    );
    assert_eq!(total.steps.0, 3);

    let app = app.restart().await;
    assert_eq!(app.sessions.usage(&app.session.id).await.unwrap(), total);
}

#[tokio::test]
async fn a_removed_message_no_longer_counts() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    for _ in 0..2 {
        let used = Usage {
            input: 100_000,
            ..Usage::default()
        };
        model.reply([text("ok"), usage(used)]);
        app.ask("go").await;
    }
    let both = app.sessions.usage(&app.session.id).await.unwrap();
    let messages = app.messages().await;
    let last = messages.last().unwrap().info.id().clone();
    let store = lathe_store::Store::open(app.data_dir(), lathe_store::Options::default()).await;
    let removed = store.unwrap().remove_message(&app.session.id, &last).await;
    assert!(removed.unwrap());
    let one = app.sessions.usage(&app.session.id).await.unwrap();
    assert_eq!((both.steps.0, one.steps.0), (2, 1));
}

/// Reading them again would read thousands of files for every answer of a long session.
#[tokio::test]
async fn messages_are_read_only_once_to_count_the_cost() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    model.reply([text("ok")]);
    app.ask("go").await;
    let before = app.sessions.usage(&app.session.id).await.unwrap();
    for message in app.messages().await {
        let (session, id) = (&app.session.id, message.info.id());
        let file = format!("storage/message/{session}/{id}.json");
        let file = app.data_dir().join(file);
        std::fs::write(file, "no longer a message").unwrap();
    }
    let after = app.sessions.usage(&app.session.id).await.unwrap();
    assert_eq!((after.steps.0, &after), (1, &before));
    let quarantine = app.data_dir().join("quarantine");
    assert_eq!(std::fs::read_dir(quarantine).unwrap().count(), 0);
}
