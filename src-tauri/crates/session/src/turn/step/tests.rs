//! One test for each event of a stream: its effect on the message.

use std::sync::Arc;

use futures::stream;
use lathe_protocol::{IdSource, Tick};
use lathe_provider::{ApiFailure, FinishReason};
use lathe_store::{Options, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use lathe_records::bus::{Bus, BusItem, Notification};
use lathe_records::clock::SystemClock;

struct Fixture {
    records: Records,
    session: SessionId,
    message: MessageId,
    _folder: TempDir,
}

struct Outcome {
    end: StreamEnd,
    calls: Vec<Call>,
    parts: Vec<Part>,
    /// The published pieces of streaming text.
    deltas: Vec<String>,
}

async fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Options::default())
        .await
        .unwrap();
    let ids = IdSource::new(Tick::default());
    Fixture {
        records: Records::new(store, Bus::default(), Arc::new(SystemClock)),
        session: ids.session(Millis(1)),
        message: ids.message(Millis(1)),
        _folder: folder,
    }
}

impl Fixture {
    async fn stream(&self, events: Vec<StreamEvent>) -> Outcome {
        self.stream_over(events, Vec::new()).await
    }

    async fn stream_over(&self, events: Vec<StreamEvent>, earlier: Vec<Part>) -> Outcome {
        let mut items = self.records.bus().subscribe();
        let (session, message) = (self.session.clone(), self.message.clone());
        let mut step = Step::new(&self.records, session, message, earlier);
        let cancel = CancellationToken::new();
        let end = step.consume(stream::iter(events), &cancel).await.unwrap();
        let mut deltas = Vec::new();
        while let Some(BusItem::Notification(numbered)) = items.try_next() {
            if let Notification::Delta(delta) = numbered.notification {
                deltas.push(delta.text.clone());
            }
        }
        let calls = step.into_calls();
        let parts = self
            .records
            .store()
            .parts(&self.message)
            .await
            .unwrap()
            .items;
        Outcome {
            end,
            calls,
            parts,
            deltas,
        }
    }
}

fn event(value: Value) -> StreamEvent {
    serde_json::from_value(value).unwrap()
}

/// A stream that ends well, with these events in it.
fn successful(events: impl IntoIterator<Item = Value>) -> Vec<StreamEvent> {
    let mut all = vec![StreamEvent::Start, StreamEvent::StartStep];
    all.extend(events.into_iter().map(event));
    all.push(StreamEvent::FinishStep {
        reason: FinishReason::Stop,
        usage: Usage::default(),
    });
    all.push(StreamEvent::Finish);
    all
}

fn only(parts: &[Part]) -> &Part {
    let [part] = parts else { panic!("{parts:?}") };
    part
}

#[tokio::test]
async fn start_and_finish_add_no_parts() {
    let outcome = fixture().await.stream(successful([])).await;
    assert_eq!(outcome.parts, []);
    assert_eq!(
        outcome.end,
        StreamEnd::Finished {
            reason: FinishReason::Stop,
            usage: Usage::default()
        }
    );
}

#[tokio::test]
async fn text_is_published_piece_by_piece_and_trimmed_at_its_end() {
    let outcome = fixture()
        .await
        .stream(successful([
            json!({ "type": "text-start", "id": "1" }),
            json!({ "type": "text-delta", "id": "1", "text": "Hello " }),
            json!({ "type": "text-delta", "id": "1", "text": "you \n" }),
            json!({ "type": "text-end", "id": "1", "metadata": { "p": { "s": 1 } } }),
        ]))
        .await;
    let Part::Text(text) = only(&outcome.parts) else {
        panic!("no text")
    };
    assert_eq!(text.text, "Hello you");
    assert!(text.time.as_ref().unwrap().end.is_some());
    assert_eq!(
        Value::Object(text.metadata.clone().unwrap()),
        json!({ "p": { "s": 1 } })
    );
    assert_eq!(outcome.deltas, ["Hello ", "you \n"]);
}

#[tokio::test]
async fn text_without_words_is_removed() {
    let outcome = fixture()
        .await
        .stream(successful([
            json!({ "type": "text-start", "id": "1" }),
            json!({ "type": "text-delta", "id": "1", "text": " \n" }),
            json!({ "type": "text-end", "id": "1" }),
        ]))
        .await;
    assert_eq!(outcome.parts, []);
}

#[tokio::test]
async fn reasoning_without_text_keeps_its_provider_metadata() {
    let outcome = fixture()
        .await
        .stream(successful([
            json!({ "type": "reasoning-start", "id": "1" }),
            json!({ "type": "reasoning-delta", "id": "1", "text": "hm " }),
            json!({ "type": "reasoning-end", "id": "1" }),
            json!({ "type": "reasoning-start", "id": "2" }),
            json!({ "type": "reasoning-end", "id": "2", "metadata": { "p": { "sealed": "x" } } }),
        ]))
        .await;
    let [Part::Reasoning(said), Part::Reasoning(sealed)] = outcome.parts.as_slice() else {
        panic!("{:?}", outcome.parts)
    };
    assert_eq!((said.text.as_str(), said.time.end.is_some()), ("hm", true));
    assert_eq!(sealed.text, "");
    assert_eq!(
        sealed.metadata.as_ref().unwrap()["p"],
        json!({ "sealed": "x" })
    );
}

#[tokio::test]
async fn the_arguments_of_a_call_stream_into_a_pending_part() {
    let outcome = fixture()
        .await
        .stream(successful([
            json!({ "type": "tool-input-start", "id": "c1", "name": "read" }),
            json!({ "type": "tool-input-delta", "id": "c1", "text": "{\"file" }),
            json!({ "type": "tool-input-delta", "id": "c1", "text": "Path\":\"a\"}" }),
            json!({ "type": "tool-input-end", "id": "c1" }),
        ]))
        .await;
    let Part::Tool(tool) = only(&outcome.parts) else {
        panic!("no call")
    };
    let ToolState::Pending(pending) = tool.state() else {
        panic!("{:?}", tool.state())
    };
    assert_eq!(pending.raw, "{\"filePath\":\"a\"}");
    assert_eq!(
        outcome.calls,
        [],
        "a call that was never made whole is not run"
    );
}

#[tokio::test]
async fn a_complete_call_is_collected_to_run_after_the_stream() {
    let outcome = fixture()
        .await
        .stream(successful([
            json!({ "type": "tool-call", "id": "c1", "name": "read", "input": "{}",
                "metadata": { "p": { "s": 1 } } }),
        ]))
        .await;
    let [call] = outcome.calls.as_slice() else {
        panic!("{:?}", outcome.calls)
    };
    assert_eq!((call.raw.as_str(), call.part.tool.as_str()), ("{}", "read"));
    assert_eq!(call.part.metadata.as_ref().unwrap()["p"], json!({ "s": 1 }));
    assert_eq!(call.answered, None);
    assert_eq!(only(&outcome.parts), &Part::Tool(call.part.clone()));
}

#[tokio::test]
async fn results_of_calls_that_the_provider_ran_are_stored_with_the_call() {
    let outcome = fixture()
        .await
        .stream(successful([
            json!({ "type": "tool-call", "id": "c1", "name": "search", "input": "{}" }),
            json!({ "type": "tool-call", "id": "c2", "name": "search", "input": "{}" }),
            json!({ "type": "tool-result", "id": "c1", "name": "search", "output": "found" }),
            json!({ "type": "tool-error", "id": "c2", "name": "search", "message": "broken" }),
        ]))
        .await;
    let answers: Vec<_> = outcome
        .calls
        .into_iter()
        .map(|call| call.answered)
        .collect();
    assert_eq!(
        answers,
        [Some(Ok("found".to_owned())), Some(Err("broken".to_owned()))]
    );
}

#[tokio::test]
async fn an_error_ends_the_stream_and_closes_open_text() {
    let error = ProviderError::Api(ApiFailure::connection("gone"));
    let mut events = successful([
        json!({ "type": "text-start", "id": "1" }),
        json!({ "type": "text-delta", "id": "1", "text": "half" }),
    ]);
    events.truncate(4);
    events.push(StreamEvent::Error {
        error: error.clone(),
    });
    let outcome = fixture().await.stream(events).await;
    assert_eq!(outcome.end, StreamEnd::Failed(error));
    let Part::Text(text) = only(&outcome.parts) else {
        panic!("no text")
    };
    assert_eq!(text.text, "half");
    assert!(text.time.as_ref().unwrap().end.is_some());
}

#[tokio::test]
async fn a_stream_without_its_end_has_failed() {
    let mut events = successful([]);
    events.truncate(2);
    let outcome = fixture().await.stream(events).await;
    assert!(matches!(
        outcome.end,
        StreamEnd::Failed(ProviderError::Api(_))
    ));
}

#[tokio::test]
async fn parts_of_an_earlier_attempt_are_removed_when_the_next_attempt_has_a_part() {
    let fixture = fixture().await;
    let say = |text: &str| {
        successful([
            json!({ "type": "text-start", "id": "1" }),
            json!({ "type": "text-delta", "id": "1", "text": text }),
            json!({ "type": "text-end", "id": "1" }),
        ])
    };
    let first = fixture.stream(say("first")).await;
    let nothing = fixture
        .stream_over(successful([]), first.parts.clone())
        .await;
    assert_eq!(
        nothing.parts, first.parts,
        "nothing vanishes while one waits"
    );
    let second = fixture.stream_over(say("second"), first.parts).await;
    let Part::Text(text) = only(&second.parts) else {
        panic!("no text")
    };
    assert_eq!(text.text, "second");
}

#[test]
fn a_long_text_is_written_less_often_and_never_more_than_the_disk_is_given() {
    let millis = |bytes: usize| pause_after(bytes).as_millis();
    assert_eq!([0, 1, 100_000, SAVE_BYTES].map(millis), [100; 4]);
    assert_eq!(millis(5_000_000), 2_000);
}

#[tokio::test]
async fn the_arguments_of_a_call_count_as_what_the_disk_is_given() {
    let fixture = fixture().await;
    let (session, message) = (fixture.session.clone(), fixture.message.clone());
    let mut step = Step::new(&fixture.records, session, message, Vec::new());
    step.open_call("c1", "write").await.unwrap();
    step.receive("c1", &"x".repeat(1_000_000));
    assert_eq!(step.save().await.unwrap(), 1_000_000);
    assert_eq!(step.save().await.unwrap(), 0, "nothing has changed");
}
