//! The client against a real server on loopback: the four wires, faults, secrets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod faults;
mod secrets;
mod wires;

use std::time::Duration;

use futures::StreamExt;
use lathe_provider::{
    ApiKey, DemoPace, Endpoint, ModelClient, ModelInfo, ModelMessage, ModelRequest, ProviderError,
    StreamEvent, Timeouts, UserContent, WireKind,
};
use lathe_test_support::fake_model::FakeModel;
use tokio_util::sync::CancellationToken;

const WIRES: [WireKind; 4] = [
    WireKind::Anthropic,
    WireKind::OpenaiChat,
    WireKind::OpenaiResponses,
    WireKind::Gemini,
];

const KEY: &str = "sk-canary-0123456789abcdef";

fn endpoint(model: &FakeModel, wire: WireKind) -> Endpoint {
    Endpoint {
        name: "Fake".to_owned(),
        wire,
        base_url: model.base_url(wire),
        key: ApiKey::new(KEY),
        needs_key: true,
        headers: Vec::new(),
    }
}

thread_local! {
    /// One per thread, because setting up TLS takes most of the time of a test.
    static CLIENT: ModelClient = ModelClient::new(timeouts(LONG), DemoPace::Instant);
}

fn client(limit: Duration) -> ModelClient {
    CLIENT.with(|client| client.with_timeouts(timeouts(limit)))
}

fn timeouts(limit: Duration) -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(10),
        first_byte: limit,
        idle: limit,
    }
}

const LONG: Duration = Duration::from_secs(60);
/// For the tests with a server that stops sending.
const SHORT: Duration = Duration::from_millis(300);

fn request(prompt: &str) -> ModelRequest {
    let mut request = ModelRequest::new("fake-model");
    request.system = vec!["Be brief.".to_owned()];
    request.messages = vec![ModelMessage::User {
        content: vec![UserContent::Text {
            text: prompt.to_owned(),
        }],
    }]
    .into();
    request
}

async fn ask(endpoint: &Endpoint, request: &ModelRequest) -> Vec<StreamEvent> {
    ask_with_timeout(LONG, endpoint, request).await
}

async fn ask_with_timeout(
    limit: Duration,
    endpoint: &Endpoint,
    request: &ModelRequest,
) -> Vec<StreamEvent> {
    let info = ModelInfo::unknown("fake", "fake-model");
    let client = client(limit);
    let stream = client.stream(endpoint, &info, request, CancellationToken::new());
    stream.collect().await
}

/// The only error of the step, which must be its last event.
fn error_of(events: &[StreamEvent]) -> &ProviderError {
    let errors = events
        .iter()
        .filter(|event| matches!(event, StreamEvent::Error { .. }));
    assert_eq!(errors.count(), 1, "{events:?}");
    match events.last() {
        Some(StreamEvent::Error { error }) => error,
        _ => panic!("no error at the end of {events:?}"),
    }
}
