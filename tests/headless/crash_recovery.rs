//! Killed at any moment, the program loses nothing that was stored.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use lathe_test_support::fake_model::{Answered, FakeModel, call, pause, reasoning, text as say};
use serde_json::{Value, json};

use crate::lathectl::Home;

fn kills() -> u64 {
    if std::env::var_os("LATHE_SOAK").is_some() {
        500
    } else {
        12
    }
}

/// A turn that streams for a while, reads a file, runs a command and starts a subtask.
fn script(model: &FakeModel) -> Answered {
    let mut first = vec![reasoning("thinking it over")];
    for word in 0..12 {
        first.extend([say(format!("word {word} ")), pause(8)]);
    }
    first.push(call("read", json!({ "filePath": "a.txt" })));
    first.push(call(
        "bash",
        json!({ "command": "sleep 0.1; echo ran", "description": "Wait" }),
    ));
    first.push(call(
        "task",
        json!({ "description": "Look", "prompt": "look", "subagent_type": "explore" }),
    ));
    let answered = model.reply(first);
    model.reply([say("a task "), pause(60), say("was here")]);
    model.reply([say("and "), pause(20), say("done")]);
    answered
}

#[tokio::test]
async fn a_run_killed_at_any_moment_leaves_a_session_that_can_be_read_and_continued() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    model.reply([say("hello")]);
    assert!(home.run(&["run", "hello"]).await.status.success());
    let mut seen = Vec::new();
    for round in 0..kills() {
        let asked = script(&model);
        let mut child = home
            .command(&["run", "--yes", "--continue", "go"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Some are killed while they start, most during the turn; exactly where depends on the
        // machine.
        if round % 4 > 0 {
            asked.asked().await;
        }
        tokio::time::sleep(Duration::from_millis((round * 37) % 420)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        while model.unused_replies() > 0 {
            // What the killed one did not ask for must not answer the next.
            model.remove_next_reply();
        }
        let stored = records(&home.data().join("storage"));
        for (path, content) in &seen {
            assert!(
                stored.iter().any(|(other, _)| other == path),
                "{path} was stored and is gone ({content})"
            );
        }
        seen = stored;
    }
    model.take_violations();

    model.reply([say("here I am")]);
    let output = home.run(&["run", "--continue", "still there?"]).await;
    assert!(
        output.status.success(),
        "{}",
        crate::lathectl::text(&output.stderr)
    );
    assert!(home.run(&["check"]).await.status.success());
    each_tool_is_settled(&home).await;
    // In this script only a kill makes a call fail.
    for tool in tools(&home).await {
        assert!(
            tool["state"]["status"] == "completed" || is_aborted(&tool),
            "{tool}"
        );
    }
    let strays: Vec<_> = records_named(&home.data().join("storage"), |name| name.starts_with('.'));
    assert_eq!(strays, Vec::<String>::new());
}

/// Every call has ended, also those that a kill left open.
pub async fn each_tool_is_settled(home: &Home) {
    for part in tools(home).await {
        let status = part["state"]["status"].as_str().unwrap();
        assert!(["completed", "error"].contains(&status), "{part}");
    }
}

/// The calls of all sessions, including those of subtasks.
async fn tools(home: &Home) -> Vec<Value> {
    let mut tools = Vec::new();
    for id in home.sessions().await {
        let export = home.json(&["export", &id]).await;
        let messages = export["messages"].as_array().unwrap();
        let parts = messages.iter().flat_map(parts);
        tools.extend(parts.filter(|part| part["type"] == "tool"));
    }
    tools
}

fn is_aborted(tool: &Value) -> bool {
    tool["state"]["error"] == "Tool execution aborted"
}

#[tokio::test]
async fn a_call_left_open_by_a_kill_reads_as_aborted() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let input = json!({ "command": "touch up; sleep 20", "description": "Wait" });
    model.reply([call("bash", input)]);
    let mut command = home.command(&["run", "--yes", "go"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !home.project().join("up").exists() {
        tokio::task::yield_now().await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    model.reply([say("here I am")]);
    let output = home.run(&["run", "--continue", "still there?"]).await;
    assert!(output.status.success());
    let [tool] = tools(&home).await.try_into().unwrap();
    assert!(is_aborted(&tool), "{tool}");
}

fn parts(message: &Value) -> Vec<Value> {
    message["parts"].as_array().unwrap().clone()
}

/// Every stored record; each must be valid JSON.
pub fn records(storage: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in records_named(storage, |name| {
        name.ends_with(".json") && !name.starts_with('.')
    }) {
        let content = std::fs::read_to_string(&path).unwrap();
        assert!(
            serde_json::from_str::<Value>(&content).is_ok(),
            "{path} is torn: {content}"
        );
        found.push((path, content));
    }
    found.sort();
    found
}

pub fn records_named(folder: &Path, wanted: impl Fn(&str) -> bool + Copy) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if wanted(&name) {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}
