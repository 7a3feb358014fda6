//! Prompts that are sent while a session is busy wait in a queue and can be edited there.

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{Event, MessageId, Part, PermissionRequest, UserMessage};
use lathe_provider::WireKind;
use lathe_session::bus::{BusItem, Notification, Subscription};
use lathe_session::{Answer, Failed};
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{Answered, FakeModel, call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

/// A turn that waits for a permission, with these replies for its next steps.
pub async fn busy(model: &FakeModel) -> (TestApp, Subscription, PermissionRequest, Answered) {
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )]);
    let next = model.reply([text("done")]);
    let app = TestApp::with_model(model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("first").await;
    let request = app.next_permission(&mut events).await;
    (app, events, request, next)
}

async fn allow(app: &TestApp, events: &mut Subscription, request: &PermissionRequest) {
    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    until_idle(events, &app.session.id).await;
}

/// The queues that were published so far.
fn queues(events: &mut Subscription) -> Vec<Vec<MessageId>> {
    let mut queues = Vec::new();
    while let Some(item) = events.try_next() {
        if let BusItem::Notification(notice) = item
            && let Notification::Queue(waiting) = notice.notification
        {
            queues.push(waiting.messages.clone());
        }
    }
    queues
}

#[tokio::test]
async fn a_waiting_prompt_is_stored_and_published_until_it_is_taken_up() {
    let model = FakeModel::start().await;
    let (app, mut events, request, next) = busy(&model).await;
    let mut queue = app.sessions.subscribe();
    let one = app.send("second").await;
    let two = app.send("third").await;
    assert_eq!(
        app.sessions.queued(&app.session.id),
        [one.clone(), two.clone()]
    );
    assert_eq!(app.outline().await.len(), 4, "stored at once");
    allow(&app, &mut events, &request).await;
    assert_eq!(app.sessions.queued(&app.session.id), []);
    assert_eq!(
        queues(&mut queue),
        [vec![one.clone()], vec![one, two], vec![]]
    );
    let asked = next.request().user_text();
    assert!(asked.contains("second") && asked.contains("third"));
}

#[tokio::test]
async fn a_waiting_prompt_can_be_moved_before_the_one_above_it() {
    let model = FakeModel::start().await;
    let (app, mut events, request, next) = busy(&model).await;
    let (one, two) = (app.send("second").await, app.send("third").await);
    let id = &app.session.id;
    app.sessions.move_queued_up(id, &two).await.unwrap();
    assert_eq!(app.sessions.queued(id), [two.clone(), one.clone()]);
    let first = app.sessions.move_queued_up(id, &two).await;
    assert!(first.is_err(), "there is nothing above it");
    allow(&app, &mut events, &request).await;
    let asked = next.request().user_text();
    assert!(asked.find("third") < asked.find("second"), "{asked}");
    let messages = app.messages().await;
    let ids: Vec<_> = messages.iter().map(|one| one.info.id().clone()).collect();
    let place = |id: &MessageId| ids.iter().position(|one| one == id);
    assert!(place(&two) < place(&one), "{ids:?}");
    let unsent = |message: &&lathe_protocol::MessageWithParts| {
        let user = message.info.as_user();
        user.is_some_and(|user| user.unsent == Some(true))
    };
    assert_eq!(messages.iter().filter(unsent).count(), 0);
}

#[tokio::test]
async fn a_waiting_prompt_can_be_edited() {
    let model = FakeModel::start().await;
    let (app, mut events, request, next) = busy(&model).await;
    let id = app.send("second").await;
    app.sessions
        .edit_queued(&app.session.id, &id, "something else")
        .await
        .unwrap();
    allow(&app, &mut events, &request).await;
    let asked = next.request().user_text();
    assert!(asked.contains("something else") && !asked.contains("second"));
    let messages = app.messages().await;
    let stored = messages
        .iter()
        .find(|message| *message.info.id() == id)
        .unwrap();
    let Part::Text(text) = &stored.parts[0] else {
        panic!("no text")
    };
    assert_eq!(text.text, "something else");
}

#[tokio::test]
async fn an_edited_prompt_resolves_its_mentions_again_and_keeps_its_attachments() {
    let model = FakeModel::start().await;
    let (app, mut events, request, next) = busy(&model).await;
    for name in ["old.txt", "new.txt", "attached.txt"] {
        app.write(name, format!("inside {name}\n"));
    }
    let attached = url::Url::from_file_path(app.path("attached.txt")).unwrap();
    let input = PromptInput {
        text: "compare @old.txt".to_owned(),
        files: vec![PromptFile {
            url: attached.into(),
            ..PromptFile::default()
        }],
        ..PromptInput::default()
    };
    let id = app.sessions.prompt(&app.session.id, input).await.unwrap();
    app.sessions
        .edit_queued(&app.session.id, &id, "compare @new.txt")
        .await
        .unwrap();
    allow(&app, &mut events, &request).await;
    let asked = next.request().user_text();
    let seen = ["old.txt", "new.txt", "attached.txt"]
        .map(|name| asked.contains(&format!("inside {name}")));
    assert_eq!(seen, [false, true, true]);
    let messages = app.messages().await;
    let stored = messages.iter().find(|message| *message.info.id() == id);
    let files: Vec<_> = stored
        .unwrap()
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::File(file) => file.filename.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(files, ["attached.txt", "new.txt"]);
}

#[tokio::test]
async fn a_waiting_prompt_can_be_removed() {
    let model = FakeModel::start().await;
    let (app, mut events, request, next) = busy(&model).await;
    let mut queue = app.sessions.subscribe();
    let id = app.send("second").await;
    app.sessions
        .remove_queued(&app.session.id, &id)
        .await
        .unwrap();
    assert_eq!(queues(&mut queue), [vec![id.clone()], vec![]]);
    allow(&app, &mut events, &request).await;
    assert!(!next.request().user_text().contains("second"));
    let messages = app.messages().await;
    assert!(
        messages.iter().all(|message| *message.info.id() != id),
        "nothing is left"
    );
    let part = app.data_dir().join("storage/part").join(id.as_str());
    assert!(!part.exists() || part.read_dir().unwrap().next().is_none());
}

#[tokio::test]
async fn a_prompt_that_was_taken_up_can_no_longer_be_edited() {
    let model = FakeModel::start().await;
    let (app, mut events, request, _) = busy(&model).await;
    let id = app.send("second").await;
    allow(&app, &mut events, &request).await;
    for refused in [
        app.sessions
            .edit_queued(&app.session.id, &id, "too late")
            .await,
        app.sessions.remove_queued(&app.session.id, &id).await,
    ] {
        let Err(Failed::Refused(why)) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(why, "This prompt was already sent");
    }
    assert!(
        app.messages()
            .await
            .iter()
            .any(|message| *message.info.id() == id)
    );
}

#[tokio::test]
async fn a_waiting_prompt_cannot_be_made_empty() {
    let model = FakeModel::start().await;
    let (app, mut events, request, next) = busy(&model).await;
    let id = app.send("second").await;
    let refused = app.sessions.edit_queued(&app.session.id, &id, "  ").await;
    assert!(matches!(refused, Err(Failed::Refused(_))));
    allow(&app, &mut events, &request).await;
    assert!(next.request().user_text().contains("second"));
}

#[tokio::test]
async fn an_edit_that_races_with_the_next_step_takes_effect_or_is_refused() {
    for round in 0..12 {
        let model = FakeModel::start().await;
        let (app, mut events, request, next) = busy(&model).await;
        let id = app.send("second").await;
        let change = async {
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
            app.sessions
                .edit_queued(&app.session.id, &id, "changed")
                .await
        };
        let (changed, ()) = tokio::join!(change, allow(&app, &mut events, &request));
        let seen = next.request().user_text();
        match changed {
            Ok(()) => assert!(
                seen.contains("changed") && !seen.contains("second"),
                "{seen}"
            ),
            Err(Failed::Refused(_)) => assert!(seen.contains("second"), "{seen}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn an_abort_leaves_no_prompt_waiting() {
    let model = FakeModel::start().await;
    let (app, _, _, _) = busy(&model).await;
    model.remove_next_reply();
    let mut queue = app.sessions.subscribe();
    let id = app.send("second").await;
    app.sessions.abort(&app.session.id).await;
    assert_eq!(app.sessions.queued(&app.session.id), []);
    assert_eq!(queues(&mut queue), [vec![id], vec![]]);
}

/// The prompts of the session as `text` or `text (not sent)`.
pub async fn prompts(app: &TestApp) -> Vec<String> {
    let messages = app.messages().await;
    let prompts = messages
        .iter()
        .filter_map(|one| Some((one.info.as_user()?, &one.parts)));
    let view = |(user, parts): (&UserMessage, &Vec<Part>)| {
        let Some(Part::Text(text)) = parts.first() else {
            panic!("a prompt without text");
        };
        match user.unsent {
            Some(true) => format!("{} (not sent)", text.text),
            _ => text.text.clone(),
        }
    };
    prompts.map(view).collect()
}

#[tokio::test]
async fn a_prompt_that_waits_when_the_turn_is_stopped_is_not_sent_with_the_next_one() {
    let model = FakeModel::start().await;
    let (app, _, _, _) = busy(&model).await;
    model.remove_next_reply();
    let waiting = app.send("second").await;
    app.send("third").await;
    app.sessions.abort(&app.session.id).await;
    assert_eq!(
        prompts(&app).await,
        ["first", "second (not sent)", "third (not sent)"]
    );

    let next = model.reply([text("fine")]);
    app.ask("fourth").await;
    let asked = next.request();
    let seen = asked.prompt();
    assert!(
        seen.ends_with("fourth") && !seen.contains("second"),
        "{seen}"
    );

    let app = app.restart().await;
    let sent = model.reply([text("at last")]);
    let mut events = app.sessions.subscribe();
    let id = app
        .sessions
        .send_unsent(&app.session.id, &waiting)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(sent.request().prompt().ends_with("second"));
    assert_eq!(
        prompts(&app).await,
        ["first", "third (not sent)", "fourth", "second"]
    );
    let again = app.sessions.send_unsent(&app.session.id, &id).await;
    assert!(matches!(again, Err(Failed::Refused(_))), "it is sent");
}

#[tokio::test]
async fn a_prompt_that_waits_is_stored_as_not_sent_in_case_the_program_is_killed() {
    let model = FakeModel::start().await;
    let (app, mut events, request, next) = busy(&model).await;
    let waiting = app.send("second").await;
    assert_eq!(prompts(&app).await, ["first", "second (not sent)"]);
    let early = app.sessions.send_unsent(&app.session.id, &waiting).await;
    assert!(matches!(early, Err(Failed::Refused(_))), "it waits");

    allow(&app, &mut events, &request).await;
    assert!(next.request().prompt().ends_with("second"));
    assert_eq!(prompts(&app).await, ["first", "second"]);
}

#[tokio::test]
async fn undo_takes_back_the_last_turn_and_not_a_prompt_that_was_never_sent() {
    let model = FakeModel::start().await;
    let (app, _, _, _) = busy(&model).await;
    model.remove_next_reply();
    app.send("second").await;
    app.sessions.abort(&app.session.id).await;
    let outcome = app.sessions.undo_last_turn(&app.session.id, true).await;
    let first = app.messages().await[0].info.id().clone();
    let revert = outcome.unwrap().session.revert;
    assert_eq!(revert.map(|revert| revert.message_id), Some(first));
    // Of the two that the next prompt would delete, one was never answered.
    let refused = app.sessions.prompt(
        &app.session.id,
        PromptInput {
            text: "third".to_owned(),
            ..PromptInput::default()
        },
    );
    assert!(matches!(refused.await, Err(Failed::NeedsConsent(_))));
}

#[tokio::test]
async fn a_prompt_that_was_not_sent_can_be_removed() {
    let model = FakeModel::start().await;
    let (app, _, _, _) = busy(&model).await;
    model.remove_next_reply();
    let waiting = app.send("second").await;
    app.sessions.abort(&app.session.id).await;
    app.sessions
        .remove_queued(&app.session.id, &waiting)
        .await
        .unwrap();
    assert_eq!(prompts(&app).await, ["first"]);
    let first = app.messages().await[0].info.id().clone();
    let sent = app.sessions.remove_queued(&app.session.id, &first).await;
    assert!(
        matches!(sent, Err(Failed::Refused(_))),
        "a prompt that was sent stays"
    );
}

#[tokio::test]
async fn a_prompt_that_waits_when_the_turn_fails_begins_the_next_one() {
    let model = FakeModel::start().await;
    model.reply([call(
        "bash",
        json!({ "command": "touch made", "description": "Touch" }),
    )]);
    let app = TestApp::with_model(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("first").await;
    let request = app.next_permission(&mut events).await;
    let next = model.reply([text("answered")]);
    app.send("second").await;
    let no = Answer::Reject { message: None };
    app.sessions
        .answer_permission(&request.id, no)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(next.request().prompt().ends_with("second"));
    let idle = std::iter::from_fn(|| events.try_next()).filter(|item| {
        matches!(item, BusItem::Notification(notice) if matches!(&notice.notification,
            Notification::Event(event) if matches!(**event, Event::SessionIdle { .. })))
    });
    assert_eq!(idle.count(), 0, "idle was published once");
}
