//! A session that is too long for its model is summed up and continues.

use lathe_protocol::{Action, Event, Message, MessageError, Part, SessionStatus, ToolState};
use lathe_provider::{Usage, WireKind};
use lathe_session::Failed;
use lathe_session::bus::{Notification, Subscription};
use lathe_test_support::app::{TestApp, until, until_idle};
use lathe_test_support::fake_model::{FakeModel, Item, call, text, usage};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;
/// The fake model has a context of 200,000 tokens, of which 8,000 are reserved for the answer.
const USABLE: u64 = 192_000;

fn took(total: u64) -> Item {
    usage(Usage {
        input: total - 100,
        output: 100,
        ..Usage::default()
    })
}

fn read(file: &str) -> Item {
    call("read", json!({ "filePath": file }))
}

async fn published_until_idle(events: &mut Subscription) -> Vec<Event> {
    let published = until(events, |event| matches!(event, Event::SessionIdle { .. })).await;
    let events = published.into_iter().filter_map(|one| match one {
        Notification::Event(event) => Some((*event).clone()),
        _ => None,
    });
    events.collect()
}

#[tokio::test]
async fn a_full_session_is_summed_up_before_the_next_step_and_continues() {
    let model = FakeModel::start().await;
    model.reply([read("a.txt"), took(USABLE)]);
    let summary = model.reply([text("## Goal\nRead a.txt")]);
    let next = model.reply([text("It says one.")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n");
    let mut events = app.sessions.subscribe();
    app.send("what does it say?").await;
    let published = published_until_idle(&mut events).await;

    assert_eq!(
        app.outline().await,
        [
            "user: text",
            "assistant: step-start tool step-finish",
            "user: compaction",
            "assistant: step-start text step-finish",
            "user: text",
            "assistant: step-start text step-finish",
        ]
    );
    let messages = app.messages().await;
    let summed_up = messages[3].info.as_assistant().unwrap();
    assert_eq!(
        (
            summed_up.summary,
            summed_up.agent.as_deref(),
            &summed_up.parent_id
        ),
        (Some(true), Some("compaction"), messages[2].info.id())
    );
    let Part::Text(go_on) = &messages[4].parts[0] else {
        panic!("no text")
    };
    assert_eq!(go_on.synthetic, Some(true));

    let asked = summary.request();
    assert_eq!(asked.tools, Vec::<String>::new());
    assert!(asked.user_text().contains("what does it say?"));
    assert!(asked.prompt().starts_with("Sum up the session above"));
    let asked = next.request();
    assert_eq!(asked.assistant_text(), "## Goal\nRead a.txt");
    assert_eq!(asked.prompt(), go_on.text);
    assert!(asked.user_text().contains("What did we do so far?"));
    assert!(
        !asked.user_text().contains("what does it say?"),
        "it is summed up"
    );

    let compacted = |event: &&Event| matches!(event, Event::SessionCompacted { .. });
    assert_eq!(published.iter().filter(compacted).count(), 1);
    let compacting: Vec<_> = published
        .iter()
        .filter_map(|event| match event {
            Event::SessionUpdated { info } => Some(info.time.compacting.is_some()),
            _ => None,
        })
        .collect();
    assert!(compacting.contains(&true), "it is said while it lasts");
    let session = app.sessions.get(&app.session.id).await.unwrap();
    assert_eq!(session.time.compacting, None);
}

#[tokio::test]
async fn the_newest_messages_are_left_unchanged() {
    let model = FakeModel::start().await;
    model.reply([text("ok")]);
    model.reply([text("second answer"), took(USABLE)]);
    let summary = model.reply([text("the summary")]);
    let next = model.reply([text("done")]);
    let app = TestApp::with_model(&model, WIRE).await;
    // 20,000 tokens: more than what is left unchanged.
    app.ask(&format!("first {}", "x".repeat(80_000))).await;
    app.ask("second prompt").await;
    app.ask("third prompt").await;

    let asked = summary.request();
    assert!(asked.user_text().contains("first xxx"));
    assert!(!asked.user_text().contains("second prompt"));
    let texts = next.request().texts;
    let said: Vec<_> = texts
        .iter()
        .map(|(_, text)| text.lines().next().unwrap())
        .collect();
    assert_eq!(
        said,
        [
            "What did we do so far?",
            "the summary",
            "ok",
            "second prompt",
            "second answer",
            "third prompt",
        ]
    );
    assert!(
        texts[5].1.contains("The session so far was summed up"),
        "{texts:?}"
    );
}

#[tokio::test]
async fn tool_output_is_cut_and_media_removed_before_summing_up() {
    let model = FakeModel::start().await;
    model.reply([read("long.txt"), read("picture.png")]);
    model.reply([text("seen"), took(USABLE)]);
    let summary = model.reply([text("the summary")]);
    model.reply([text("done")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("long.txt", "0123456789\n".repeat(1_000));
    std::fs::write(app.path("picture.png"), PNG).unwrap();
    app.ask("look at both").await;
    app.ask("go on").await;

    let asked = summary.request();
    assert_eq!(asked.files, Vec::<String>::new());
    let outputs: Vec<_> = asked
        .calls
        .iter()
        .map(|call| call.result.clone().unwrap().text)
        .collect();
    assert!(
        outputs[0].ends_with("\n[the rest was cut]"),
        "{}",
        outputs[0]
    );
    assert_eq!(
        outputs[0].chars().count(),
        2_000 + "\n[the rest was cut]".len()
    );
    assert!(
        outputs[1].contains("[Attached image/png: picture.png]"),
        "{}",
        outputs[1]
    );
}

const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

#[tokio::test]
async fn the_config_can_switch_summing_up_off() {
    let model = FakeModel::start().await;
    model.reply([read("a.txt"), took(USABLE * 2)]);
    model.reply([text("done")]);
    let off = json!({ "compaction": { "auto": false } });
    let app = TestApp::with_config(&model, WIRE, off)
        .await
        .file("a.txt", "one\n");
    app.ask("go").await;
    assert_eq!(app.outline().await.len(), 3);
    let used = app.sessions.context_use(&app.session.id).await.unwrap();
    assert_eq!(
        (used.usable, used.limit, used.will_compact),
        (USABLE, 200_000, false)
    );
}

#[tokio::test]
async fn a_session_that_stays_too_long_asks_the_person_instead_of_summing_up_again_and_again() {
    let model = FakeModel::start().await;
    for n in 0..2 {
        model.reply([read(&format!("{n}.txt")), took(USABLE + 5)]);
        model.reply([text("the summary")]);
    }
    model.reply([read("2.txt"), took(USABLE + 5)]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("go").await;

    assert_eq!(model.requests().len(), 5);
    let messages = app.messages().await;
    let last = messages
        .last()
        .unwrap()
        .info
        .as_assistant()
        .unwrap()
        .clone();
    let error = last.error.unwrap().message();
    assert!(error.contains("compacted twice"), "{error}");
    assert_eq!(app.sessions.status(&app.session.id), SessionStatus::Idle);
}

#[tokio::test]
async fn a_request_that_the_provider_finds_too_long_is_summed_up_and_retried() {
    let model = FakeModel::start().await;
    model.reply([text("first answer")]);
    model.refuse(
        400,
        &[],
        "prompt is too long: 210000 tokens > 200000 maximum",
    );
    let summary = model.reply([text("the summary")]);
    let again = model.reply([text("second answer")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("first prompt").await;
    app.ask("second prompt").await;

    assert!(!summary.request().user_text().contains("second prompt"));
    let asked = again.request();
    assert_eq!(asked.prompt(), "second prompt");
    assert_eq!(asked.user_text().matches("second prompt").count(), 1);
    let errors = app
        .messages()
        .await
        .into_iter()
        .filter_map(|message| match message.info {
            Message::Assistant(info) => info.error,
            Message::User(_) => None,
        });
    assert_eq!(errors.collect::<Vec<MessageError>>(), []);
}

#[tokio::test]
async fn a_request_that_is_too_long_is_retried_only_once() {
    let model = FakeModel::start().await;
    model.reply([text("first answer")]);
    for _ in 0..2 {
        model.refuse(400, &[], "prompt is too long");
        model.reply([text("the summary")]);
    }
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("first prompt").await;
    app.ask("second prompt").await;
    assert_eq!(model.unused_replies(), 1, "no second summary");
    model.remove_next_reply();
    let messages = app.messages().await;
    let last = messages.last().unwrap().info.as_assistant().unwrap();
    assert!(last.error.as_ref().unwrap().message().contains("too long"));
}

#[tokio::test]
async fn a_first_prompt_that_is_too_long_is_a_clear_error() {
    let model = FakeModel::start().await;
    model.refuse(400, &[], "prompt is too long");
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("everything at once").await;
    let messages = app.messages().await;
    let last = messages.last().unwrap().info.as_assistant().unwrap();
    assert_eq!(
        last.error.as_ref().unwrap().message(),
        "The prompt alone is too long for this model"
    );
    // Nothing of the refused attempt is left, neither on disk nor in what the turn remembers.
    let outline = app.outline().await;
    assert_eq!(
        outline.last().map(String::as_str),
        Some("assistant: "),
        "{outline:?}"
    );
}

#[tokio::test]
async fn summing_up_by_hand_ends_with_the_summary() {
    let model = FakeModel::start().await;
    model.reply([text("first answer")]);
    model.reply([text("the summary")]);
    let next = model.reply([text("second answer")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("first prompt").await;
    let mut events = app.sessions.subscribe();
    app.sessions.compact(&app.session.id).await.unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(
        app.outline().await[2..],
        ["user: compaction", "assistant: step-start text step-finish"]
    );
    app.ask("second prompt").await;
    let said = next.request().texts;
    let said: Vec<_> = said.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        said,
        ["What did we do so far?", "the summary", "second prompt"]
    );
}

#[tokio::test]
async fn a_second_summary_includes_the_first_one() {
    let model = FakeModel::start().await;
    model.reply([text("first answer")]);
    model.reply([text("summary one")]);
    model.reply([text("second answer")]);
    let second = model.reply([text("summary two")]);
    let next = model.reply([text("third answer")]);
    let app = TestApp::with_model(&model, WIRE).await;
    for prompt in ["first prompt", "second prompt"] {
        app.ask(prompt).await;
        let mut events = app.sessions.subscribe();
        app.sessions.compact(&app.session.id).await.unwrap();
        until_idle(&mut events, &app.session.id).await;
    }
    assert!(second.request().assistant_text().contains("summary one"));
    let app = app.restart().await;
    app.ask("third prompt").await;
    let asked = next.request();
    assert!(!asked.assistant_text().contains("summary one"));
    assert!(asked.assistant_text().contains("summary two"));
}

#[tokio::test]
async fn summing_up_by_hand_is_refused_while_busy_and_with_nothing_to_sum_up() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    let refused = app.sessions.compact(&app.session.id).await;
    assert!(matches!(refused, Err(Failed::Refused(_))), "{refused:?}");

    model.reply([call(
        "bash",
        json!({ "command": "touch x", "description": "Touch" }),
    )]);
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    app.next_permission(&mut events).await;
    let refused = app.sessions.compact(&app.session.id).await;
    assert!(matches!(refused, Err(Failed::Busy)), "{refused:?}");
    app.sessions.abort(&app.session.id).await;
}

#[tokio::test]
async fn a_failed_summary_is_reported_and_leaves_the_session_unchanged() {
    let model = FakeModel::start().await;
    model.reply([text("first answer")]);
    model.refuse(401, &[], "no such key");
    let next = model.reply([text("second answer")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("first prompt").await;
    let mut events = app.sessions.subscribe();
    app.sessions.compact(&app.session.id).await.unwrap();
    let published = published_until_idle(&mut events).await;
    assert!(
        published
            .iter()
            .any(|event| matches!(event, Event::SessionError { .. }))
    );
    let session = app.sessions.get(&app.session.id).await.unwrap();
    assert_eq!(session.time.compacting, None);
    app.ask("second prompt").await;
    assert!(next.request().user_text().contains("first prompt"));
}

#[tokio::test]
async fn a_history_too_long_for_one_summary_is_summed_up_without_its_oldest_part() {
    let model = FakeModel::start().await;
    model.reply([text("first answer")]);
    model.reply([text("second answer")]);
    model.refuse(400, &[], "prompt is too long");
    let second = model.reply([text("the summary")]);
    let app = TestApp::with_model(&model, WIRE).await;
    // 100,000 tokens: too much for half of what is usable.
    app.ask(&format!("first {}", "x".repeat(400_000))).await;
    app.ask(&format!("second {}", "y".repeat(80_000))).await;
    let mut events = app.sessions.subscribe();
    app.sessions.compact(&app.session.id).await.unwrap();
    until_idle(&mut events, &app.session.id).await;
    let asked = second.request().user_text();
    assert!(!asked.contains("first xxx") && asked.contains("second yyy"));
}

#[tokio::test]
async fn an_abort_during_a_summary_settles_everything() {
    let model = FakeModel::start().await;
    model.reply([text("first answer")]);
    let summary = model.reply([lathe_test_support::fake_model::stall()]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask("first prompt").await;
    app.sessions.compact(&app.session.id).await.unwrap();
    summary.asked().await;
    app.sessions.abort(&app.session.id).await;
    let messages = app.messages().await;
    let last = messages.last().unwrap().info.as_assistant().unwrap();
    assert!(matches!(last.error, Some(MessageError::Aborted(_))));
    let session = app.sessions.get(&app.session.id).await.unwrap();
    assert_eq!(session.time.compacting, None);
}

#[tokio::test]
async fn a_crash_during_a_summary_leaves_no_marker_behind() {
    let app = TestApp::start().await;
    let id = app.session.id.clone();
    let now = app.session.time.created;
    let edit = move |session: &mut lathe_protocol::Session| session.time.compacting = Some(now);
    app.sessions.update(&id, edit).await.unwrap();
    let app = app.restart().await;
    app.sessions.recover(&id).await;
    let session = app.sessions.get(&id).await.unwrap();
    assert_eq!(session.time.compacting, None);
}

#[tokio::test]
async fn old_tool_output_is_hidden_from_the_model_but_not_from_the_person() {
    let model = FakeModel::start().await;
    let files: Vec<_> = (0..6).map(|n| format!("{n}.txt")).collect();
    model.reply(files.iter().map(|file| read(file)).collect::<Vec<_>>());
    model.reply([text("read")]);
    model.reply([text("second answer")]);
    model.reply([text("third answer")]);
    let next = model.reply([text("fourth answer")]);
    let mut app = TestApp::with_model(&model, WIRE)
        .await
        .rule("read", "*", Action::Allow);
    for file in &files {
        // About 11,000 tokens each, in lines that are not cut.
        app = app.file(file, format!("{file} {}\n", "x".repeat(1_000)).repeat(44));
    }
    app.ask("read them all").await;
    app.ask("second").await;
    assert_eq!(cleared(&app).await, [false; 6], "the last two turns stay");
    app.ask("third").await;
    assert_eq!(cleared(&app).await, [true, true, true, false, false, false]);
    app.ask("fourth").await;
    let seen = next.request();
    let outputs = seen
        .calls
        .iter()
        .map(|call| call.result.as_ref().unwrap().text.as_str());
    let gone = outputs.map(|output| output == "[Old tool result content cleared]");
    assert_eq!(
        gone.collect::<Vec<_>>(),
        [true, true, true, false, false, false]
    );
}

async fn cleared(app: &TestApp) -> Vec<bool> {
    let messages = app.messages().await;
    let parts = messages.iter().flat_map(|message| &message.parts);
    let calls = parts.filter_map(|part| match part {
        Part::Tool(tool) => match tool.state() {
            ToolState::Completed(done) => {
                assert!(done.output.len() > 40_000, "the text stays");
                Some(done.time.compacted.is_some())
            }
            other => panic!("{other:?}"),
        },
        _ => None,
    });
    calls.collect()
}
