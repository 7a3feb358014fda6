//! A panic anywhere in a turn ends the turn, and never leaves its session busy.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{
    Action, Event, MessageError, MessageWithParts, Part, Session, SessionStatus, ToolState,
};
use lathe_provider::WireKind;
use lathe_session::Author;
use lathe_session::bus::Subscription;
use lathe_test_support::app::{TestApp, until};
use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_tools::{Effect, Tool, ToolContext, ToolFailure, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

const WIRE: WireKind = WireKind::OpenaiChat;
const INJECTED: &str = "injected fault";

/// How many places a panic is injected at.
const FAULTS: i64 = 100;

/// Longer than any turn here takes, so that a session that stays busy fails the test.
const HANGS: Duration = Duration::from_secs(60);

/// Panics when it has been called a number of times.
#[derive(Clone)]
struct Fuse {
    left: Arc<AtomicI64>,
    /// When it panicked.
    burnt: Arc<Mutex<Option<Instant>>>,
}

impl Fuse {
    fn new() -> Self {
        Fuse {
            left: Arc::new(AtomicI64::new(i64::MAX)),
            burnt: Arc::default(),
        }
    }

    fn set(&self, after: i64) {
        self.left.store(after, Ordering::SeqCst);
    }

    fn left(&self) -> i64 {
        self.left.load(Ordering::SeqCst)
    }

    fn burn(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            *self.burnt.lock().unwrap() = Some(Instant::now());
            panic!("{INJECTED}");
        }
    }
}

/// A session is idle again this soon after a panic.
const PROMISED: Duration = Duration::from_secs(1);

/// The panics of these tests are expected; all others are printed as usual.
fn hide_injected_panics() {
    static HIDDEN: Once = Once::new();
    HIDDEN.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.payload().downcast_ref::<String>();
            if !text.is_some_and(|text| text.contains(INJECTED)) {
                usual(panic);
            }
        }));
    });
}

async fn start(model: &FakeModel, fuse: &Fuse) -> TestApp {
    hide_injected_panics();
    let fuse = fuse.clone();
    let app = TestApp::with_model(model, WIRE)
        .await
        .file("a.txt", "one\n");
    let app = app.restart_with(|options| {
        options.before_poll = Some(Arc::new(move |_| fuse.burn()));
        options.tools = lathe_tools::Registry::builtin().with(Broken);
    });
    app.await.rule("*", "*", Action::Allow)
}

fn script(model: &FakeModel) {
    model.forget();
    model.reply([
        text("Let me look and write."),
        call("read", json!({ "filePath": "a.txt" })),
        call("write", json!({ "filePath": "b.txt", "content": "two\n" })),
    ]);
    model.reply([text("Done.")]);
}

fn prompt() -> PromptInput {
    PromptInput {
        text: "go".to_owned(),
        ..PromptInput::default()
    }
}

/// Waits for the end of the session's work, which may have come already.
async fn wait_until_idle(app: &TestApp, session: &Session, events: &mut Subscription) {
    let is_idle = |event: &Event| matches!(event, Event::SessionIdle { session_id } if *session_id == session.id);
    let idle = async {
        if app.sessions.status(&session.id) != SessionStatus::Idle {
            until(events, is_idle).await;
        }
    };
    let waited = tokio::time::timeout(HANGS, idle).await;
    waited.expect("the session stays busy");
    assert_eq!(app.sessions.status(&session.id), SessionStatus::Idle);
}

/// What is still open in a session that is idle.
fn open_things(messages: &[MessageWithParts]) -> Vec<String> {
    let mut open = Vec::new();
    for message in messages {
        if let Some(answer) = message.info.as_assistant()
            && answer.time.completed.is_none()
        {
            open.push(format!("message {}", answer.id));
        }
        for part in &message.parts {
            if let Part::Tool(tool) = part
                && matches!(tool.state(), ToolState::Pending(_) | ToolState::Running(_))
            {
                open.push(format!("call of {}", tool.tool));
            }
        }
    }
    open
}

fn has_fault(messages: &[MessageWithParts]) -> bool {
    let answers = messages.iter().filter_map(|one| one.info.as_assistant());
    let mut errors = answers.filter_map(|answer| answer.error.as_ref());
    errors.any(|error| error.message().contains(INJECTED))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_at_any_await_of_a_turn_ends_the_turn_and_is_shown() {
    let model = FakeModel::start().await;
    let fuse = Fuse::new();
    let app = start(&model, &fuse).await;

    script(&model);
    fuse.set(i64::MAX);
    app.ask("go").await;
    let awaits = i64::MAX - fuse.left();
    assert!(awaits > 30, "a turn awaits {awaits} times");

    let (mut refused, mut shown) = (0, 0);
    let mut waits = Vec::new();
    for fault in 0..FAULTS {
        let at = fault * awaits / FAULTS;
        let session = app.sessions.create(&app.project, None).await.unwrap();
        let mut events = app.sessions.subscribe();
        script(&model);
        fuse.set(at);
        let sent = app.sessions.prompt(&session.id, prompt()).await;
        wait_until_idle(&app, &session, &mut events).await;
        waits.extend(fuse.burnt.lock().unwrap().take().map(|at| at.elapsed()));
        let has_burnt = fuse.left() < 0;
        fuse.set(i64::MAX);

        let page = app.sessions.messages(&session.id, None, usize::MAX).await;
        let messages = page.unwrap().messages;
        assert_eq!(open_things(&messages), [""; 0], "after a panic at {at}");
        match sent {
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains(INJECTED), "{error}");
                assert_eq!(messages, [], "a prompt that was refused is not stored");
            }
            Ok(_) => {
                // A turn does not await the same number of times each time.
                shown += i64::from(has_fault(&messages));
                assert!(
                    has_fault(&messages) || !has_burnt || is_done(&messages),
                    "{at}"
                );
            }
        }
    }
    assert!(refused > 0, "no panic came before the turn");
    // On a busy machine a turn awaits less often than the first one did, and ends before.
    assert!(shown > FAULTS / 4, "{shown} panics are shown");
    // A disk that other tests keep busy may make one of them wait.
    waits.sort();
    let most = waits[waits.len() * 9 / 10];
    assert!(most < PROMISED, "idle again after {most:?}: {waits:?}");
}

/// The whole turn came to its end, and the panic after it.
fn is_done(messages: &[MessageWithParts]) -> bool {
    let last = messages.last().and_then(|one| one.info.as_assistant());
    last.is_some_and(|answer| answer.error.is_none() && answer.finish.is_some())
}

#[tokio::test]
async fn a_session_whose_turn_panicked_answers_the_next_prompt() {
    let model = FakeModel::start().await;
    let fuse = Fuse::new();
    let app = start(&model, &fuse).await;
    script(&model);
    let mut events = app.sessions.subscribe();
    // The first await of a turn comes after those of its start.
    fuse.set(25);
    let _ = app.sessions.prompt(&app.session.id, prompt()).await;
    wait_until_idle(&app, &app.session, &mut events).await;
    fuse.set(i64::MAX);

    model.forget();
    model.reply([text("Here I am.")]);
    app.ask("still there?").await;
    let messages = app.messages().await;
    let last = messages.last().and_then(|one| one.info.as_assistant());
    assert_eq!(last.map(|answer| answer.error.clone()), Some(None));
}

#[tokio::test]
async fn a_start_that_its_caller_drops_does_not_leave_the_session_busy() {
    let model = FakeModel::start().await;
    hide_injected_panics();
    let reached = Arc::new(Notify::new());
    let announce = reached.clone();
    let app = TestApp::with_model(&model, WIRE).await;
    let app = app.restart_with(move |options| {
        options.before_poll = Some(Arc::new(move |_| announce.notify_one()));
    });
    let app = app.await;
    let mut events = app.sessions.subscribe();
    tokio::select! {
        biased;
        () = reached.notified() => {}
        sent = app.sessions.prompt(&app.session.id, prompt()) => {
            sent.unwrap();
            panic!("the caller was not dropped in time");
        }
    }
    wait_until_idle(&app, &app.session, &mut events).await;

    model.reply([text("Here I am.")]);
    app.ask("still there?").await;
    assert_eq!(open_things(&app.messages().await), [""; 0]);
}

#[tokio::test]
async fn a_first_prompt_whose_turn_cannot_start_leaves_no_session() {
    let model = FakeModel::start().await;
    let fuse = Fuse::new();
    let app = start(&model, &fuse).await;
    fuse.set(1);
    let folder = app.project.worktree.clone();
    let sent = app
        .sessions
        .create_with_prompt(&app.project, &folder, Author::Person, prompt())
        .await;
    assert!(sent.is_err_and(|error| error.to_string().contains(INJECTED)));
    let sessions = app.sessions.list(&app.project).await.unwrap();
    let ids: Vec<_> = sessions.iter().map(|session| &session.id).collect();
    assert_eq!(ids, [&app.session.id]);
}

/// A codec fails on this word, which is in no other answer. The fake model sends it in one piece.
const UNREADABLE: &str = "%BREAK%";

fn fail_on_unreadable(bytes: &[u8]) {
    let mut windows = bytes.windows(UNREADABLE.len());
    if windows.any(|window| window == UNREADABLE.as_bytes()) {
        panic!("{INJECTED}");
    }
}

#[tokio::test]
async fn a_panic_of_any_codec_ends_the_turn_and_is_shown() {
    hide_injected_panics();
    lathe_provider::client::BEFORE_DECODING.get_or_init(|| fail_on_unreadable);
    for wire in [
        WireKind::Anthropic,
        WireKind::OpenaiChat,
        WireKind::OpenaiResponses,
        WireKind::Gemini,
    ] {
        let model = FakeModel::start().await;
        let app = TestApp::with_model(&model, wire).await;
        let mut events = app.sessions.subscribe();
        model.reply([text(UNREADABLE)]);
        app.sessions
            .prompt(&app.session.id, prompt())
            .await
            .unwrap();
        wait_until_idle(&app, &app.session, &mut events).await;

        let messages = app.messages().await;
        assert_eq!(open_things(&messages), [""; 0], "{wire:?}");
        assert!(has_fault(&messages), "{wire:?}: {messages:#?}");

        model.forget();
        model.reply([text("Here I am.")]);
        app.ask("still there?").await;
        assert!(is_done(&app.messages().await), "{wire:?}");
    }
}

#[tokio::test]
async fn a_panic_while_a_picture_is_scaled_ends_the_turn_and_is_shown() {
    hide_injected_panics();
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0";
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WireKind::Anthropic)
        .await
        .file("shot.png", PNG);
    let app = app.restart_with(|options| {
        options.fit_picture = Arc::new(|_, _, _| panic!("{INJECTED}"));
    });
    let app = app.await;
    let mut events = app.sessions.subscribe();
    let files = vec![PromptFile {
        url: format!("file://{}", app.path("shot.png").display()),
        ..PromptFile::default()
    }];
    let input = PromptInput { files, ..prompt() };
    model.reply([text("A picture.")]);
    let sent = app.sessions.prompt(&app.session.id, input).await;
    wait_until_idle(&app, &app.session, &mut events).await;

    let messages = app.messages().await;
    assert_eq!(open_things(&messages), [""; 0]);
    match sent {
        Ok(_) => assert!(has_fault(&messages), "{messages:#?}"),
        Err(error) => assert!(error.to_string().contains(INJECTED), "{error}"),
    }
}

/// A tool with a fault.
struct Broken;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for Broken {
    const NAME: &'static str = "broken";
    const PROMPT: &'static str = "Fails.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = Nothing;

    async fn run(&self, _: Nothing, _: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        panic!("{INJECTED}")
    }
}

#[tokio::test]
async fn a_panic_of_a_tool_fails_its_call_and_the_model_goes_on() {
    let model = FakeModel::start().await;
    let app = start(&model, &Fuse::new()).await;
    model.reply([
        call("broken", json!({})),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    let second = model.reply([text("It is broken.")]);

    app.ask("go").await;

    assert_eq!(app.calls().await, ["broken: error", "read: completed"]);
    assert!(second.request().tool_error("broken").contains(INJECTED));
    let messages = app.messages().await;
    let errors: Vec<Option<MessageError>> = messages
        .iter()
        .filter_map(|one| one.info.as_assistant())
        .map(|answer| answer.error.clone())
        .collect();
    assert_eq!(errors, [None, None]);
}

/// A tool that blocks its thread until the test is over.
struct Stuck {
    runs: Arc<Notify>,
    over: Arc<(Mutex<bool>, Condvar)>,
}

impl Tool for Stuck {
    const NAME: &'static str = "stuck";
    const PROMPT: &'static str = "Never returns.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = Nothing;

    async fn run(&self, _: Nothing, _: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        self.runs.notify_one();
        let (over, changed) = &*self.over;
        let is_running = |over: &mut bool| !*over;
        drop(
            changed
                .wait_while(over.lock().unwrap(), is_running)
                .unwrap(),
        );
        Err(ToolFailure::failed("The test is over."))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_exit_does_not_wait_for_a_tool_that_never_returns() {
    let model = FakeModel::start().await;
    let (runs, over) = (Arc::new(Notify::new()), Arc::default());
    let stuck = Stuck {
        runs: runs.clone(),
        over: Arc::clone(&over),
    };
    let app = TestApp::with_model(&model, WIRE).await;
    let app = app.restart_with(|options| {
        options.tools = lathe_tools::Registry::builtin().with(stuck);
    });
    let app = app.await.rule("*", "*", Action::Allow);
    model.reply([call("stuck", json!({}))]);
    let sent = app.sessions.prompt(&app.session.id, prompt()).await;
    sent.unwrap();
    runs.notified().await;

    let closed = tokio::time::timeout(HANGS, app.sessions.close()).await;
    let (is_over, changed) = &*over;
    *is_over.lock().unwrap() = true;
    changed.notify_all();
    closed.expect("the exit hangs");
}
