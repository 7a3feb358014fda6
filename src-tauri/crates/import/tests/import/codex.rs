use std::fs;

use lathe_import::Program;
use serde_json::{Value, json};

use crate::memory::{assert_drawn, fixture, import};

/// Two turns, a fork that names its base, and a compaction.
#[test]
fn what_codex_itself_wrote_is_imported_whole() {
    let (memory, report) = import(Program::Codex, &fixture("codex"));
    assert_drawn("codex.txt", &memory, &report);
}

fn lines(records: &[Value]) -> String {
    let time = |number: usize| format!("2026-05-01T08:00:{number:02}.000Z");
    let line = |(number, record): (usize, &Value)| {
        let mut record = record.clone();
        record["timestamp"] = time(number).into();
        record["ordinal"] = number.into();
        format!("{record}\n")
    };
    records.iter().enumerate().map(line).collect()
}

fn meta(id: &str, more: Value) -> Value {
    let mut payload = json!({
        "id": id, "cwd": "/home/user/fern-shop", "cli_version": "0.50.0",
        "timestamp": "2026-05-01T08:00:00.000Z",
    });
    if let Value::Object(more) = more {
        payload.as_object_mut().unwrap().extend(more);
    }
    json!({ "type": "session_meta", "payload": payload })
}

fn item(payload: Value) -> Value {
    json!({ "type": "response_item", "payload": payload })
}

fn event(payload: Value) -> Value {
    json!({ "type": "event_msg", "payload": payload })
}

fn said(role: &str, text: &str) -> Value {
    item(
        json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] }),
    )
}

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// All kinds of calls and outputs, injected messages, turns that were taken back, an aborted turn,
/// a revert in a second file, a subagent, an archived file of mid-2025, and names.
#[test]
fn every_known_record_type_is_imported_or_counted() {
    let home = Home::new();
    let main = [
        meta("thread-a", json!({ "history_mode": "paginated" })),
        json!({ "type": "turn_context", "payload": { "model": "gpt-5", "effort": "high", "cwd": "/home/user/fern-shop" } }),
        said("developer", "Rules"),
        said("user", "<environment_context>x</environment_context>"),
        said("user", "# AGENTS.md instructions for /home/user"),
        said("user", "<user_shell_command>ls</user_shell_command>"),
        said("user", "Patch it"),
        event(json!({ "type": "user_message", "message": "Patch it" })),
        item(
            json!({ "type": "custom_tool_call", "name": "apply_patch", "call_id": "c1", "input": "*** Begin Patch" }),
        ),
        event(
            json!({ "type": "patch_apply_end", "call_id": "c1", "success": true, "changes": { "a.ts": { "update": { "unified_diff": "@@ -1 +1 @@" } } } }),
        ),
        item(
            json!({ "type": "custom_tool_call_output", "call_id": "c1", "output": "{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}" }),
        ),
        item(
            json!({ "type": "local_shell_call", "call_id": "c2", "action": { "type": "exec", "command": ["bash", "-lc", "make"] } }),
        ),
        event(json!({ "type": "exec_command_end", "call_id": "c2", "exit_code": 2 })),
        item(
            json!({ "type": "function_call_output", "call_id": "c2", "output": "Chunk ID: 1\nWall time: 1 s\nOutput:\nfailed" }),
        ),
        item(json!({ "type": "web_search_call", "action": { "query": "fern" } })),
        item(
            json!({ "type": "image_generation_call", "id": "ig", "revised_prompt": "a fern", "result": "aGk=" }),
        ),
        item(
            json!({ "type": "function_call", "name": "view_image", "call_id": "c3", "arguments": "{\"path\":\"a.png\"}" }),
        ),
        item(
            json!({ "type": "function_call_output", "call_id": "c3", "output": [{ "type": "input_text", "text": "here" }, { "type": "input_image", "image_url": "data:image/png;base64,aGk=" }] }),
        ),
        item(json!({ "type": "tool_search_call", "call_id": "c4", "arguments": { "query": "x" } })),
        event(json!({ "type": "turn_aborted", "reason": "interrupted" })),
        said("user", "A mistake"),
        said("assistant", "It is."),
        event(json!({ "type": "thread_rolled_back", "num_turns": 1 })),
        said("user", "Go on"),
        said("assistant", "Gone on."),
        json!({ "type": "compacted", "payload": { "message": "", "replacement_history": [] } }),
        event(json!({ "type": "never_seen" })),
        json!({ "type": "inter_agent_note", "payload": {} }),
        json!({ "type": "security_risk_score", "payload": {} }),
    ];
    let text = lines(&main);
    home.write(
        "sessions/2026/05/01/rollout-2026-05-01T08-00-00-thread-a.jsonl",
        &text,
    );
    // A revert to before "Go on" writes a second file of the same thread.
    let base = json!({ "thread_id": "thread-a", "end_ordinal_exclusive": 7 });
    let mut revert = lines(&[
        meta(
            "thread-a",
            json!({ "history_base": base, "timestamp": "2026-05-01T09:00:00.000Z" }),
        ),
        said("user", "Another try"),
        said("assistant", "Better."),
    ]);
    revert = revert.replace("T08:00:", "T09:00:");
    home.write(
        "sessions/2026/05/01/rollout-2026-05-01T09-00-00-thread-a_second.jsonl",
        &revert,
    );
    let source =
        json!({ "subagent": { "thread_spawn": { "parent_thread_id": "thread-a", "depth": 1 } } });
    let child = lines(&[
        meta(
            "thread-b",
            json!({ "source": source, "timestamp": "2026-05-01T08:30:00.000Z" }),
        ),
        said("user", "Count"),
        said("assistant", "Seven"),
    ]);
    home.write(
        "sessions/2026/05/01/rollout-2026-05-01T08-30-00-thread-b.jsonl",
        &child,
    );
    let bare = concat!(
        "{\"id\":\"thread-old\",\"timestamp\":\"2025-06-01T08:00:00.000Z\",\"instructions\":null}\n",
        "{\"record_type\":\"state\"}\n",
        "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Old times\"}]}\n",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Indeed\"}]}\n",
    );
    home.write(
        "archived_sessions/rollout-2025-06-01T08-00-00-thread-old.jsonl",
        bare,
    );
    let names = concat!(
        "{\"id\":\"thread-a\",\"thread_name\":\"First name\"}\n",
        "{\"id\":\"thread-a\",\"thread_name\":\"Last name\"}\n",
    );
    home.write("session_index.jsonl", names);
    let (memory, report) = import(Program::Codex, home.0.path());
    assert_drawn("codex_records.txt", &memory, &report);
    let archived = memory
        .sessions
        .values()
        .filter(|one| one.time.archived.is_some());
    assert_eq!(
        archived.map(|one| one.title.as_str()).collect::<Vec<_>>(),
        ["Old times"]
    );
}

#[test]
fn a_compressed_file_is_read_like_a_plain_one() {
    let (memory, report) = import(
        Program::Codex,
        &fixture("rollout-2026-05-01T08-00-00-packed.jsonl.zst"),
    );
    assert_eq!(
        memory.draw(),
        "# Packed in /home/user/fern-shop\nuser | \"Packed\"\n"
    );
    assert_eq!(report.problems, []);
}

/// Newer versions write a marker of a compaction among the items. Its content is sealed, so what
/// came before stays visible.
#[test]
fn a_sealed_compaction_is_a_marker_and_hides_nothing() {
    for kind in ["compaction", "context_compaction"] {
        let home = Home::new();
        let records = [
            meta("thread-c", json!({})),
            said("user", "Before"),
            said("assistant", "Yes"),
            item(json!({ "type": kind, "encrypted_content": "sealed" })),
            said("user", "After"),
        ];
        home.write(
            "sessions/rollout-2026-05-01T08-00-00-thread-c.jsonl",
            &lines(&records),
        );
        let (memory, report) = import(Program::Codex, home.0.path());
        let drawn = memory.draw();
        for text in [
            "\"Before\"",
            "\"Yes\"",
            "ignored \"The session was compacted here.\"",
            "\"After\"",
        ] {
            assert!(drawn.contains(text), "{kind}: {text} is not in {drawn}");
        }
        assert_eq!(report.problems, []);
    }
}
