//! The updates of a window add up to the stored answer, however they are divided into frames.

use std::collections::HashMap;

use lathe_protocol::ipc::UiUpdate;
use lathe_protocol::{Event, PartId};
use lathe_render::markdown::{self, Options};
use lathe_session::bus::{BusItem, Notification, Subscription};
use lathe_test_support::app::TestApp;

use super::Frame;
use crate::bridge::view::{self, Roots};

/// The blocks of each part, as a window holds them.
#[derive(Default)]
struct Screen {
    blocks: HashMap<PartId, Vec<String>>,
    updates: usize,
}

impl Screen {
    fn apply(&mut self, updates: Vec<UiUpdate>) {
        self.updates += updates.len();
        for update in updates {
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
        let over = matches!(&notice.notification, Notification::Event(event)
            if matches!(**event, Event::SessionIdle { .. }));
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
