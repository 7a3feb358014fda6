use serde_json::json;

use super::*;

fn page(parts: serde_json::Value) -> String {
    let ids = json!({ "sessionID": "ses_1", "messageID": "msg_1" });
    let mut number = 0;
    let parts: Vec<_> = parts
        .as_array()
        .unwrap()
        .iter()
        .map(|part| {
            number += 1;
            let mut part = part.clone();
            let fields = part.as_object_mut().unwrap();
            fields.insert("id".into(), format!("prt_{number}").into());
            fields.extend(ids.as_object().unwrap().clone());
            part
        })
        .collect();
    let export = json!({
        "info": {
            "id": "ses_1", "projectID": "p", "directory": "/x", "title": "Tea <b>time</b>",
            "version": "1", "time": { "created": 1767806134140i64, "updated": 1767806134140i64 },
        },
        "messages": [{
            "info": { "id": "msg_1", "sessionID": "ses_1", "role": "user", "time": { "created": 1 } },
            "parts": parts,
        }],
    });
    render_session(&serde_json::from_value(export).unwrap())
}

#[test]
fn a_page_loads_nothing_and_runs_no_script() {
    let drawn = page(json!([
        { "type": "text", "text": "<script>alert(1)</script>" },
        { "type": "text", "text": "![x](https://evil.example/p.png) and [l](javascript:x)" },
        { "type": "file", "mime": "image/png", "url": "https://evil.example/q.png" },
        { "type": "file", "mime": "image/svg+xml", "url": "data:image/svg+xml;base64,PHN2Zz4=" },
        { "type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA\" onerror=\"x" },
    ]));
    let lower = drawn.to_lowercase();
    assert!(
        !lower.contains("<script") && !lower.contains("javascript:"),
        "{drawn}"
    );
    assert!(!drawn.contains("\" onerror"), "{drawn}");
    assert!(
        !drawn.contains(" src=\"http") && !drawn.contains("svg+xml;base64"),
        "{drawn}"
    );
    assert!(drawn.contains("default-src &#39;none&#39;"));
    assert!(drawn.contains("Tea &lt;b&gt;time&lt;/b&gt;") && drawn.contains("2026-01-07"));
}

#[test]
fn every_kind_of_part_is_shown() {
    let tokens = json!({ "input": 10, "output": 5 });
    let drawn = page(json!([
        { "type": "text", "text": "**said**" },
        { "type": "reasoning", "text": "thought", "time": { "start": 1 } },
        { "type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,AAAA" },
        { "type": "agent", "name": "explore" },
        { "type": "subtask", "prompt": "look", "description": "a look", "agent": "general" },
        { "type": "step-start" },
        { "type": "step-finish", "reason": "stop", "cost": 0.1, "tokens": tokens },
        { "type": "snapshot", "snapshot": "abc", "name": "before lunch" },
        { "type": "patch", "hash": "abc", "files": ["/x/src/a.rs"] },
        { "type": "retry", "attempt": 2, "error": { "name": "APIError", "data": { "message": "too busy", "isRetryable": true } }, "time": { "created": 1 } },
        { "type": "compaction", "auto": true },
        { "type": "hologram", "beam": "blue" },
        { "type": "tool", "callID": "c", "tool": "edit", "state": {
            "status": "completed", "input": { "filePath": "a.txt" }, "output": "ok", "title": "a.txt",
            "metadata": { "filediff": { "file": "a.txt", "before": "one\n", "after": "two\n", "additions": 1, "deletions": 1 } },
            "time": { "start": 1, "end": 2 } } },
        { "type": "tool", "callID": "d", "tool": "bash", "state": {
            "status": "error", "input": { "command": "false" }, "error": "it failed", "time": { "start": 1, "end": 2 } } },
    ]));
    for expected in [
        "<strong>said</strong>",
        "thought",
        "src=\"data:image/png;base64,AAAA\"",
        "@explore",
        "Task for general: a look",
        "10 tokens in, 5 out",
        "Snapshot “before lunch”",
        "Changed src/a.rs",
        "Attempt 2 failed: too busy",
        "Session compacted",
        "hologram",
        "<tr class=\"del\">",
        "<tr class=\"add\">",
        "it failed",
        "<b>Edit</b> a.txt",
        "$ false",
    ] {
        assert!(drawn.contains(expected), "{expected} is missing in {drawn}");
    }
}

#[test]
fn known_tools_are_shown_in_their_own_form() {
    let call = |tool: &str, input: serde_json::Value, metadata: serde_json::Value| {
        json!({ "type": "tool", "callID": "c", "tool": tool, "state": {
            "status": "completed", "input": input, "output": "OUTPUT", "title": "",
            "metadata": metadata, "time": { "start": 1, "end": 2 } } })
    };
    let drawn = page(json!([
        call(
            "todowrite",
            json!({ "todos": [
            { "content": "<one>", "status": "completed" }, { "content": "two", "status": "pending" },
        ] }),
            json!({})
        ),
        call(
            "question",
            json!({ "questions": [
            { "question": "Tea?", "header": "Drink", "options": [{ "label": "Yes" }] },
        ] }),
            json!({ "answers": [["Yes, <green>"]] })
        ),
        call(
            "server_tool",
            json!({ "size": 3, "text": "<a>" }),
            json!({})
        ),
    ]));
    for expected in [
        "<b>Update tasks</b> 2 items",
        "class=\"task task-done\" aria-label=\"done\"></span> &lt;one&gt;",
        "<b>Question</b> Drink",
        "<p class=\"answer\">Yes, &lt;green&gt;</p>",
        "<dt>size</dt><dd>3</dd><dt>text</dt><dd>&lt;a&gt;</dd>",
    ] {
        assert!(drawn.contains(expected), "{expected} is missing in {drawn}");
    }
    assert_eq!(drawn.matches("OUTPUT").count(), 1);
}

#[test]
fn a_turn_names_its_agent_once_and_shows_its_tokens() {
    let answer = |id: &str, input: i64| {
        json!({
            "info": { "id": id, "sessionID": "ses_1", "role": "assistant", "parentID": "msg_1",
                "time": { "created": 1 }, "providerID": "p", "modelID": "m", "agent": "build",
                "mode": "build", "path": { "cwd": "/x", "root": "/x" }, "cost": 0,
                "tokens": { "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } } },
            "parts": [{ "type": "step-finish", "id": format!("prt_{id}"), "sessionID": "ses_1",
                "messageID": id, "reason": "stop", "cost": 0,
                "tokens": { "input": input, "output": 5, "reasoning": 0, "cache": { "read": 0, "write": 0 } } }],
        })
    };
    let export = json!({
        "info": {
            "id": "ses_1", "projectID": "p", "directory": "/x", "title": "Tea", "version": "1",
            "time": { "created": 1, "updated": 1 },
        },
        "messages": [
            { "info": { "id": "msg_1", "sessionID": "ses_1", "role": "user", "time": { "created": 1 } }, "parts": [] },
            answer("msg_2", 1_000),
            answer("msg_3", 234_567),
        ],
    });
    let drawn = render_session(&serde_json::from_value(export).unwrap());
    assert_eq!(drawn.matches("<h2>build · m</h2>").count(), 1, "{drawn}");
    assert!(drawn.contains("235,567 tokens in, 10 out"), "{drawn}");
    assert!(drawn.contains("1 prompt<"), "{drawn}");
}
