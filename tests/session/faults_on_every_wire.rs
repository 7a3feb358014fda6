//! Every fault of a provider, on every wire: the session always becomes idle again.
//!
//! Each fault occurs once, after which the provider answers, and again on every attempt.

use std::time::Duration;

use lathe_protocol::{Event, Finish, MessageError, SessionStatus};
use lathe_provider::WireKind;
use lathe_session::bus::{BusItem, Notification, Subscription};
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{
    FakeModel, Item, Refusal, Reply, bad_json, call, cut, reset, stall, text,
};
use serde_json::json;

const WIRES: [WireKind; 4] = [
    WireKind::Anthropic,
    WireKind::OpenaiChat,
    WireKind::OpenaiResponses,
    WireKind::Gemini,
];

const PATIENCE: Duration = Duration::from_millis(400);
const MOST_RETRIES: usize = 5;

struct Fault {
    name: &'static str,
    reply: fn() -> Reply,
    passes: bool,
}

/// Every fault, and whether it is retried.
const FAULTS: [Fault; 13] = [
    fault("hang before the first byte", || Reply::Hang, false),
    fault(
        "hang after the first byte",
        || say([text("so far"), stall()]),
        false,
    ),
    fault("truncated", || say([text("half of it"), cut()]), true),
    fault(
        "truncated after a call",
        || say([touch("late"), cut()]),
        true,
    ),
    fault(
        "malformed JSON",
        || say([text("a"), bad_json(), text("b")]),
        false,
    ),
    fault("401", || refuse(401, &[]), false),
    fault("429", || refuse(429, &[("retry-after", "7")]), true),
    fault("500", || refuse(500, &[]), true),
    fault("529", || refuse(529, &[("retry-after-ms", "1500")]), true),
    fault("reset before a call", || say([text("I"), reset()]), true),
    fault("reset after a call", || say([touch("late"), reset()]), true),
    fault("connection closed", || Reply::Drop, true),
    fault("empty stream", || Reply::Empty, true),
];

const fn fault(name: &'static str, reply: fn() -> Reply, passes: bool) -> Fault {
    Fault {
        name,
        reply,
        passes,
    }
}

fn say<const N: usize>(items: [Item; N]) -> Reply {
    Reply::Say(items.into())
}

fn refuse(status: u16, headers: &[(&str, &str)]) -> Reply {
    Reply::Refuse(Refusal::new(status, headers, "not now"))
}

/// A call that appends a line each time it runs.
fn touch(line: &str) -> Item {
    call(
        "bash",
        json!({ "command": format!("echo {line} >> runs.txt"), "description": "Counts itself" }),
    )
}

async fn app(model: &FakeModel, wire: WireKind) -> TestApp {
    TestApp::with_patience(model, wire, PATIENCE)
        .await
        .file("runs.txt", "")
        .rule("*", "*", lathe_protocol::Action::Allow)
}

/// Advances the clock at every retry until the session is idle. Returns the number of retries.
async fn rest(app: &TestApp, events: &mut Subscription) -> usize {
    let mut retries = 0;
    loop {
        let BusItem::Notification(notice) = events.next().await.expect("the program is running")
        else {
            panic!("the test fell behind");
        };
        let Notification::Event(event) = notice.notification else {
            continue;
        };
        match &*event {
            Event::SessionIdle { session_id } if *session_id == app.session.id => return retries,
            Event::SessionStatus {
                status: SessionStatus::Retry { .. },
                ..
            } => {
                retries += 1;
                app.clock.advance(Duration::from_secs(60));
            }
            _ => {}
        }
    }
}

/// How the newest answer ended.
async fn ending(app: &TestApp) -> (Option<Finish>, Option<MessageError>) {
    let messages = app.messages().await;
    let answer = messages
        .iter()
        .rev()
        .find_map(|one| one.info.as_assistant());
    let answer = answer.expect("an answer");
    (answer.finish.clone(), answer.error.clone())
}

/// Sends a prompt and waits until the session is idle. Returns the number of retries and what ran.
async fn go(app: &TestApp) -> (usize, String) {
    std::fs::write(app.path("runs.txt"), "").expect("the count begins anew");
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let retries = rest(app, &mut events).await;
    (retries, app.read("runs.txt"))
}

#[tokio::test]
async fn a_temporary_fault_is_retried_and_every_call_runs_once() {
    for wire in WIRES {
        let model = FakeModel::start().await;
        let app = app(&model, wire).await;
        for fault in FAULTS.iter().filter(|fault| fault.passes) {
            model.reply_with((fault.reply)());
            model.reply([touch("once")]);
            model.reply([text("done")]);
            let seen = (go(&app).await, ending(&app).await);
            let wanted = ((1, "once\n".to_owned()), (Some(Finish::Stop), None));
            assert_eq!(seen, wanted, "{} on {wire:?}", fault.name);
        }
    }
}

#[tokio::test]
async fn a_permanent_fault_is_reported_and_the_next_prompt_is_answered() {
    for wire in WIRES {
        let model = FakeModel::start().await;
        let app = app(&model, wire).await;
        for fault in &FAULTS {
            let place = format!("{} on {wire:?}", fault.name);
            let tries = if fault.passes { MOST_RETRIES + 1 } else { 1 };
            for _ in 0..tries {
                model.reply_with((fault.reply)());
            }
            let no_call_of_a_failed_step_runs = String::new();
            let wanted = (tries - 1, no_call_of_a_failed_step_runs);
            assert_eq!(go(&app).await, wanted, "{place}");
            assert_eq!(model.unused_replies(), 0, "{place}");
            let (finish, error) = ending(&app).await;
            assert_eq!(finish, Some(Finish::Error), "{place}");
            let error = error.unwrap_or_else(|| panic!("{place} is not success"));
            assert!(!error.message().is_empty(), "{place}");

            model.reply([text("here again")]);
            go(&app).await;
            assert_eq!(ending(&app).await, (Some(Finish::Stop), None), "{place}");
        }
    }
}

#[tokio::test]
async fn characters_split_between_chunks_arrive_whole() {
    let said = "Grüße, 世界 🌍, ελληνικά.";
    for wire in WIRES {
        for bytes in 1..=4 {
            let model = FakeModel::start().await;
            model.split(bytes);
            model.reply([text(said)]);
            let app = TestApp::with_model(&model, wire).await;
            app.ask("go").await;
            let messages = app.messages().await;
            let texts: Vec<_> = messages[1].parts.iter().filter_map(text_of).collect();
            assert_eq!(texts, [said], "{bytes} bytes at a time on {wire:?}");
        }
    }
}

#[tokio::test]
async fn a_line_of_a_megabyte_is_handled() {
    let long = "x".repeat(1 << 20);
    let model = FakeModel::start().await;
    // This API sends arguments in one piece, on one line.
    model.reply([call(
        "write",
        json!({ "filePath": "long.txt", "content": long }),
    )]);
    model.reply([text("written")]);
    let app = app(&model, WireKind::Gemini).await;
    app.ask("go").await;
    assert_eq!(app.calls().await, ["write: completed"]);
    assert!(app.read("long.txt") == long);
}

fn text_of(part: &lathe_protocol::Part) -> Option<&str> {
    match part {
        lathe_protocol::Part::Text(part) => Some(part.text.as_str()),
        _ => None,
    }
}
