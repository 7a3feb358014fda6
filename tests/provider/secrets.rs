//! PROMISES 19: a key never appears in anything that the crate returns.

use lathe_provider::StreamEvent;
use lathe_test_support::fake_model::{FakeModel, Refusal, Reply, Script, stream_error, text};
use serde_json::json;

use super::{KEY, WIRES, ask, endpoint, request};

fn printed(events: &[StreamEvent]) -> String {
    let json = serde_json::to_string(events).unwrap();
    format!("{events:?} {json}")
}

#[tokio::test]
async fn the_key_is_sent_in_its_header_and_never_returned() {
    for wire in WIRES {
        let model = FakeModel::start().await;
        let asked = model.reply([text("fine")]);
        let echo = format!("your key {KEY} is wrong");
        for status in [401, 429, 500] {
            let mut refusal = Refusal::new(status, &[("x-request-id", KEY)], &echo);
            refusal.body["debug"] = json!({ "authorization": format!("Bearer {KEY}") });
            model.reply_with(Reply::Refuse(refusal));
        }
        model.reply([stream_error("server_error", &echo)]);

        let endpoint = endpoint(&model, wire);
        let mut shown = format!("{endpoint:?}");
        for _ in 0..5 {
            shown += &printed(&ask(&endpoint, &request("go")).await);
        }
        assert!(!shown.contains(KEY), "{wire:?}: {shown}");
        assert!(shown.contains("[redacted]"));
        let headers = asked.request().headers;
        assert!(
            headers.values().any(|value| value.contains(KEY)),
            "{wire:?}"
        );
        assert!(!asked.request().path.contains(KEY), "{wire:?}");
    }
}

#[test]
fn the_example_script_of_the_fake_model_parses() {
    let script = json!({
        "replies": [
            { "say": [
                { "text": "Hello" },
                { "reasoning": "Hmm" },
                { "call": { "name": "read", "input": { "filePath": "a.txt" } } },
                { "raw-call": { "name": "read", "arguments": "{not json" } },
                { "pause": 500 },
                { "error": { "kind": "overloaded_error", "message": "Overloaded" } },
                { "usage": { "input": 100, "output": 20 } },
                "stall", "reset", "cut", "bad-json",
            ] },
            { "refuse": { "status": 429, "headers": { "retry-after": "2" }, "body": {} } },
            "hang", "drop", "empty",
        ],
        "repeat": true,
        "title": "My session",
        "chunk": 5,
    });
    let script: Script = serde_json::from_value(script).unwrap();
    assert_eq!(script.replies.len(), 5);
}
