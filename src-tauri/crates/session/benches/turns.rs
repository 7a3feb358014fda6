//! What the loop itself costs: a turn of 200 steps, each with one call of a tool that does
//! nothing, in a short session and in a long one.
//!
//! The fake model runs as a process of its own, so that only our side is counted: CPU of this
//! process per step, the request's encoding and the stream's decoding included. Snapshots are
//! off, because a project that holds our own data has none. Prints one JSON object a row.
//!
//! The bars are read in memory where the system has a folder there: what a disk asks for a new
//! file can be ten times as much on some file systems after many were removed. What ours asks is
//! a row of its own, against the same files written plainly.

// A benchmark that cannot go on has nothing better to do than to say so.
#![allow(clippy::expect_used, clippy::print_stdout)]

mod server;

use std::path::Path;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Event, IdSource, Millis, ModelRef, SessionId, Tick};
use lathe_session::bus::{BusItem, Notification};
use lathe_session::{Options, Sessions};
use lathe_tools::{Registry, Tool, ToolContext, ToolFailure, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use server::{Server, cpu};

const STEPS: usize = 200;
const ROUNDS: usize = 3;
const SHORT: usize = 10;
const LONG: usize = 2_000;

/// Does nothing, at once.
struct Tock;

#[derive(Deserialize, JsonSchema)]
struct TockInput {
    n: usize,
}

impl Tool for Tock {
    const NAME: &'static str = "tock";
    const PROMPT: &'static str = "Does nothing and says so.";
    type Input = TockInput;

    async fn run(&self, input: TockInput, _: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new("tock", format!("tock {}", input.n)))
    }
}

fn main() {
    let (memory, disk) = (memory(), tempfile::tempdir().expect("a folder"));
    let server = Server::start(disk.path(), &script());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let per_step = |folder: &Path, messages: usize| {
        let rounds = (0..ROUNDS).map(|_| runtime.block_on(turn(folder, &server.url, messages)));
        rounds.fold(f64::INFINITY, f64::min)
    };
    // The first turn of a process pays for what the others find ready.
    per_step(memory.path(), SHORT);
    let short = per_step(memory.path(), SHORT);
    let long = per_step(memory.path(), LONG);
    let written = per_step(disk.path(), SHORT);
    let plain = plain_files(&disk.path().join("plain"));
    row(
        &format!("a step in a session of {SHORT} messages (CPU ms)"),
        (short, 3.0),
        "ours < 3 ms",
    );
    row(
        &format!("a step in a session of {LONG} messages (CPU ms)"),
        (long, short),
        "ratio <= 1.5",
    );
    row(
        "a step on the disk against its files alone (CPU ms)",
        (written, plain),
        "",
    );
}

fn row(name: &str, (ours, baseline): (f64, f64), bar: &str) {
    println!(
        "{}",
        json!({ "name": name, "ours": ours, "baseline": baseline, "unit": "ms",
                "ratio": ours / baseline, "bar": bar })
    );
}

/// A folder that no disk is asked about, where the system has one.
fn memory() -> tempfile::TempDir {
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    made.expect("a folder")
}

/// CPU milliseconds for what a step leaves behind: a message, its three parts, and their folder.
fn plain_files(folder: &Path) -> f64 {
    let began = cpu();
    for step in 0..STEPS {
        let parts = folder.join(step.to_string());
        std::fs::create_dir_all(&parts).expect("a folder");
        std::fs::write(folder.join(format!("{step}.json")), [b' '; 600]).expect("a file");
        for part in 0..3 {
            std::fs::write(parts.join(part.to_string()), [b' '; 300]).expect("a file");
        }
    }
    (cpu() - began) / STEPS as f64
}

/// CPU milliseconds per step of one turn.
async fn turn(folder: &Path, url: &str, messages: usize) -> f64 {
    let config = folder.join("config.json");
    let provider = json!({ "wire": "openai-chat",
        "models": { "m": { "limit": { "context": 10_000_000, "output": 8_000 } } },
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" } });
    let value = json!({ "provider": { "fake": provider } });
    std::fs::write(&config, value.to_string()).expect("config");
    let data = folder.join("data");
    let mut options = Options::new(&data);
    options.config = Some(config);
    options.tools = Registry::default().with(Tock);
    let sessions = Sessions::open(options).await.expect("a store");
    let project = sessions.open_project(folder).await.expect("a project");
    let session = sessions.create(&project, None).await.expect("a session");
    let named = sessions.rename(&session.id, "named, so that nobody asks for a title");
    named.await.expect("a name");
    fill(&data.join("storage"), &session.id, messages);

    let mut events = sessions.subscribe();
    let input = PromptInput {
        text: "go".to_owned(),
        model: Some(ModelRef::new("fake", "m")),
        ..PromptInput::default()
    };
    sessions.prompt(&session.id, input).await.expect("a turn");
    // Reading the session is the turn's cost; the steps begin with the first answer.
    let mut began = None;
    loop {
        match events.next().await.expect("a running program") {
            BusItem::Missed => {}
            BusItem::Notification(notice) => {
                let Notification::Event(event) = notice.notification else {
                    continue;
                };
                match &*event {
                    Event::MessageUpdated { info } if info.as_assistant().is_some() => {
                        began.get_or_insert_with(cpu);
                    }
                    Event::SessionIdle { .. } => break,
                    _ => {}
                }
            }
        }
    }
    let took = cpu() - began.expect("a first step");
    let page = sessions.messages(&session.id, None, usize::MAX).await;
    let stored = page.expect("the messages").messages;
    let last = stored.last().expect("an answer");
    assert_eq!(
        stored.len(),
        messages + 1 + STEPS + 1,
        "every step was taken; the last one: {last:?}"
    );
    took / STEPS as f64
}

/// A session with a history: prompts, and answers with a tool call each.
fn fill(storage: &Path, session: &SessionId, messages: usize) {
    let ids = IdSource::new(Tick::default());
    let write = |path: String, value: Value| {
        let path = storage.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, value.to_string()).expect("a record");
    };
    let mut prompt = None;
    for n in 0..messages {
        let now = Millis(1_700_000_000_000 + n as i64 * 1_000);
        let (id, part) = (ids.message(now), ids.part(now));
        let said = format!("Message {n}: {}", "the quick brown fox ".repeat(10));
        let info = if n % 2 == 0 {
            prompt = Some(id.clone());
            json!({ "id": id, "sessionID": session, "role": "user", "time": { "created": now } })
        } else {
            json!({ "id": id, "sessionID": session, "role": "assistant", "parentID": prompt,
                "time": { "created": now, "completed": now }, "modelID": "m", "providerID": "fake",
                "finish": "stop" })
        };
        write(format!("message/{session}/{id}.json"), info);
        let text = json!({ "id": part, "sessionID": session, "messageID": id, "type": "text", "text": said });
        write(format!("part/{id}/{part}.json"), text);
        if n % 2 == 1 {
            let part = ids.part(now);
            let state = json!({ "status": "completed", "input": { "n": n }, "output": said,
                "title": "tock", "metadata": {}, "time": { "start": now, "end": now } });
            let tool = json!({ "id": part, "sessionID": session, "messageID": id, "type": "tool",
                "callID": format!("call_{n}"), "tool": "tock", "state": state });
            write(format!("part/{id}/{part}.json"), tool);
        }
    }
}

/// Asks for the tool in every step but the last, over and over.
fn script() -> Value {
    let call = |n: usize| json!({ "say": [{ "call": { "name": "tock", "input": { "n": n } } }] });
    let mut replies: Vec<_> = (0..STEPS).map(call).collect();
    replies.push(json!({ "say": [{ "text": "done" }] }));
    json!({ "replies": replies, "repeat": true, "forget": true })
}
