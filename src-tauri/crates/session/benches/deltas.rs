//! From the socket to the stored part and the told event: what a long answer costs.
//!
//! The fake model runs as a process of its own, so that only our side is counted. Prints one
//! JSON object a row; times are CPU seconds of this process. The baseline reads the same
//! bytes and parses each event as plain JSON, which is the least anyone must do.

// A benchmark that cannot go on has nothing better to do than to say so.
#![allow(clippy::expect_used, clippy::print_stdout)]

mod server;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Event, ModelRef};
use lathe_session::bus::{BusItem, Notification};
use lathe_session::{Options, Sessions};
use serde_json::{Value, json};
use server::{Server, cpu};

const DELTAS: usize = 20_000;
/// The fake model says so many characters at a time.
const PIECE: usize = 7;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path(), &script());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (small, _) = runtime.block_on(answer(folder.path(), &server.url, "small"));
    let before = resident();
    let (ours, heard) = runtime.block_on(answer(folder.path(), &server.url, "large"));
    let grown = resident().saturating_sub(before);
    let baseline = parse_plainly(&server.url);
    assert!(heard > 0, "nobody heard the answer");
    row(
        "20,000 deltas, socket to store and bus (CPU s)",
        ours - small,
        baseline,
    );
    println!(
        "{}",
        json!({ "name": "memory grown by 20,000 deltas (bytes)", "ours": grown,
                "baseline": DELTAS * PIECE, "unit": "B",
                "ratio": grown as f64 / (DELTAS * PIECE) as f64 })
    );
}

/// CPU seconds of one turn, and how many notices a listener heard of it.
async fn answer(folder: &Path, url: &str, model: &str) -> (f64, usize) {
    let config = folder.join("config.json");
    let models = json!({ "small": {}, "large": {} });
    let provider = json!({ "wire": "openai-chat", "models": models,
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" } });
    std::fs::write(
        &config,
        json!({ "provider": { "fake": provider } }).to_string(),
    )
    .expect("config");
    let mut options = Options::new(folder.join("data"));
    options.config = Some(config);
    let sessions = Sessions::open(options).await.expect("a store");
    let project = sessions.open_project(folder).await.expect("a project");
    let session = sessions.create(&project, None).await.expect("a session");
    sessions
        .rename(&session.id, "named, so that nobody asks for a title")
        .await
        .expect("a name");
    let mut events = sessions.subscribe();
    let input = PromptInput {
        text: model.to_owned(),
        model: Some(ModelRef::new("fake", model)),
        ..PromptInput::default()
    };
    let began = cpu();
    sessions.prompt(&session.id, input).await.expect("a turn");
    let mut heard = 0;
    loop {
        match events.next().await.expect("a running program") {
            BusItem::Missed => {}
            BusItem::Notification(notice) => {
                heard += 1;
                if let Notification::Event(event) = notice.notification
                    && matches!(*event, Event::SessionIdle { .. })
                {
                    return ((cpu() - began) / 1000.0, heard);
                }
            }
        }
    }
}

/// The same answer, read and parsed event by event, and nothing kept.
fn parse_plainly(url: &str) -> f64 {
    let address = url.trim_start_matches("http://");
    let body = json!({ "model": "large", "stream": true,
        "messages": [{ "role": "user", "content": "large" }] })
    .to_string();
    let began = cpu();
    let mut socket = TcpStream::connect(address).expect("the server");
    write!(
        socket,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("a request");
    let mut parsed = 0;
    for line in BufReader::new(socket).lines() {
        let Ok(line) = line else { break };
        if let Some(data) = line.strip_prefix("data: ")
            && serde_json::from_str::<Value>(data).is_ok()
        {
            parsed += 1;
        }
    }
    assert!(parsed >= DELTAS, "only {parsed} events");
    (cpu() - began) / 1000.0
}

/// Small, large, large: one for each request of the run.
fn script() -> Value {
    let large = "lathe. ".repeat(DELTAS);
    let replies =
        [&"lathe. ".repeat(10), &large, &large].map(|text| json!({ "say": [{ "text": text }] }));
    json!({ "replies": replies })
}

fn row(name: &str, ours: f64, baseline: f64) {
    let ratio = ours / baseline;
    println!(
        "{}",
        json!({ "name": name, "ours": ours, "baseline": baseline, "ratio": ratio, "bar": "ours <= 0.25 s" })
    );
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
