//! A prompt is answered; everything is stored, then published.

use std::collections::HashMap;
use std::path::Path;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Event, Finish, Message, MessageError, Part, SessionStatus};
use lathe_session::Failed;
use lathe_session::bus::{BusItem, Notification};
use lathe_store::{Options, Store};
use lathe_test_support::app::{TestApp, until};
use tempfile::TempDir;

const ANSWERED: [&str; 2] = [
    "user: text",
    "assistant: step-start reasoning text step-finish",
];

#[tokio::test]
async fn a_prompt_is_answered_by_one_message_of_one_step() {
    let app = TestApp::start().await;
    let prompt = app.ask("hello").await;

    assert_eq!(app.outline().await, ANSWERED);
    let messages = app.messages().await;
    let answer = messages[1].info.as_assistant().unwrap();
    assert_eq!(answer.parent_id, prompt);
    assert_eq!(answer.finish, Some(Finish::Stop));
    assert_eq!(answer.error, None);
    assert!(answer.time.completed.is_some());
    let Part::Text(text) = &messages[1].parts[2] else {
        panic!("no text")
    };
    assert!(text.text.contains("demo"), "{}", text.text);
    assert_eq!(text.text, text.text.trim_end());
    assert_eq!(app.sessions.status(&app.session.id), SessionStatus::Idle);
}

#[tokio::test]
async fn everything_that_is_published_is_already_stored() {
    let app = TestApp::start().await;
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    loop {
        let Some(BusItem::Notification(notice)) = events.next().await else {
            panic!("nothing was published")
        };
        let Notification::Event(event) = notice.notification else {
            continue;
        };
        let survivor = after_a_kill(app.data_dir()).await;
        match &*event {
            Event::SessionIdle { .. } => break,
            Event::MessagePartUpdated(updated) => {
                let part = &updated.part;
                let found = survivor.store.part(part.message_id(), part.id()).await;
                // It may have been removed since; it was there before.
                let folder = survivor.folder.path().join("storage/part");
                let folder = folder.join(part.message_id().as_str());
                let early = format!("{} was published before it was written", part.id());
                assert!(found.unwrap().is_some() || folder.exists(), "{early}");
            }
            Event::MessageUpdated { info } => {
                let store = &survivor.store;
                let found = store.message_info(info.session_id(), info.id()).await;
                assert!(
                    found.unwrap().is_some(),
                    "{} was published too early",
                    info.id()
                );
            }
            _ => {}
        }
    }
}

struct Survivor {
    folder: TempDir,
    store: Store,
}

/// The data as it would be found if the app were killed now.
async fn after_a_kill(data: &Path) -> Survivor {
    let folder = tempfile::tempdir().unwrap();
    // The journal first: entries that are no longer in it are in the files by then.
    for name in ["locks", "storage"] {
        copy(&data.join(name), &folder.path().join(name));
    }
    let store = Store::open(folder.path(), Options::default()).await;
    let store = store.unwrap();
    Survivor { folder, store }
}

/// The app is still running, so a file may be gone when it is to be copied.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to)),
        }
    }
}

#[tokio::test]
async fn deltas_add_up_to_the_stored_text() {
    let app = TestApp::start().await;
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    let published = until(&mut events, |event| {
        matches!(event, Event::SessionIdle { .. })
    })
    .await;

    let mut texts: HashMap<_, String> = HashMap::new();
    for one in published {
        if let Notification::Delta(delta) = one {
            let text = texts.entry(delta.part_id.clone()).or_default();
            assert_eq!(text.len(), delta.at, "a delta says where it belongs");
            text.push_str(&delta.text);
        }
    }
    let mut compared = 0;
    for part in app
        .messages()
        .await
        .iter()
        .flat_map(|message| &message.parts)
    {
        let text = match part {
            Part::Text(part) => &part.text,
            Part::Reasoning(part) => &part.text,
            _ => continue,
        };
        if let Some(streamed) = texts.get(part.id()) {
            assert_eq!(streamed.trim_end(), text);
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
}

#[tokio::test]
async fn a_turn_publishes_busy_then_idle() {
    let app = TestApp::start().await;
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    let published = until(&mut events, |event| {
        matches!(event, Event::SessionIdle { .. })
    })
    .await;
    let statuses: Vec<_> = published
        .iter()
        .filter_map(|published| match published {
            Notification::Event(event) => match &**event {
                Event::SessionStatus { status, .. } => Some(status.clone()),
                _ => None,
            },
            Notification::Delta(_) | Notification::Queue(_) | Notification::Review(_) => None,
        })
        .collect();
    assert_eq!(statuses, [SessionStatus::Busy, SessionStatus::Idle]);
}

#[tokio::test]
async fn prompts_sent_at_the_same_time_are_all_stored_and_the_newest_is_answered() {
    let app = TestApp::start().await;
    let mut events = app.sessions.subscribe();
    let (a, b, c) = tokio::join!(app.send("one"), app.send("two"), app.send("three"));
    until(&mut events, |event| {
        matches!(event, Event::SessionIdle { .. })
    })
    .await;

    let messages = app.messages().await;
    let mut users: Vec<_> = messages
        .iter()
        .filter(|one| one.info.as_user().is_some())
        .collect();
    assert_eq!(users.len(), 3);
    let newest = users.pop().unwrap().info.id().clone();
    assert!([a, b, c].contains(&newest));
    let answered = messages.iter().any(|message| {
        message
            .info
            .as_assistant()
            .is_some_and(|answer| answer.parent_id == newest)
    });
    assert!(answered, "{:?}", app.outline().await);
}

#[tokio::test]
async fn an_aborted_turn_is_settled_and_the_next_prompt_runs() {
    let app = TestApp::start().await;
    let mut events = app.sessions.subscribe();
    app.send("hello").await;
    until(&mut events, |event| {
        matches!(event, Event::MessagePartUpdated(_))
    })
    .await;
    app.sessions.abort(&app.session.id).await;

    assert_eq!(app.sessions.status(&app.session.id), SessionStatus::Idle);
    for message in app.messages().await {
        if let Message::Assistant(info) = message.info {
            assert!(info.time.completed.is_some());
            assert!(matches!(info.error, None | Some(MessageError::Aborted(_))));
        }
    }
    app.ask("again").await;
    let last = app.outline().await.pop().unwrap();
    assert_eq!(last, ANSWERED[1]);
}

#[tokio::test]
async fn an_empty_prompt_is_refused_and_leaves_nothing_behind() {
    let app = TestApp::start().await;
    let input = PromptInput {
        text: " \n".into(),
        ..PromptInput::default()
    };
    let refused = app.sessions.prompt(&app.session.id, input).await;
    assert!(matches!(refused, Err(Failed::Refused(_))));
    assert_eq!(app.outline().await, Vec::<String>::new());
    assert_eq!(app.sessions.status(&app.session.id), SessionStatus::Idle);
}
