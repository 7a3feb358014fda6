//! A window gets the whole state at its start, after a reload and after lost notices.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use lathe_protocol::ipc::{Activity, UiBatch, UiUpdate};
use lathe_protocol::{PermissionRequest, SessionStatus};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_session::bus::BusItem;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;
use tauri::ipc::{Channel, InvokeResponseBody};
use tokio::sync::mpsc;

use super::Bridge;
use super::frame::Frame;

/// A text that the renderer fails on.
pub const UNDRAWABLE: &str = "%UNDRAWABLE%";
/// How often it has failed.
pub static FAULTS: AtomicUsize = AtomicUsize::new(0);

pub fn fail_if_undrawable(text: &str) {
    if text.contains(UNDRAWABLE) {
        FAULTS.fetch_add(1, Ordering::SeqCst);
        panic!("a fault");
    }
}

/// A channel to a page, and what the page was sent.
fn page() -> (Channel<UiBatch>, mpsc::UnboundedReceiver<Vec<UiUpdate>>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let channel = Channel::new(move |body| {
        let InvokeResponseBody::Json(body) = body else {
            panic!("bytes where a batch should be")
        };
        let batch: UiBatch = serde_json::from_str(&body).unwrap();
        // The page may be gone.
        let _ = sender.send(batch.updates);
        Ok(())
    });
    (channel, receiver)
}

async fn next(page: &mut mpsc::UnboundedReceiver<Vec<UiUpdate>>) -> Vec<UiUpdate> {
    let batch = tokio::time::timeout(Duration::from_secs(20), page.recv()).await;
    batch.expect("a batch in time").expect("a fed page")
}

/// A session that no window has open, and that waits for permission to run a command.
async fn waiting(model: &FakeModel) -> (TestApp, PermissionRequest) {
    let command = json!({ "command": "touch made", "description": "Touch" });
    model.reply([call("bash", command)]);
    model.reply([text("done")]);
    let app = TestApp::with_model(model, WireKind::OpenaiChat).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    (app, request)
}

async fn expected(app: &TestApp, request: &PermissionRequest) -> [UiUpdate; 2] {
    let session = app.sessions.get(&app.session.id).await.unwrap();
    let activity = Activity {
        statuses: [(session.id.clone(), SessionStatus::Busy)].into(),
        permissions: vec![request.clone()],
        questions: Vec::new(),
        failed: Vec::new(),
        sessions: vec![session.shortened()],
    };
    [
        UiUpdate::Activity { activity },
        UiUpdate::Store { problem: None },
    ]
}

#[tokio::test]
async fn a_page_is_first_sent_what_all_sessions_do_and_again_when_it_is_reloaded() {
    let model = FakeModel::start().await;
    let (app, request) = waiting(&model).await;
    let bridge = Arc::new(Bridge::new(app.sessions.clone()));
    for _ in 0..2 {
        let (channel, mut batches) = page();
        bridge.clone().feed(channel);
        let first = next(&mut batches).await;
        assert_eq!(first, expected(&app, &request).await);
    }
}

#[tokio::test]
async fn what_happens_right_after_a_page_is_fed_reaches_it() {
    let model = FakeModel::start().await;
    let (app, request) = waiting(&model).await;
    let mut events = app.sessions.subscribe();
    let bridge = Arc::new(Bridge::new(app.sessions.clone()));
    let (channel, mut batches) = page();
    bridge.feed(channel);
    app.sessions
        .answer_permission(&request.id, Answer::Once)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    let mut statuses = Vec::new();
    while statuses.last() != Some(&SessionStatus::Idle) {
        statuses.extend(next(&mut batches).await.into_iter().filter_map(status));
    }
}

fn status(update: UiUpdate) -> Option<SessionStatus> {
    match update {
        UiUpdate::Event {
            event: lathe_protocol::Event::SessionStatus { status, .. },
        } => Some(status),
        _ => None,
    }
}

#[tokio::test]
async fn a_page_that_missed_notices_opens_its_session_again_and_is_sent_the_whole_state() {
    let model = FakeModel::start().await;
    let (app, request) = waiting(&model).await;
    let open = app.sessions.create(&app.project, None).await.unwrap();
    let bridge = Bridge::new(app.sessions.clone());
    bridge.open(&open.id, 10).await.unwrap();
    let mut frame = Frame::new(app.sessions.clone(), bridge.roots.clone());
    bridge.take(&mut frame, BusItem::Missed).await;
    let reset = UiUpdate::Reset {
        session_id: open.id,
    };
    let mut wanted = vec![reset];
    wanted.extend(expected(&app, &request).await);
    assert_eq!(frame.finish(), wanted);
}

#[tokio::test]
async fn a_page_is_sent_everything_again_after_a_fault_of_the_program() {
    let model = FakeModel::start().await;
    let (app, request) = waiting(&model).await;
    let bridge = Arc::new(Bridge::new(app.sessions.clone()));
    let (channel, mut batches) = page();
    let faults = Arc::new(AtomicUsize::new(0));
    let faulty = Channel::new(move |body| {
        if faults.fetch_add(1, Ordering::SeqCst) == 0 {
            panic!("a fault");
        }
        let InvokeResponseBody::Json(body) = body else {
            panic!("bytes where a batch should be")
        };
        let batch: serde_json::Value = serde_json::from_str(&body).unwrap();
        channel.send(serde_json::from_value(batch).unwrap())
    });
    bridge.clone().feed(faulty);
    bridge.open(&app.session.id, 10).await.unwrap();
    let mut wanted = vec![UiUpdate::Reset {
        session_id: app.session.id.clone(),
    }];
    wanted.extend(expected(&app, &request).await);
    assert_eq!(next(&mut batches).await, wanted);
}

#[tokio::test]
async fn a_reloaded_page_has_nothing_open() {
    let app = TestApp::start().await;
    let bridge = Arc::new(Bridge::new(app.sessions.clone()));
    bridge.open(&app.session.id, 10).await.unwrap();
    let (channel, _batches) = page();
    bridge.clone().feed(channel);
    assert!(bridge.open.lock().is_empty());
}

/// Whether a page takes what it is sent.
#[derive(Clone, Default)]
struct Stall(Arc<(Mutex<bool>, Condvar)>);

impl Stall {
    fn set(&self, stalled: bool) {
        let (now, changed) = &*self.0;
        *now.lock().unwrap() = stalled;
        changed.notify_all();
    }

    fn wait(&self) {
        let (now, changed) = &*self.0;
        drop(changed.wait_while(now.lock().unwrap(), |now| *now).unwrap());
    }
}

/// More than the notices that are kept for a page.
const MISSED: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_missed_ten_thousand_notices_is_as_the_core_within_a_second() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let bridge = Arc::new(Bridge::new(app.sessions.clone()));
    let (channel, mut batches) = page();
    let stall = Stall::default();
    let stalled = stall.clone();
    let stalling = Channel::new(move |body| {
        stalled.wait();
        let InvokeResponseBody::Json(body) = body else {
            panic!("bytes where a batch should be")
        };
        let batch: serde_json::Value = serde_json::from_str(&body).unwrap();
        channel.send(serde_json::from_value(batch).unwrap())
    });
    bridge.clone().feed(stalling);
    next(&mut batches).await;
    let id = &app.session.id;
    for gap in 0..3 {
        bridge.open(id, 10).await.unwrap();
        stall.set(true);
        model.reply((0..MISSED).map(|piece| text(format!("{gap}.{piece} "))));
        app.send("count").await;
        while app.sessions.status(id) != SessionStatus::Idle {
            tokio::task::yield_now().await;
        }
        model.forget();
        stall.set(false);
        let begun = Instant::now();
        let told = loop {
            let batch = next(&mut batches).await;
            if batch.contains(&UiUpdate::Reset {
                session_id: id.clone(),
            }) {
                break batch;
            }
        };
        let took = begun.elapsed();
        let activity = app.sessions.activity().await;
        let wanted = [
            UiUpdate::Reset {
                session_id: id.clone(),
            },
            UiUpdate::Activity { activity },
            UiUpdate::Store { problem: None },
        ];
        // What was kept for the page follows.
        assert_eq!(told[..wanted.len()], wanted, "after gap {gap}");
        let view = bridge.open(id, 10).await.unwrap();
        let stored = app.messages().await;
        let infos: Vec<_> = stored.into_iter().map(|one| one.info.shortened()).collect();
        let shown: Vec<_> = view.messages.iter().map(|one| one.info.clone()).collect();
        assert_eq!(shown, infos, "after gap {gap}");
        assert!(took < Duration::from_secs(1), "gap {gap} took {took:?}");
    }
}
