//! A long history in OpenCode's JSON format: many sessions, and one long one.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Failure;

/// A day in January 2026.
const BEGAN: i64 = 1_767_806_134_140;

/// Adds the sessions to the project that a first run left there; names the long one.
pub fn generate(
    data: &Path,
    directory: &Path,
    sessions: usize,
    messages: usize,
) -> Result<String, Failure> {
    let storage = data.join("storage");
    let project = project_of(&storage)?;
    let directory = directory.display().to_string();
    let mut long = String::new();
    for number in 0..sessions {
        let created = BEGAN + number as i64 * 60_000;
        let id = id("ses", !tick(created, 1), number);
        let session = json!({
            "id": id, "slug": "quiet-river", "version": "1.1.27", "projectID": project,
            "directory": directory, "title": format!("Session number {number}"),
            "time": { "created": created, "updated": created + 30_000 },
            "summary": { "additions": 3, "deletions": 1, "files": 1 },
        });
        let folder = storage.join("session").join(&project);
        write(&folder, &id, &session)?;
        long = id;
    }
    write_messages(&storage, &long, &directory, messages)?;
    Ok(long)
}

/// The project that a first run created.
fn project_of(storage: &Path) -> Result<String, Failure> {
    let folder = storage.join("session");
    let entry = fs::read_dir(&folder)?.next();
    let entry = entry.ok_or("the first run left no session")??;
    Ok(entry.file_name().to_string_lossy().into_owned())
}

/// A fifth are prompts with two parts, the rest answers with five: 4.6 parts a message.
fn write_messages(
    storage: &Path,
    session: &str,
    directory: &str,
    messages: usize,
) -> Result<(), Failure> {
    let mut prompt = String::new();
    for number in 0..messages {
        let created = BEGAN + 200_000_000 + number as i64 * 1_000;
        let is_prompt = number % 5 == 0;
        let message = id("msg", tick(created, 1), number);
        let info = if is_prompt {
            prompt.clone_from(&message);
            json!({
                "id": message, "sessionID": session, "role": "user",
                "time": { "created": created }, "agent": "build",
                "model": { "providerID": "mock", "modelID": "m" },
            })
        } else {
            json!({
                "id": message, "sessionID": session, "role": "assistant", "parentID": prompt,
                "time": { "created": created, "completed": created + 900 },
                "modelID": "m", "providerID": "mock", "mode": "build", "agent": "build",
                "path": { "cwd": directory, "root": directory }, "cost": 0.01,
                "tokens": { "input": 900, "output": 90, "reasoning": 0,
                            "cache": { "read": 0, "write": 0 } },
                "finish": "tool-calls",
            })
        };
        write(&storage.join("message").join(session), &message, &info)?;
        let folder = storage.join("part").join(&message);
        for (at, body) in parts(is_prompt, number, created).into_iter().enumerate() {
            let id = id("prt", tick(created, 2 + at as i64), number);
            let mut part = json!({ "id": id, "sessionID": session, "messageID": message });
            if let (Value::Object(part), Value::Object(body)) = (&mut part, body) {
                part.extend(body);
            }
            write(&folder, &id, &part)?;
        }
    }
    Ok(())
}

fn parts(is_prompt: bool, number: usize, created: i64) -> Vec<Value> {
    let time = json!({ "start": created, "end": created + 500 });
    if is_prompt {
        return vec![
            json!({ "type": "text", "text": format!("Please look at file {number}.") }),
            json!({ "type": "text", "text": "And then go on.", "synthetic": true }),
        ];
    }
    let output = format!("line {number} of a file that was read\n").repeat(20);
    let state = json!({
        "status": "completed", "input": { "filePath": format!("file{number}.txt") },
        "output": output, "title": format!("file{number}.txt"),
        "metadata": { "truncated": false }, "time": time,
    });
    let tokens =
        json!({ "input": 900, "output": 90, "reasoning": 0, "cache": { "read": 0, "write": 0 } });
    let said = "This is what I found there, and what I make of it. ".repeat(6);
    vec![
        json!({ "type": "step-start" }),
        json!({ "type": "reasoning", "text": "I should look at it first.", "time": time }),
        json!({ "type": "text", "text": said, "time": time }),
        json!({ "type": "tool", "callID": format!("call_{number}"), "tool": "read", "state": state }),
        json!({ "type": "step-finish", "reason": "tool-calls", "cost": 0.01, "tokens": tokens }),
    ]
}

fn write(folder: &Path, id: &str, record: &Value) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    let text = serde_json::to_string_pretty(record)?;
    Ok(fs::write(folder.join(format!("{id}.json")), text)?)
}

fn tick(millis: i64, counter: i64) -> i64 {
    (millis << 12) + counter
}

fn id(prefix: &str, tick: i64, number: usize) -> String {
    let low = tick & ((1 << 48) - 1);
    format!("{prefix}_{low:012x}Bench{number:09}")
}
