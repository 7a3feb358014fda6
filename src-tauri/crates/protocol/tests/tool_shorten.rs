//! A tool call as it is sent to a window: without long texts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use lathe_protocol::{
    Map, MessageId, Part, PartId, PermissionRequest, SessionId, ToolPart, ToolState,
};
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

#[test]
fn of_very_many_short_values_only_the_first_are_sent() {
    let mut part = call();
    let (numbers, names) = (vec![0; 1_000_000], vec![["name"]; 100_000]);
    part.start(
        object(json!({ "first": 1, "numbers": numbers, "names": names })),
        1.into(),
    )
    .unwrap();
    let part = part.shortened();
    let sent = serde_json::to_string(&part).unwrap();
    assert!(sent.len() < 300_000, "{} bytes", sent.len());
    let ToolState::Running(state) = part.state() else {
        panic!("not running")
    };
    assert_eq!(state.input.get("first"), Some(&json!(1)));
}

#[test]
fn a_part_of_an_unknown_type_is_sent_without_its_long_texts() {
    let long = "x".repeat(5_000_000);
    let part = |text: &str| -> Part {
        serde_json::from_value(json!({
            "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "novel",
            "chapters": [text],
        }))
        .unwrap()
    };
    let cut = format!("{}…", &long[..1_024]);
    assert_eq!(part(&long).shortened(), part(&cut));
}

#[test]
fn a_permission_is_sent_with_its_diff_and_without_whole_files() {
    let request = |file: Value| -> PermissionRequest {
        serde_json::from_value(json!({
            "id": "per_1", "sessionID": "ses_1", "permission": "edit", "patterns": ["a.txt"],
            "always": [],
            "metadata": { "diff": "-a\n+b\n", "filediff": file.clone(), "files": [file] },
        }))
        .unwrap()
    };
    let whole = json!({ "file": "a.txt", "before": "a\n", "after": "b\n", "additions": 1 });
    let named = json!({ "file": "a.txt", "additions": 1 });
    assert_eq!(request(whole).shortened(), request(named));
}
