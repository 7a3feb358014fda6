//! What `run` prints during a turn: the answer alone, or every event as JSON.

use std::process::Stdio;

use lathe_provider::Usage;
use lathe_test_support::fake_model::{FakeModel, Item, call, text as say, usage};
use serde_json::{Value, json};

use crate::lathectl::{Home, text};

/// The context of the fake model without what is reserved for the answer.
fn full_context() -> Item {
    usage(Usage {
        input: 191_900,
        output: 100,
        ..Usage::default()
    })
}

fn reads() -> Item {
    call("read", json!({ "filePath": "a.txt" }))
}

#[tokio::test]
async fn a_summary_during_the_turn_is_not_part_of_the_answer() {
    let model = FakeModel::start().await;
    model.reply([say("Let me look."), reads(), full_context()]);
    model.reply([say("## Goal\nRead a.txt")]);
    model.reply([say("It says one.")]);
    let home = Home::new(&model);
    let output = home.run(&["run", "what does it say?"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "Let me look.\nIt says one.\n");
}

#[tokio::test]
async fn a_slow_reader_also_gets_the_text_after_a_summary() {
    let model = FakeModel::start().await;
    let words: Vec<_> = (0..20_000).map(|number| format!("w{number} ")).collect();
    model.reply([say("Let me look."), reads(), full_context()]);
    model.reply([say("## Goal\nRead a.txt")]);
    model.reply(words.iter().map(say));
    let home = Home::new(&model);
    let mut command = home.command(&["run", "tell me"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    home.stores("part", "w19999").await;
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = output.await.unwrap();
    assert!(output.status.success());
    let expected = format!("Let me look.\n{}", words.concat());
    assert!(text(&output.stdout).trim_end() == expected.trim_end());
}

fn events(output: &[u8]) -> Vec<Value> {
    let lines = text(output);
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn json_includes_the_session_its_subtasks_and_its_title() {
    let model = FakeModel::start().await;
    model.title("Greeting the garden");
    let task = json!({ "description": "Look", "prompt": "look", "subagent_type": "explore" });
    model.reply([call("task", task)]);
    model.reply([say("a task was here")]);
    model.reply([say("done")]);
    let home = Home::new(&model);
    let output = home.run(&["run", "--json", "go"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let events = events(&output.stdout);
    assert_eq!(events[0]["type"], "session.created");
    let own = &events[0]["properties"]["info"]["id"];
    let child = events
        .iter()
        .find(|event| event["properties"]["info"]["parentID"] == *own)
        .unwrap();
    let child = &child["properties"]["info"]["id"];
    let said: String = events
        .iter()
        .filter(|event| event["properties"]["part"]["sessionID"] == *child)
        .filter_map(|event| event["properties"]["delta"].as_str())
        .collect();
    assert_eq!(said, "a task was here");
    let idle = |id: &Value| {
        let is_idle = |event: &Value| {
            event["type"] == "session.idle" && event["properties"]["sessionID"] == *id
        };
        events.iter().position(is_idle)
    };
    assert!(idle(child).unwrap() < idle(own).unwrap());
    let titled = |event: &Value| event["properties"]["info"]["title"] == "Greeting the garden";
    assert!(events.iter().any(titled), "{}", text(&output.stdout));
}
