//! What another process does with the same data appears here without a restart.

use std::time::Duration;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Event, Part, SessionId};
use lathe_provider::WireKind;
use lathe_session::bus::{Notification, Subscription};
use lathe_test_support::app::{TestApp, until};
use lathe_test_support::fake_model::{FakeModel, Gate, hold, text};

/// Longer than any change takes to appear.
const NEVER: Duration = Duration::from_secs(30);

async fn wait_for(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) -> Vec<Notification> {
    let found = tokio::time::timeout(NEVER, until(events, wanted)).await;
    found.expect("it does not appear")
}

fn created(id: &SessionId) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::SessionCreated { info } if info.id == *id)
}

#[tokio::test]
async fn a_session_that_another_process_makes_renames_and_removes_is_published() {
    let app = TestApp::start().await;
    let _following = app.sessions.follow_other_processes().unwrap();
    let mut events = app.sessions.subscribe();
    let other = app.second_process().await;

    let session = other.create(&app.project, None).await.unwrap();
    wait_for(&mut events, created(&session.id)).await;

    other.rename(&session.id, "Named elsewhere").await.unwrap();
    let is_renamed = |event: &Event| {
        matches!(event, Event::SessionUpdated { info }
            if info.id == session.id && info.title == "Named elsewhere")
    };
    wait_for(&mut events, is_renamed).await;

    other.remove(&session.id).await.unwrap();
    let is_removed =
        |event: &Event| matches!(event, Event::SessionDeleted { info } if info.id == session.id);
    wait_for(&mut events, is_removed).await;
}

#[tokio::test]
async fn a_session_that_was_here_before_is_changed_and_not_made_by_another_process() {
    let app = TestApp::start().await;
    // So that its record is in its file.
    let app = app.restart().await;
    let _following = app.sessions.follow_other_processes().unwrap();
    let mut events = app.sessions.subscribe();
    let other = app.second_process().await;
    other.rename(&app.session.id, "Named there").await.unwrap();
    let is_named = |event: &Event| {
        matches!(event, Event::SessionCreated { info } | Event::SessionUpdated { info }
            if info.id == app.session.id)
    };
    let published = wait_for(&mut events, is_named).await;
    let Some(Notification::Event(event)) = published.last() else {
        panic!("{published:?}");
    };
    assert!(
        matches!(&**event, Event::SessionUpdated { .. }),
        "{event:?}"
    );
}

#[tokio::test]
async fn what_this_process_does_is_published_once() {
    let app = TestApp::start().await;
    let _following = app.sessions.follow_other_processes().unwrap();
    let mut events = app.sessions.subscribe();
    let own = app.sessions.create(&app.project, None).await.unwrap();
    let other = app.second_process().await;
    let theirs = other.create(&app.project, None).await.unwrap();
    let published = wait_for(&mut events, created(&theirs.id)).await;
    let is_own = created(&own.id);
    let own = published
        .iter()
        .filter(|one| matches!(one, Notification::Event(event) if is_own(event)));
    assert_eq!(own.count(), 1);
}

#[tokio::test]
async fn a_turn_of_another_process_is_followed_while_it_runs() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let _following = app.sessions.follow_other_processes().unwrap();
    let mut events = app.sessions.subscribe();
    let other = app.second_process().await;
    let gate = Gate::closed();
    model.reply([
        text("The first half"),
        hold(&gate),
        text(" and the second."),
    ]);

    let input = PromptInput {
        text: "tell me".to_owned(),
        ..PromptInput::default()
    };
    other.prompt(&app.session.id, input).await.unwrap();
    let says = |event: &Event, wanted: &str| {
        matches!(event, Event::MessagePartUpdated(updated)
            if matches!(&updated.part, Part::Text(part) if part.text == wanted))
    };
    wait_for(&mut events, |event| says(event, "The first half")).await;
    gate.open();
    wait_for(&mut events, |event| {
        says(event, "The first half and the second.")
    })
    .await;
}
