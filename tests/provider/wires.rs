//! The same requests over every wire.

use lathe_provider::{
    AssistantContent, FinishReason, Metadata, ModelMessage, StreamEvent, ToolOutcome, Usage,
};
use lathe_test_support::fake_model::{FakeModel, call, reasoning, text, usage};
use serde_json::{Value, json};

use super::{WIRES, ask, endpoint, request};

/// The result of a step without ids and signatures, which differ between wires.
#[derive(Debug, PartialEq)]
enum Said {
    Reasoning(String),
    Text(String),
    Call(String, Value),
    Finish(FinishReason, Usage),
}

fn condense(events: &[StreamEvent]) -> Vec<Said> {
    let mut said = Vec::new();
    for event in events {
        match event {
            StreamEvent::ReasoningStart { .. } => said.push(Said::Reasoning(String::new())),
            StreamEvent::TextStart { .. } => said.push(Said::Text(String::new())),
            StreamEvent::ReasoningDelta { text: more, .. }
            | StreamEvent::TextDelta { text: more, .. } => match said.last_mut() {
                Some(Said::Reasoning(text) | Said::Text(text)) => text.push_str(more),
                other => panic!("a delta after {other:?}"),
            },
            StreamEvent::ToolCall { name, input, .. } => {
                said.push(Said::Call(
                    name.clone(),
                    serde_json::from_str(input).unwrap(),
                ));
            }
            StreamEvent::FinishStep { reason, usage } => said.push(Said::Finish(*reason, *usage)),
            StreamEvent::Error { error } => panic!("{error}"),
            _ => {}
        }
    }
    said
}

const COUNTS: Usage = Usage {
    input: 900,
    output: 70,
    reasoning: 30,
    cache_read: 4_000,
    cache_write: 0,
};

#[tokio::test]
async fn every_wire_gives_the_same_events() {
    let file = json!({ "filePath": "src/naïve ✓.rs" });
    for wire in WIRES {
        for chunk in [0, 3] {
            let model = FakeModel::start().await;
            model.split(chunk);
            model.reply([
                reasoning("Let me look at both files."),
                text("I'll read them, grüße 😀."),
                call("read", file.clone()),
                call("grep", json!({ "pattern": "TODO" })),
                usage(COUNTS),
            ]);
            let events = ask(&endpoint(&model, wire), &request("look")).await;
            let expected = vec![
                Said::Reasoning("Let me look at both files.".to_owned()),
                Said::Text("I'll read them, grüße 😀.".to_owned()),
                Said::Call("read".to_owned(), file.clone()),
                Said::Call("grep".to_owned(), json!({ "pattern": "TODO" })),
                Said::Finish(FinishReason::ToolCalls, COUNTS),
            ];
            assert_eq!(condense(&events), expected, "{wire:?} in chunks of {chunk}");
            assert_eq!(events.first(), Some(&StreamEvent::Start));
            assert_eq!(events.last(), Some(&StreamEvent::Finish));
        }
    }
}

#[tokio::test]
async fn every_wire_carries_results_and_errors_of_tools() {
    let called = |id: &str, name: &str, result| AssistantContent::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        input: json!({ "filePath": "a.txt" }),
        metadata: Metadata::new(),
        result,
    };
    for wire in WIRES {
        let model = FakeModel::start().await;
        let answer = model.reply([text("done")]);
        let mut request = request("bump it");
        request.messages.push(ModelMessage::Assistant {
            content: vec![
                called("call_1", "read", ToolOutcome::text("1")),
                called("call_2", "edit", ToolOutcome::error("denied by the user")),
            ],
        });
        ask(&endpoint(&model, wire), &request).await;
        let seen = answer.request();
        assert_eq!(seen.prompt(), "bump it", "{wire:?}");
        assert_eq!(seen.system, "Be brief.", "{wire:?}");
        assert_eq!(seen.tool_output("read"), "1", "{wire:?}");
        assert_eq!(seen.tool_error("edit"), "denied by the user", "{wire:?}");
    }
}

#[tokio::test]
async fn a_request_for_a_title_uses_no_scripted_reply() {
    let model = FakeModel::start().await;
    model.title("Tea");
    model.reply([text("the answer")]);
    let mut title = request("what is tea");
    title.system = vec!["Write a title for this.".to_owned()];
    let events = ask(&endpoint(&model, WIRES[1]), &title).await;
    assert_eq!(condense(&events)[0], Said::Text("Tea".to_owned()));
    assert_eq!(
        (model.unused_replies(), model.title_requests().len()),
        (1, 1)
    );
}

#[tokio::test]
async fn the_fake_model_refuses_a_call_without_its_result() {
    let model = FakeModel::start().await;
    model.reply([text("never said")]);
    let body = json!({
        "messages": [{ "role": "assistant", "tool_calls": [
            { "id": "c1", "function": { "name": "read", "arguments": "{}" } },
        ] }],
    });
    let url = format!("{}/v1/chat/completions", model.url());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = http.post(url).body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 400);
    assert_eq!(
        model.take_violations(),
        ["tool calls without a result: read (c1)"]
    );
}
