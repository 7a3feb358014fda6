//! A tool call as it is sent to a window: without long texts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use lathe_protocol::{Map, MessageId, PartId, SessionId, ToolPart, ToolState};
use serde_json::{Value, json};

fn call() -> ToolPart {
    ToolPart::pending(
        PartId::parse("prt_1").unwrap(),
        SessionId::parse("ses_1").unwrap(),
        MessageId::parse("msg_1").unwrap(),
        "call_1",
        "write",
    )
}

fn object(value: Value) -> Map {
    serde_json::from_value(value).unwrap()
}

fn completed(text: &str) -> ToolPart {
    let mut part = call();
    let input = object(json!({ "filePath": "a.txt", "content": text }));
    part.start(input, 1.into()).unwrap();
    let metadata = object(json!({ "filediff": { "after": text, "additions": 1 } }));
    part.complete(text.into(), "a.txt".into(), metadata, vec![], 2.into())
        .unwrap();
    part
}

#[test]
fn a_short_call_is_unchanged() {
    assert_eq!(completed("one").shortened(), completed("one"));
}

#[test]
fn long_texts_are_cut_in_input_output_and_metadata() {
    let cut = format!("{}…", "ä".repeat(512));
    assert_eq!(completed(&"ä".repeat(5_000)).shortened(), completed(&cut));
}

#[test]
fn streaming_arguments_keep_their_start_and_their_end() {
    let mut part = call();
    let long = "x".repeat(9_000);
    part.receive(&format!("{{\"filePath\":\"a.txt\",\"content\":\"{long}"))
        .unwrap();
    part.receive("the end").unwrap();
    let part = part.shortened();
    let ToolState::Pending(state) = part.state() else {
        panic!("no longer pending")
    };
    assert!(state.raw.starts_with("{\"filePath\":\"a.txt\""));
    assert!(state.raw.ends_with("the end"));
    assert!(state.raw.len() < 2_100, "{}", state.raw.len());
}
