//! From the socket to the stored part and the told event: what a long answer costs.
//!
//! The fake model runs as a process of its own, so that only our side is counted. Prints one
//! JSON object a row; times are CPU seconds of this process. The baseline reads the same
//! bytes and parses each event as plain JSON, which is the least anyone must do.

// A benchmark that cannot go on has nothing better to do than to say so.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Event, ModelRef};
use lathe_session::bus::{Heard, Told};
use lathe_session::{Options, Sessions};
use serde_json::{Value, json};

const DELTAS: usize = 20_000;
/// The fake model says so many characters at a time.
const PIECE: usize = 7;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
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
            Heard::Missed => {}
            Heard::Notice(notice) => {
                heard += 1;
                if let Told::Event(event) = notice.told
                    && matches!(*event, Event::SessionIdle { .. })
                {
                    return (cpu() - began, heard);
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
    cpu() - began
}

struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Answers small, large, large: one for each request of the run.
    fn start(folder: &Path) -> Self {
        let large = "lathe. ".repeat(DELTAS);
        let replies = [&"lathe. ".repeat(10), &large, &large]
            .map(|text| json!({ "say": [{ "text": text }] }));
        let script = folder.join("script.json");
        std::fs::write(&script, json!({ "replies": replies }).to_string()).expect("a script");
        let mut process = Command::new(fake_model())
            .arg(&script)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fake model");
        let mut said = BufReader::new(process.stdout.take().expect("its output"));
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(
                said.read_line(&mut line).expect("a line") > 0,
                "the fake model did not start"
            );
        }
        let at = line.find("http://").unwrap_or(0);
        let url = line[at..]
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .trim_end_matches('/');
        let url = url.to_owned();
        // Nobody reads on, and a full pipe would stop it.
        std::thread::spawn(move || std::io::copy(&mut said.by_ref(), &mut std::io::sink()));
        Server { process, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Built beside us; `cargo xtask bench` sees to it.
fn fake_model() -> PathBuf {
    let bench = std::env::current_exe().expect("our own path");
    let profile = bench.ancestors().nth(2).expect("the profile's folder");
    profile.join(format!("fake-model{}", std::env::consts::EXE_SUFFIX))
}

fn row(name: &str, ours: f64, baseline: f64) {
    let ratio = ours / baseline;
    println!(
        "{}",
        json!({ "name": name, "ours": ours, "baseline": baseline, "ratio": ratio, "bar": "ours <= 0.25 s" })
    );
}

/// User and system time of this process.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<_> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    Duration::from_millis(((ticks(11) + ticks(12)) * 10.0) as u64).as_secs_f64()
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
