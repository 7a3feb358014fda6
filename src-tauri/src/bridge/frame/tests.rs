//! The updates of a window add up to the stored answer, however they are divided into frames.

use std::collections::HashMap;

use lathe_protocol::ipc::UiUpdate;
use lathe_protocol::{Event, PartId};
use lathe_provider::WireKind;
use lathe_render::markdown::{self, Options};
use lathe_session::bus::{BusItem, Notification, Subscription};
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, Gate, hold, text};

use super::Frame;
use crate::bridge::tests::{FAULTS, UNDRAWABLE};
use crate::bridge::view::{self, Roots};

/// The blocks of each part, as a window holds them.
#[derive(Default)]
struct Screen {
    blocks: HashMap<PartId, Vec<String>>,
    updates: usize,
    /// The bytes of the largest update.
    largest: usize,
}

impl Screen {
    fn apply(&mut self, updates: Vec<UiUpdate>) {
        self.updates += updates.len();
        for update in updates {
            let bytes = serde_json::to_vec(&update).unwrap().len();
            self.largest = self.largest.max(bytes);
            match update {
                UiUpdate::Part { part } => {
                    if let Some(blocks) = part.blocks {
                        self.blocks.insert(part.part.id().clone(), blocks);
                    }
                }
                UiUpdate::Blocks {
                    part_id,
                    keep,
                    blocks,
                    ..
                } => {
                    let shown = self.blocks.entry(part_id).or_default();
                    assert!(shown.len() >= keep as usize, "a gap in the blocks");
                    shown.truncate(keep as usize);
                    shown.extend(blocks);
                }
                UiUpdate::Activity { .. }
                | UiUpdate::Event { .. }
                | UiUpdate::Queue { .. }
                | UiUpdate::Reset { .. }
                | UiUpdate::Review { .. }
                | UiUpdate::Outside { .. }
                | UiUpdate::Store { .. } => {}
            }
        }
    }
}

/// Passes the notices of one turn to a frame, and ends a frame after every `per_frame` of them.
async fn watch(app: &TestApp, mut events: Subscription, per_frame: usize, open: bool) -> Screen {
    let mut frame = Frame::new(app.sessions.clone(), Roots::default());
    let mut screen = Screen::default();
    let mut taken = 0;
    loop {
        let Some(BusItem::Notification(notice)) = events.next().await else {
            panic!("fell behind")
        };
        let over = is_idle(&notice.notification);
        frame.take(notice.notification, open);
        taken += 1;
        if over || taken % per_frame == 0 {
            screen.apply(frame.finish());
        }
        if over {
            return screen;
        }
    }
}

fn is_idle(notification: &Notification) -> bool {
    matches!(notification, Notification::Event(event)
        if matches!(**event, Event::SessionIdle { .. }))
}

async fn rendered(app: &TestApp) -> HashMap<PartId, Vec<String>> {
    let mut expected = HashMap::new();
    for part in app
        .messages()
        .await
        .into_iter()
        .flat_map(|message| message.parts)
    {
        if let Some(text) = view::text(&part) {
            let blocks = markdown::render(text, &Options::default());
            expected.insert(part.id().clone(), blocks);
        }
    }
    expected
}

#[tokio::test]
async fn frames_of_any_length_add_up_to_the_stored_answer() {
    for per_frame in [1, 3, 50, 100_000] {
        let app = TestApp::start().await;
        let events = app.sessions.subscribe();
        app.ask("hello").await;
        let screen = watch(&app, events, per_frame, true).await;
        assert_eq!(
            screen.blocks,
            rendered(&app).await,
            "{per_frame} notices a frame"
        );
    }
}

#[tokio::test]
async fn a_frame_sends_each_change_once() {
    let app = TestApp::start().await;
    let events = app.sessions.subscribe();
    app.ask("hello").await;
    let screen = watch(&app, events, 100_000, true).await;
    assert!(
        screen.updates < 30,
        "{} updates in one frame",
        screen.updates
    );
}

#[tokio::test]
async fn a_window_gets_no_parts_of_sessions_that_are_not_open() {
    let app = TestApp::start().await;
    let events = app.sessions.subscribe();
    app.ask("hello").await;
    let screen = watch(&app, events, 10, false).await;
    assert_eq!(screen.blocks, HashMap::new());
    assert!(screen.updates > 0, "but it hears that the session was busy");
}

#[tokio::test]
async fn a_session_that_is_closed_while_it_streams_leaves_nothing_behind() {
    let (model, gate) = (FakeModel::start().await, Gate::closed());
    model.reply([text("Half of it"), hold(&gate), text(" and the rest.")]);
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let mut frame = Frame::new(app.sessions.clone(), Roots::default());
    let mut is_open = true;
    loop {
        let Some(BusItem::Notification(notice)) = events.next().await else {
            panic!("fell behind")
        };
        let streams = matches!(notice.notification, Notification::Delta(_));
        let over = is_idle(&notice.notification);
        frame.take(notice.notification, is_open);
        frame.finish();
        if streams && is_open {
            assert_eq!(frame.streams.len(), 1);
            is_open = false;
            gate.open();
        }
        if over {
            break;
        }
    }
    assert_eq!(frame.streams.len(), 0);
}

#[tokio::test]
async fn of_a_text_that_is_too_long_a_page_is_sent_the_beginning() {
    let model = FakeModel::start().await;
    model.reply([text("rose ".repeat(6_000))]);
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let events = app.sessions.subscribe();
    app.ask("go").await;
    let streamed = watch(&app, events, 50, true).await;
    assert!(streamed.largest < 20_000, "{} bytes", streamed.largest);

    let id = &app.session.id;
    let opened = view::session(&app.sessions, &Roots::default(), id, 10).await;
    let messages = opened.unwrap().messages;
    let parts = messages.iter().flat_map(|message| &message.parts);
    let long: Vec<_> = parts.filter(|part| part.cut).collect();
    assert_eq!(long.len(), 1);
    let beginning = format!("{}…", &"rose ".repeat(6_000)[..1_024]);
    assert_eq!(view::text(&long[0].part), Some(beginning.as_str()));
    assert_eq!(
        long[0].blocks.as_ref(),
        streamed.blocks.get(long[0].part.id())
    );
}

#[tokio::test]
async fn a_reset_replaces_all_gathered_updates() {
    let app = TestApp::start().await;
    let mut frame = Frame::new(app.sessions.clone(), Roots::default());
    frame.add(UiUpdate::Store { problem: None });
    frame.reset(vec![app.session.id.clone()]);
    assert_eq!(
        frame.finish(),
        [UiUpdate::Reset {
            session_id: app.session.id.clone()
        }]
    );
}

#[tokio::test]
async fn a_text_that_cannot_be_drawn_is_shown_as_it_is_and_not_tried_again_and_again() {
    let (model, gate) = (FakeModel::start().await, Gate::closed());
    let rest: Vec<_> = (0..50).map(|line| text(format!("Line {line}\n"))).collect();
    let mut said = vec![text(format!("{UNDRAWABLE}\n")), hold(&gate)];
    said.extend(rest);
    model.reply(said);
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let events = app.sessions.subscribe();
    app.send("go").await;
    gate.open();
    let screen = watch(&app, events, 1, true).await;

    let answer = app.messages().await.pop().unwrap();
    let answer = answer.parts.iter().find(|part| view::text(part).is_some());
    let answer = answer.unwrap();
    let plain = markdown::plain(view::text(answer).unwrap());
    assert_eq!(screen.blocks[answer.id()], plain);
    // Once while it streamed, and once when it had ended.
    assert_eq!(FAULTS.load(std::sync::atomic::Ordering::SeqCst), 2);
}
