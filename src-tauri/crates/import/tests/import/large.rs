//! Long histories: many files, with memory that does not grow with them.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use lathe_import::{Control, Known, Program, Progress, Writer};
use lathe_protocol::{MessageWithParts, Session, SessionId};
use parking_lot::Mutex;
use serde_json::json;

struct Size {
    files: usize,
    /// Of each file.
    turns: usize,
    /// Of each answer's call.
    output: usize,
}

/// 10,000 files of 1 GB in a soak.
fn size() -> Size {
    match std::env::var_os("LATHE_SOAK") {
        Some(_) => Size {
            files: 10_000,
            turns: 10,
            output: 10_000,
        },
        None => Size {
            files: 60,
            turns: 4,
            output: 10_000,
        },
    }
}

/// The memory that an import may need for itself, beside what the tests have.
const MOST_GROWTH: u64 = 96 * 1024 * 1024;

/// Counts, and looks at the memory after each session.
#[derive(Default)]
struct Counting {
    messages: usize,
    sessions: usize,
    most: u64,
}

impl Writer for Counting {
    type Error = Infallible;

    fn begin(&mut self, _: &SessionId, _: &str) -> Result<Known, Infallible> {
        Ok(Known::New)
    }

    fn message(&mut self, _: &MessageWithParts) -> Result<(), Infallible> {
        self.messages += 1;
        Ok(())
    }

    fn end(&mut self, _: Session) -> Result<(), Infallible> {
        self.sessions += 1;
        self.most = self.most.max(memory());
        Ok(())
    }
}

/// In bytes; 0 where the system does not say it like this.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

fn write_claude(path: &Path, id: &str, turns: usize, output: &str) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut line = |record: serde_json::Value| writeln!(file, "{record}").unwrap();
    let mut last = String::new();
    for turn in 0..turns {
        let time = format!("2026-01-01T00:{turn:02}:00Z");
        let [ask, answer, result] = ["a", "b", "c"].map(|name| format!("{id}{name}{turn}"));
        line(
            json!({ "type": "user", "uuid": ask, "parentUuid": last, "timestamp": time, "cwd": "/w", "message": { "role": "user", "content": "Go on" } }),
        );
        let call = json!({ "type": "tool_use", "id": result, "name": "Bash", "input": { "command": "make" } });
        line(
            json!({ "type": "assistant", "uuid": answer, "parentUuid": ask, "timestamp": time, "message": { "id": answer, "model": "claude", "content": [call] } }),
        );
        let done = json!({ "type": "tool_result", "tool_use_id": result, "content": output });
        line(
            json!({ "type": "user", "uuid": result, "parentUuid": answer, "timestamp": time, "message": { "role": "user", "content": [done] } }),
        );
        last = result;
    }
}

fn write_codex(path: &Path, id: &str, turns: usize, output: &str) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut line = |kind: &str, payload: serde_json::Value| {
        let record =
            json!({ "timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload });
        writeln!(file, "{record}").unwrap();
    };
    line(
        "session_meta",
        json!({ "id": id, "cwd": "/w", "timestamp": "2026-01-01T00:00:00Z" }),
    );
    for turn in 0..turns {
        let text = json!([{ "type": "input_text", "text": "Go on" }]);
        line(
            "response_item",
            json!({ "type": "message", "role": "user", "content": text }),
        );
        let call = format!("call{turn}");
        line(
            "response_item",
            json!({ "type": "function_call", "name": "shell", "call_id": call, "arguments": "{}" }),
        );
        line(
            "response_item",
            json!({ "type": "function_call_output", "call_id": call, "output": output }),
        );
    }
}

fn check(program: Program, home: &Path, files: usize, turns: usize) {
    let seen = Arc::new(Mutex::new(Progress::default()));
    let noted = seen.clone();
    let control = Control::new(move |progress| *noted.lock() = progress);
    let before = memory();
    let mut counting = Counting::default();
    let report = lathe_import::import(program, home, &mut counting, &control).unwrap();
    assert_eq!(
        (counting.sessions, counting.messages),
        (files, files * turns * 2)
    );
    assert_eq!(
        (report.added, report.messages, report.calls),
        (files, files * turns * 2, files * turns)
    );
    assert_eq!(report.problems, []);
    let progress = *seen.lock();
    assert_eq!((progress.files, progress.done), (files, files));
    let grown = counting.most.saturating_sub(before);
    assert!(grown < MOST_GROWTH, "{} MB", grown >> 20);
}

#[test]
fn long_histories_are_read_in_little_memory() {
    let Size {
        files,
        turns,
        output,
    } = size();
    let output = "o".repeat(output);
    let home = tempfile::tempdir().unwrap();
    // In one folder, as those of a person with one project.
    let folder = home.path().join("projects/-w");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..files {
        let id = format!("{number:05}");
        write_claude(&folder.join(format!("{id}.jsonl")), &id, turns, &output);
    }
    check(Program::Claude, home.path(), files, turns);
    drop(home);

    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sessions/2026/01/01");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..files {
        let id = format!("thread-{number:05}");
        let name = format!("rollout-2026-01-01T00-00-00-{id}.jsonl");
        write_codex(&folder.join(name), &id, turns, &output);
    }
    check(Program::Codex, home.path(), files, turns);
}
