//! The sessions that are measured, written in the format of the store.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

const CREATED: i64 = 1_767_800_000_000;
const PROJECT: &str = "bench";
/// Parts of one answer.
const PARTS: usize = 10;

/// A session with about this many parts.
pub fn session(data: &Path, worktree: &Path, name: &str, parts: usize) {
    let (storage, id) = begin(data, worktree, name);
    let turns = parts.div_ceil(PARTS + 1);
    for turn in 0..turns {
        let at = CREATED + (turn as i64) * 1000;
        let (asked, said) = (message_id(name, turn, 0), message_id(name, turn, 1));
        message(&storage, &id, &asked, &user(at));
        let text = format!("Question {turn}: what does module {turn} do?");
        part(
            &storage,
            &id,
            &asked,
            0,
            &json!({ "type": "text", "text": text }),
        );
        message(&storage, &id, &said, &assistant(worktree, &asked, at));
        for number in 0..PARTS {
            let text =
                format!("Paragraph {number} of answer {turn}. It **keeps** a `short` history.");
            part(
                &storage,
                &id,
                &said,
                number,
                &json!({
                    "type": "text", "text": text, "time": { "start": at, "end": at + 1 },
                }),
            );
        }
    }
}

/// A session of one turn, with a call that writes a file for each count of lines.
pub fn changes(data: &Path, worktree: &Path, name: &str, lines: &[usize]) {
    let (storage, id) = begin(data, worktree, name);
    let (asked, said) = (message_id(name, 0, 0), message_id(name, 0, 1));
    message(&storage, &id, &asked, &user(CREATED));
    let text = json!({ "type": "text", "text": "Question 0: write them" });
    part(&storage, &id, &asked, 0, &text);
    message(&storage, &id, &said, &assistant(worktree, &asked, CREATED));
    for (number, lines) in lines.iter().enumerate() {
        let line = |at| format!("pub fn line_{at}() -> usize {{ {at} + 1 }} // of {lines}\n");
        let content: String = (0..*lines).map(line).collect();
        let input = json!({ "filePath": worktree.join(format!("{lines}.rs")), "content": content });
        let state = json!({
            "status": "completed", "input": input, "output": "Written.", "title": format!("{lines}.rs"),
            "metadata": {}, "time": { "start": CREATED, "end": CREATED + 1 },
        });
        let call = json!({ "type": "tool", "tool": "write", "callID": format!("call{number}"), "state": state });
        part(&storage, &id, &said, number, &call);
    }
}

/// Writes the records of the project and of the session.
fn begin(data: &Path, worktree: &Path, name: &str) -> (PathBuf, String) {
    let storage = data.join("storage");
    let id = format!("ses_{name}00000000000000");
    write(&storage.join("migration"), &json!(2));
    write(
        &storage.join(format!("project/{PROJECT}.json")),
        &json!({ "id": PROJECT, "worktree": worktree, "time": { "created": CREATED } }),
    );
    write(
        &storage.join(format!("session/{PROJECT}/{id}.json")),
        &json!({
            "id": id, "projectID": PROJECT, "directory": worktree, "title": format!("Session {name}"),
            "version": "0.1.0", "time": { "created": CREATED, "updated": CREATED + 1 },
        }),
    );
    (storage, id)
}

fn message_id(name: &str, turn: usize, number: usize) -> String {
    format!("msg_{name}{turn:08}{number}aaaaaaaaaaaa")
}

fn user(at: i64) -> Value {
    json!({ "role": "user", "time": { "created": at } })
}

fn assistant(worktree: &Path, asked: &str, at: i64) -> Value {
    json!({
        "role": "assistant", "parentID": asked, "modelID": "m", "providerID": "fake", "mode": "build",
        "agent": "build", "path": { "cwd": worktree, "root": worktree }, "cost": 0,
        "tokens": { "input": 1, "output": 1, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
        "finish": "stop", "time": { "created": at + 1, "completed": at + 2 },
    })
}

fn message(storage: &Path, session: &str, id: &str, fields: &Value) {
    let mut value = json!({ "id": id, "sessionID": session });
    merge(&mut value, fields);
    write(
        &storage.join(format!("message/{session}/{id}.json")),
        &value,
    );
}

fn part(storage: &Path, session: &str, message: &str, number: usize, fields: &Value) {
    let id = format!(
        "prt_{}{number:04}",
        message
            .trim_start_matches("msg_")
            .get(..14)
            .unwrap_or(message)
    );
    let mut value = json!({ "id": id, "sessionID": session, "messageID": message });
    merge(&mut value, fields);
    write(&storage.join(format!("part/{message}/{id}.json")), &value);
}

fn merge(value: &mut Value, fields: &Value) {
    if let (Some(value), Some(fields)) = (value.as_object_mut(), fields.as_object()) {
        value.extend(fields.clone());
    }
}

fn write(path: &Path, value: &Value) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, value.to_string()).expect("a file");
}
