//! Whatever the clock does, a prompt in an old session runs and is the newest message.

use lathe_protocol::Millis;
use lathe_provider::WireKind;
use lathe_test_support::app::{BEFORE_WRAP, TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;

const WRAP: i64 = 26 << 36;
const HOUR: i64 = 3_600_000;
const YEAR: i64 = 365 * 24 * HOUR;

/// Sends a prompt at each of these times, with a restart in between, and checks the order.
async fn prompts_at(times: &[i64]) {
    let mut app = TestApp::start_at(Millis(times[0])).await;
    let mut sent = Vec::new();
    for (index, time) in times.iter().enumerate() {
        app.clock.set(Millis(*time));
        sent.push(app.ask(&format!("prompt {index}")).await);
        app = app.restart().await;
    }
    let messages = app.messages().await;
    let users: Vec<_> = messages
        .iter()
        .filter(|one| one.info.as_user().is_some())
        .collect();
    let order: Vec<_> = users
        .iter()
        .map(|message| message.info.id().clone())
        .collect();
    assert_eq!(order, sent, "prompts at {times:?}");
    for (index, message) in messages.iter().enumerate() {
        if let Some(answer) = message.info.as_assistant() {
            assert_eq!(&answer.parent_id, messages[index - 1].info.id());
        }
    }
    assert_eq!(
        messages.len(),
        2 * times.len(),
        "every prompt was answered once"
    );
}

#[tokio::test]
async fn a_prompt_is_in_order_around_the_wrap_of_the_ids() {
    prompts_at(&[WRAP - 2, WRAP - 1, WRAP, WRAP + 1]).await;
}

#[tokio::test]
async fn a_prompt_is_in_order_in_a_session_from_before_the_wrap() {
    prompts_at(&[BEFORE_WRAP.0, WRAP + 90 * 24 * HOUR]).await;
}

#[tokio::test]
async fn a_prompt_is_in_order_after_the_clock_went_back_an_hour() {
    prompts_at(&[WRAP + HOUR, WRAP, WRAP + 1]).await;
}

#[tokio::test]
async fn a_prompt_is_in_order_after_the_clock_was_ten_years_ahead() {
    prompts_at(&[WRAP, WRAP + 10 * YEAR, WRAP + HOUR, WRAP + 2 * HOUR]).await;
}

#[tokio::test]
async fn a_change_of_the_agent_is_in_order_although_another_clock_dated_the_answer() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WireKind::OpenaiChat).await;
    model.reply([call("plan_exit", json!({}))]);
    model.reply([text("built")]);
    let mut events = app.sessions.subscribe();
    app.clock.set(Millis(WRAP));
    app.send_as("plan", "plan it").await;
    let question = app.next_question(&mut events).await;
    app.clock.set(Millis(WRAP - HOUR));
    let yes = vec![vec!["Carry it out".to_owned()]];
    app.sessions.answer_question(&question.id, yes).unwrap();
    until_idle(&mut events, &app.session.id).await;

    let app = app.restart().await;
    let outline = app.outline().await;
    let roles: Vec<_> = outline
        .iter()
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
}
