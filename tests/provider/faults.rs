//! Faults of a provider: every step ends, and a cut stream is never a success.

use futures::StreamExt;
use lathe_provider::{FailureCause, ModelInfo, ProviderError, StreamEvent, WireKind};
use lathe_test_support::fake_model::{
    FakeModel, Item, Reply, bad_json, call, cut, reset, stall, stream_error, text,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{LONG, SHORT, WIRES, ask, ask_with_timeout, client, endpoint, error_of, request};

fn failure(events: &[StreamEvent]) -> (FailureCause, Option<u16>, bool) {
    match error_of(events) {
        ProviderError::Api(failure) => (failure.cause, failure.status, failure.is_retryable),
        other => panic!("{other:?}"),
    }
}

async fn events_for(wire: WireKind, reply: Reply) -> Vec<StreamEvent> {
    let model = FakeModel::start().await;
    model.reply_with(reply);
    ask(&endpoint(&model, wire), &request("go")).await
}

async fn events_with_short_timeout(wire: WireKind, reply: Reply) -> Vec<StreamEvent> {
    let model = FakeModel::start().await;
    model.reply_with(reply);
    ask_with_timeout(SHORT, &endpoint(&model, wire), &request("go")).await
}

async fn events_for_items<const N: usize>(wire: WireKind, items: [Item; N]) -> Vec<StreamEvent> {
    events_for(wire, Reply::Say(items.into())).await
}

#[tokio::test]
async fn a_silent_server_ends_the_step_before_and_after_the_first_byte() {
    for wire in WIRES {
        let hung = events_with_short_timeout(wire, Reply::Hang).await;
        assert_eq!(
            failure(&hung),
            (FailureCause::Timeout, None, false),
            "{wire:?}"
        );
        let stalled =
            events_with_short_timeout(wire, Reply::Say(vec![text("so far"), stall()])).await;
        assert_eq!(
            failure(&stalled),
            (FailureCause::Timeout, None, false),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn a_connection_reset_can_be_retried_before_and_after_a_tool_call() {
    for wire in WIRES {
        let dropped = events_for(wire, Reply::Drop).await;
        assert_eq!(
            failure(&dropped),
            (FailureCause::Connection, None, true),
            "{wire:?}"
        );
        let early = events_for_items(wire, [text("a"), reset()]).await;
        assert_eq!(
            failure(&early),
            (FailureCause::Connection, None, true),
            "{wire:?}"
        );
        let late =
            events_for_items(wire, [call("bash", json!({ "command": "ls" })), reset()]).await;
        assert_eq!(
            failure(&late),
            (FailureCause::Connection, None, true),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn a_cut_or_empty_stream_is_never_a_success() {
    for wire in WIRES {
        let cut_off = events_for_items(wire, [text("half of it"), cut()]).await;
        assert_eq!(
            failure(&cut_off),
            (FailureCause::Truncated, None, true),
            "{wire:?}"
        );
        let empty = events_for(wire, Reply::Empty).await;
        assert_eq!(
            failure(&empty),
            (FailureCause::Truncated, None, true),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn bytes_that_are_not_json_end_the_step() {
    for wire in WIRES {
        let events = events_for_items(wire, [text("a"), bad_json(), text("b")]).await;
        assert_eq!(
            failure(&events),
            (FailureCause::Malformed, None, false),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn an_error_status_gives_an_error_with_the_allowed_headers() {
    for wire in WIRES {
        let model = FakeModel::start().await;
        let headers = [
            ("retry-after", "7"),
            ("x-ratelimit-reset", "9"),
            ("set-cookie", "a=b"),
        ];
        for status in [429, 500, 529, 400] {
            model.refuse(status, &headers, "no");
        }
        for (status, retryable) in [(429, true), (500, true), (529, true), (400, false)] {
            let events = ask(&endpoint(&model, wire), &request("go")).await;
            let expected = (FailureCause::Refused, Some(status), retryable);
            assert_eq!(failure(&events), expected, "{wire:?}");
            let ProviderError::Api(failure) = error_of(&events) else {
                unreachable!()
            };
            let names: Vec<&str> = failure.headers.keys().map(String::as_str).collect();
            assert_eq!(names, ["content-type", "retry-after", "x-ratelimit-reset"]);
        }
    }
}

#[tokio::test]
async fn a_refused_or_missing_key_is_an_authentication_error() {
    for wire in WIRES {
        let model = FakeModel::start().await;
        model.refuse(401, &[], "invalid key");
        let events = ask(&endpoint(&model, wire), &request("go")).await;
        assert!(
            matches!(error_of(&events), ProviderError::Auth { .. }),
            "{wire:?}"
        );

        let mut without = endpoint(&model, wire);
        without.key = None;
        let events = ask(&without, &request("go")).await;
        assert!(
            matches!(error_of(&events), ProviderError::Auth { .. }),
            "{wire:?}"
        );
        assert_eq!(model.requests().len(), 1, "nothing is sent without a key");
    }
}

#[tokio::test]
async fn an_error_inside_the_stream_is_an_error() {
    for (wire, kind) in [
        (WireKind::Anthropic, "overloaded_error"),
        (WireKind::OpenaiChat, "server_error"),
        (WireKind::OpenaiResponses, "server_error"),
        (WireKind::Gemini, "UNAVAILABLE"),
    ] {
        let events = events_for_items(wire, [text("a"), stream_error(kind, "Overloaded")]).await;
        let (cause, status, retryable) = failure(&events);
        assert_eq!(
            (cause, retryable),
            (FailureCause::Refused, true),
            "{wire:?}"
        );
        assert!(
            status.is_some_and(|status| status >= 500),
            "{wire:?}: {status:?}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (model, elsewhere) = (FakeModel::start().await, FakeModel::start().await);
    let address = format!("{}/v1/messages", elsewhere.url());
    model.refuse(307, &[("location", &address)], "");
    let events = ask(&endpoint(&model, WireKind::Anthropic), &request("go")).await;
    assert_eq!(failure(&events), (FailureCause::Refused, Some(307), false));
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn a_line_of_a_megabyte_arrives_whole() {
    let long = "x".repeat(1 << 20);
    let input = json!({ "content": long });
    // This API sends arguments in one piece.
    let events = events_for_items(WireKind::Gemini, [call("write", input.clone())]).await;
    let sent = events.iter().find_map(|event| match event {
        StreamEvent::ToolCall { input, .. } => serde_json::from_str(input).ok(),
        _ => None,
    });
    assert_eq!(sent, Some(input));
}

#[tokio::test]
async fn cancelling_closes_the_connection_at_once() {
    let model = FakeModel::start().await;
    model.reply([text("one"), stall()]);
    let cancel = CancellationToken::new();
    let info = ModelInfo::unknown("fake", "fake-model");
    let endpoint = endpoint(&model, WireKind::OpenaiChat);
    let mut stream = client(LONG).stream(&endpoint, &info, &request("go"), cancel.clone());
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::TextDelta { .. }) {
            cancel.cancel();
        }
        events.push(event);
    }
    assert_eq!(error_of(&events), &ProviderError::Aborted);
}

#[tokio::test]
async fn an_unreachable_server_is_a_connection_failure() {
    let gone = {
        let model = FakeModel::start().await;
        endpoint(&model, WireKind::OpenaiChat)
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut closed = gone;
    closed.base_url = format!("http://127.0.0.1:{port}/v1");
    let events = ask(&closed, &request("go")).await;
    assert_eq!(failure(&events), (FailureCause::Connection, None, true));
}
