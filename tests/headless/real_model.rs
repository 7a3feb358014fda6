//! A real model server: `cargo xtask test --real-model` starts it.
//!
//! The model is tiny and its answers vary: nothing here depends on its words.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::lathectl::{Home, text};

/// One model as it is, and one that is forced to call a tool.
fn home() -> Home {
    let url = std::env::var("LATHE_REAL_MODEL").unwrap();
    let limit = json!({ "context": 8192, "output": 400 });
    let forced = json!({ "type": "function", "function": { "name": "glob" } });
    let models = json!({
        "plain": { "id": "smollm2", "limit": limit, "tool_call": false },
        "forced": { "id": "smollm2", "limit": limit, "options": { "tool_choice": forced } },
    });
    let provider = json!({ "local": {
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": url, "apiKey": "none", "timeout": 600_000 },
        "models": models,
    } });
    // A short system prompt: a small model has a small context.
    let tiny = json!({
        "mode": "primary", "prompt": "You are brief.", "description": "Brief",
        "permission": { "*": "deny", "glob": "allow" },
    });
    Home::with_config(json!({
        "provider": provider, "model": "local/plain", "small_model": "local/plain",
        "agent": { "tiny": tiny },
    }))
}

fn events(stdout: &[u8]) -> Vec<Value> {
    text(stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The newest answer of the only session, with its parts.
async fn last_answer(home: &Home) -> Value {
    let [id] = home.sessions().await.try_into().unwrap();
    let export = home.json(&["export", &id]).await;
    export["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone()
}

#[tokio::test]
#[ignore = "needs a model server: cargo xtask test --real-model"]
async fn real_model_an_answer_is_stored_as_it_was_streamed() {
    let home = home();
    let output = home
        .run(&[
            "run",
            "--json",
            "--agent",
            "tiny",
            "Say hello in one short sentence.",
        ])
        .await;
    let deltas: Vec<String> = events(&output.stdout)
        .iter()
        .filter_map(|event| Some(event["properties"]["delta"].as_str()?.to_owned()))
        .collect();
    assert!(deltas.len() > 1, "{}", text(&output.stderr));
    let answer = last_answer(&home).await;
    let stored: String = answer["parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part["type"] == "text")
        .filter_map(|part| part["text"].as_str())
        .collect();
    assert_eq!(stored, deltas.concat().trim_end());
    let finish = answer["info"]["finish"].as_str().unwrap();
    assert!(["stop", "length"].contains(&finish), "{answer}");
    assert_eq!(output.status.success(), finish == "stop");
}

#[tokio::test]
#[ignore = "needs a model server: cargo xtask test --real-model"]
async fn real_model_an_answer_can_be_stopped_and_the_session_continues() {
    let home = home();
    let mut command = home.command(&["run", "--agent", "tiny", "Count from one to five hundred."]);
    command.stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    let stopped = tokio::task::spawn_blocking(move || {
        let mut child = child;
        let mut first = [0; 1];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        let pid = child.id().to_string();
        let status = std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status();
        assert!(status.unwrap().success());
        stdout.read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap()
    });
    assert!(!stopped.await.unwrap().success());
    let answer = last_answer(&home).await;
    assert_eq!(answer["info"]["error"]["name"], "MessageAbortedError");
    assert!(answer["info"]["time"]["completed"].is_number());

    let output = home
        .run(&["run", "--continue", "--agent", "tiny", "Say yes."])
        .await;
    assert!(!output.stdout.is_empty(), "{}", text(&output.stderr));
}

#[tokio::test]
#[ignore = "needs a model server: cargo xtask test --real-model"]
async fn real_model_a_forced_call_arrives_whole_and_is_answered() {
    let home = home();
    let args = [
        "run",
        "--json",
        "--agent",
        "tiny",
        "--model",
        "local/forced",
    ];
    let mut command = home.command(&[&args[..], &["Which text files are there?"]].concat());
    command.stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    // The model is forced to call a tool in every step: one step is enough.
    let settled = tokio::task::spawn_blocking(move || {
        let mut child = child;
        let lines = std::io::BufReader::new(child.stdout.take().unwrap());
        let settled = std::io::BufRead::lines(lines)
            .map_while(|line| serde_json::from_str::<Value>(&line.ok()?).ok())
            .map(|event| event["properties"]["part"].clone())
            .find(|part| {
                part["type"] == "tool"
                    && ["completed", "error"]
                        .contains(&part["state"]["status"].as_str().unwrap_or_default())
            });
        child.kill().unwrap();
        child.wait().unwrap();
        settled
    });
    let call = settled.await.unwrap().unwrap();
    assert_eq!(call["tool"], "glob");
    assert!(call["state"]["input"].is_object(), "{call}");
}
