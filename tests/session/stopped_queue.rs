//! Prompts that are sent while a turn is stopped, or for which it is.

use std::sync::Arc;

use lathe_protocol::{Action, SessionStatus};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, Gate, call, hold, text};
use lathe_tools::{Effect, Registry, Tool, ToolContext, ToolFailure, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

use crate::prompt_queue::{busy, prompts};

const WIRE: WireKind = WireKind::OpenaiChat;

#[tokio::test]
async fn a_prompt_that_is_sent_at_once_stops_the_turn_and_the_others_wait_for_its_own() {
    let model = FakeModel::start().await;
    let (app, mut events, _, _) = busy(&model).await;
    model.remove_next_reply();
    app.send("second").await;
    let now = app.send("third").await;
    // The other one comes with its first step or with a second one.
    let next = model.reply([text("at once")]);
    model.reply([text("and that")]);
    let id = &app.session.id;
    app.sessions.send_queued_now(id, &now).await.unwrap();
    while app.sessions.status(id) != SessionStatus::Idle {
        until_idle(&mut events, id).await;
    }
    assert!(next.request().user_text().contains("third"));
    assert_eq!(prompts(&app).await, ["first", "third", "second"]);
    assert_eq!(app.sessions.queued(id), []);
}

#[tokio::test]
async fn a_prompt_that_a_step_has_taken_is_not_sent_again_and_its_turn_goes_on() {
    let (model, gate) = (FakeModel::start().await, Gate::closed());
    let (app, mut events, request, _) = busy(&model).await;
    model.remove_next_reply();
    let next = model.reply([text("done"), hold(&gate)]);
    let taken = app.send("second").await;
    let id = &app.session.id;
    let once = app.sessions.answer_permission(&request.id, Answer::Once);
    once.await.unwrap();
    next.asked().await;
    app.sessions.send_queued_now(id, &taken).await.unwrap();
    gate.open();
    until_idle(&mut events, id).await;
    assert_eq!(prompts(&app).await, ["first", "second"]);
    let messages = app.messages().await;
    let answers = messages.iter().filter_map(|one| one.info.as_assistant());
    let errors: Vec<_> = answers.map(|answer| answer.error.clone()).collect();
    assert_eq!(errors, [None, None]);
}

#[tokio::test]
async fn a_move_that_races_with_a_stop_leaves_the_prompts_as_not_sent() {
    for round in 0..12 {
        let model = FakeModel::start().await;
        let (app, _, _, _) = busy(&model).await;
        model.remove_next_reply();
        app.send("second").await;
        let third = app.send("third").await;
        let id = &app.session.id;
        let stop = async {
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
            app.sessions.abort(id).await;
        };
        let (_, ()) = tokio::join!(app.sessions.move_queued_up(id, &third), stop);
        let mut stored = prompts(&app).await;
        stored.sort();
        assert_eq!(stored, ["first", "second (not sent)", "third (not sent)"]);
    }
}

/// A tool that does not end when it is stopped.
struct Slow(Arc<Notify>);

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for Slow {
    const NAME: &'static str = "slow";
    const PROMPT: &'static str = "Takes its time.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = Nothing;

    async fn run(&self, _: Nothing, _: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        self.0.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_prompt_that_is_sent_while_the_turn_still_stops_starts_the_next_one() {
    let model = FakeModel::start().await;
    let begun = Arc::new(Notify::new());
    let slow = Slow(begun.clone());
    let app = TestApp::with_model(&model, WIRE).await;
    let app = app.restart_with(|options| options.tools = Registry::builtin().with(slow));
    let app = app.await.rule("*", "*", Action::Allow);
    model.reply([call("slow", json!({}))]);
    app.send("first").await;
    begun.notified().await;

    let next = model.reply([text("fine")]);
    let id = &app.session.id;
    let mut events = app.sessions.subscribe();
    // In this order: the turn is stopped first, and waits for its call.
    futures::join!(app.sessions.abort(id), app.send("second"));
    while app.sessions.status(id) != SessionStatus::Idle {
        until_idle(&mut events, id).await;
    }
    assert!(next.request().prompt().ends_with("second"));
    assert_eq!(prompts(&app).await, ["first", "second"]);
}
