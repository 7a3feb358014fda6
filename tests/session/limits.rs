//! Limits of money, steps and time: a turn pauses and asks.

use std::time::Duration;

use lathe_protocol::PermissionId;
use lathe_protocol::ipc::Limits;
use lathe_provider::{Usage, WireKind};
use lathe_session::Answer;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, Gate, call, hold, text, usage};
use serde_json::{Value, json};

use crate::asking::next_request;

const WIRE: WireKind = WireKind::OpenaiChat;

fn read_again(times: usize) -> impl Iterator<Item = lathe_test_support::fake_model::Item> {
    (0..times).map(|at| call("list", json!({ "path": ".", "ignore": [at.to_string()] })))
}

async fn app(model: &FakeModel, steps: usize, limits: Limits) -> TestApp {
    for one in read_again(steps) {
        model.reply([one]);
    }
    model.reply([text("done")]);
    let price = json!({ "cost": { "input": 1000.0, "output": 1000.0 } });
    let models = json!({ "provider": { "fake": { "models": { "m": price } } } });
    let app = TestApp::with_config(model, WIRE, models).await;
    app.sessions.set_limits(limits);
    app
}

/// Sends a prompt and answers every request to continue in this way until the turn ends. Returns
/// what the requests said.
async fn paused(app: &TestApp, answer: Answer, most: usize) -> Vec<Value> {
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let mut said = Vec::new();
    for _ in 0..most {
        let request = app.next_permission(&mut events).await;
        assert_eq!(
            (request.permission.as_str(), &request.always),
            ("limit", &Vec::new())
        );
        said.push(Value::Object(request.metadata));
        let answered = app.sessions.answer_permission(&request.id, answer.clone());
        answered.await.unwrap();
    }
    until_idle(&mut events, &app.session.id).await;
    said
}

#[tokio::test]
async fn after_so_many_steps_the_turn_asks_and_continuing_allows_as_many_again() {
    let model = FakeModel::start().await;
    let limits = Limits {
        turn_steps: Some(2),
        ..Limits::default()
    };
    let app = app(&model, 4, limits).await;
    let said = paused(&app, Answer::Once, 2).await;
    let request = |used: f64| json!({ "limit": "turn_steps", "value": 2.0, "used": used });
    assert_eq!(said, [request(2.0), request(4.0)]);
    assert_eq!(app.calls().await.len(), 4);
}

#[tokio::test]
async fn a_no_at_a_limit_stops_the_turn_and_the_next_prompt_has_its_own_steps() {
    let model = FakeModel::start().await;
    let limits = Limits {
        turn_steps: Some(1),
        ..Limits::default()
    };
    let app = app(&model, 1, limits).await;
    paused(&app, Answer::Reject { message: None }, 1).await;
    assert_eq!(app.calls().await, ["list: completed"]);
    app.ask("and now?").await;
    let last = app.outline().await.pop().unwrap();
    assert!(last.contains("text"), "{last}");
}

#[tokio::test]
async fn the_cost_of_a_session_counts_with_its_tasks() {
    let model = FakeModel::start().await;
    let task = json!({ "description": "Look", "prompt": "look", "subagent_type": "general" });
    model.reply([call("task", task)]);
    model.reply([text("seen")]);
    let limits = Limits {
        session_cost: Some(0.01),
        ..Limits::default()
    };
    let app = app(&model, 0, limits).await;
    let said = paused(&app, Answer::Once, 2).await;
    let used: Vec<f64> = said
        .iter()
        .map(|one| one["used"].as_f64().unwrap())
        .collect();
    assert_eq!(said[0]["limit"], "session_cost");
    assert!(used[0] > 0.0 && used[1] > used[0], "{used:?}");
}

#[tokio::test]
async fn steps_and_minutes_of_tasks_count_in_the_turn_that_they_work_for() {
    let model = FakeModel::start().await;
    let task = json!({ "description": "Look", "prompt": "look", "subagent_type": "general" });
    model.reply([call("task", task.clone())]);
    for one in read_again(3) {
        model.reply([one]);
    }
    model.reply([text("seen")]);
    let limits = Limits {
        turn_steps: Some(3),
        ..Limits::default()
    };
    let counted = app(&model, 0, limits).await;
    let said = paused(&counted, Answer::Once, 1).await;
    // One step of its own and two of the task.
    let reached = json!({ "limit": "turn_steps", "value": 3.0, "used": 3.0 });
    assert_eq!(said, [reached]);

    let gates = [Gate::closed(), Gate::closed()];
    let outer = model.reply([text("first"), hold(&gates[0]), call("task", task)]);
    let inner = model.reply([
        text("second"),
        hold(&gates[1]),
        call("list", json!({ "path": "." })),
    ]);
    let limits = Limits {
        turn_minutes: Some(10),
        ..Limits::default()
    };
    counted.sessions.set_limits(limits);
    let mut events = counted.sessions.subscribe();
    counted.send("again").await;
    outer.asked().await;
    counted.clock.advance(Duration::from_secs(6 * 60));
    gates[0].open();
    inner.asked().await;
    counted.clock.advance(Duration::from_secs(6 * 60));
    gates[1].open();
    let request = counted.next_permission(&mut events).await;
    let reached = json!({ "limit": "turn_minutes", "value": 10.0, "used": 12.0 });
    assert_eq!(Value::Object(request.metadata), reached);
    counted.sessions.abort(&counted.session.id).await;
    until_idle(&mut events, &counted.session.id).await;
}

#[tokio::test]
async fn the_cost_of_a_day_counts_over_sessions_and_restarts_and_ends_with_the_day() {
    let model = FakeModel::start().await;
    let limits = Limits {
        day_cost: Some(0.01),
        ..Limits::default()
    };
    let app = app(&model, 0, limits.clone()).await;
    // Nothing is spent before the first answer.
    assert_eq!(paused(&app, Answer::Once, 0).await, Vec::<Value>::new());
    let app = app.restart().await;
    app.sessions.set_limits(limits.clone());
    model.reply([text("again")]);
    let said = paused(&app, Answer::Reject { message: None }, 1).await;
    assert_eq!(said[0]["limit"], "day_cost");
    app.clock.advance(Duration::from_secs(48 * 3600));
    assert_eq!(paused(&app, Answer::Once, 0).await, Vec::<Value>::new());
}

#[tokio::test]
async fn without_limits_nothing_pauses() {
    let model = FakeModel::start().await;
    let app = app(&model, 5, Limits::default()).await;
    assert_eq!(paused(&app, Answer::Once, 0).await, Vec::<Value>::new());
}

#[tokio::test]
async fn tasks_side_by_side_that_reach_a_limit_ask_once() {
    let model = FakeModel::start().await;
    let task = json!({ "description": "Look", "prompt": "look", "subagent_type": "general" });
    for one in read_again(2) {
        model.reply([one]);
    }
    model.reply([call("task", task.clone()), call("task", task)]);
    model.reply([text("seen")]);
    model.reply([text("seen too")]);
    let limits = Limits {
        turn_steps: Some(3),
        ..Limits::default()
    };
    let app = app(&model, 0, limits).await;
    let said = paused(&app, Answer::Once, 1).await;
    let reached = json!({ "limit": "turn_steps", "value": 3.0, "used": 3.0 });
    assert_eq!(said, [reached]);
    let calls = ["list", "list", "task", "task"].map(|name| format!("{name}: completed"));
    assert_eq!(app.calls().await, calls);
}

#[tokio::test]
async fn at_a_limit_an_automatic_summary_waits_for_the_person_too() {
    let model = FakeModel::start().await;
    let full = usage(Usage {
        input: 191_900,
        output: 100,
        ..Usage::default()
    });
    model.reply([call("list", json!({ "path": "." })), full]);
    let summary = model.reply([text("## Goal\nLook")]);
    let limits = Limits {
        session_cost: Some(0.01),
        ..Limits::default()
    };
    let app = app(&model, 0, limits).await;
    let said = paused(&app, Answer::Reject { message: None }, 1).await;
    assert_eq!(said[0]["limit"], "session_cost");
    assert!(!summary.was_asked());
}

#[tokio::test]
async fn the_time_in_which_the_person_is_asked_does_not_count() {
    let model = FakeModel::start().await;
    let input = json!({ "command": "touch made", "description": "Touch" });
    model.reply([call("bash", input)]);
    let gate = Gate::closed();
    let held = model.reply([
        text("first"),
        hold(&gate),
        call("list", json!({ "path": "." })),
    ]);
    let limits = Limits {
        turn_minutes: Some(10),
        ..Limits::default()
    };
    let app = app(&model, 0, limits).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let thinks_for_an_hour = async |id: &PermissionId| {
        app.clock.advance(Duration::from_secs(3600));
        let answer = app.sessions.answer_permission(id, Answer::Once);
        answer.await.unwrap();
    };
    let permission = app.next_permission(&mut events).await;
    assert_eq!(permission.permission, "bash");
    thinks_for_an_hour(&permission.id).await;
    held.asked().await;
    app.clock.advance(Duration::from_secs(12 * 60));
    gate.open();
    let request = app.next_permission(&mut events).await;
    let reached = json!({ "limit": "turn_minutes", "value": 10.0, "used": 12.0 });
    assert_eq!(Value::Object(request.metadata), reached);
    thinks_for_an_hour(&request.id).await;
    assert_eq!(next_request(&app, &mut events).await, None);
}
