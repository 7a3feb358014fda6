//! `serve`, `acp` and `mcp`: programs that other programs speak with. The tests read from them on
//! their own thread, and the fake model answers on another.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::{Value, json};

use crate::lathectl::Home;

/// A program that speaks JSON-RPC, one message a line.
struct Peer {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last: u64,
}

impl Peer {
    fn start(home: &Home, args: &[&str]) -> Peer {
        let mut command = home.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let to = process.stdin.take();
        let from = BufReader::new(process.stdout.take().unwrap());
        Peer {
            process,
            to,
            from,
            last: 0,
        }
    }

    fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().unwrap();
        writeln!(to, "{message}").unwrap();
        to.flush().unwrap();
    }

    /// The answer to a request; what comes before it is not looked at.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
        }
    }

    fn mcp(home: &Home, args: &[&str]) -> Peer {
        let mut peer = Peer::start(home, args);
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client,
        });
        let answer = peer.ask("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "lathe", "{answer}");
        peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        peer
    }

    fn tools(&mut self) -> Vec<Value> {
        let listed = self.ask("tools/list", json!({}));
        listed["result"]["tools"].as_array().unwrap().clone()
    }

    fn call(&mut self, name: &str, arguments: Value) -> (bool, String) {
        let params = json!({ "name": name, "arguments": arguments });
        let answer = self.ask("tools/call", params);
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        (
            result["isError"] == true || answer.get("error").is_some(),
            text.map_or_else(|| answer.to_string(), str::to_owned),
        )
    }

    /// Closes its input; it must end by itself.
    fn end(mut self) {
        drop(self.to.take());
        assert!(self.process.wait().unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_agents_search_and_read_the_sessions_and_change_nothing() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    model.reply([text("The fern is green.")]);
    let done = home.run(&["run", "What colour is it?"]).await;
    assert!(done.status.success());
    let session = home.sessions().await.remove(0);

    let mut peer = Peer::mcp(&home, &["mcp"]);
    let tools = peer.tools();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["search", "read"]);
    assert!(
        tools
            .iter()
            .all(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
    let (failed, found) = peer.call("search", json!({ "query": "fern green" }));
    assert!(!failed && found.starts_with(&session), "{found}");
    let (failed, read) = peer.call("read", json!({ "session": session }));
    assert!(!failed && read.contains("What colour is it?"), "{read}");
    assert!(read.contains("The fern is green."), "{read}");
    let (failed, read) = peer.call("read", json!({ "session": session, "limit": 1 }));
    assert!(!failed && read.contains("There is more before"), "{read}");
    for (name, input) in [
        ("read", json!({ "session": "ses_none" })),
        ("read", json!({ "session": "../../x" })),
        ("search", json!({})),
        ("ask", json!({ "prompt": "hello" })),
    ] {
        let (failed, said) = peer.call(name, input);
        assert!(failed, "{name}: {said}");
    }
    peer.end();
    assert_eq!(home.sessions().await, [session]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_may_ask_gets_the_answer_and_no_permission() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let mut peer = Peer::mcp(&home, &["mcp", "--allow-ask"]);
    model.reply([text("Seven.")]);
    let (failed, said) = peer.call("ask", json!({ "prompt": "How many?" }));
    assert!(!failed && said.starts_with("Seven."), "{said}");
    let command = json!({ "command": "touch made", "description": "Make a file" });
    model.reply([call("bash", command)]);
    model.reply([text("I could not.")]);
    let (_, said) = peer.call("ask", json!({ "prompt": "Make it" }));
    assert!(!home.project().join("made").exists(), "{said}");
    peer.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_agent_mentions_is_not_read_for_it() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    std::fs::write(home.project().join(".env"), "KEY=fern").unwrap();
    let mut peer = Peer::mcp(&home, &["mcp", "--allow-ask"]);
    let asked = model.reply([text("Seven.")]);
    peer.call("ask", json!({ "prompt": "What is in @.env?" }));
    let first = asked.request().body.to_string();
    assert!(!first.contains("KEY=fern"), "{first}");
    let session = home.sessions().await.remove(0);
    let asked = model.reply([text("Eight.")]);
    let again = json!({ "prompt": "And in @.env?", "session": session });
    peer.call("ask", again);
    let second = asked.request().body.to_string();
    assert!(!second.contains("KEY=fern"), "{second}");
    peer.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_says_hello_and_the_program_ends_with_it() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let mut peer = Peer::start(&home, &["acp"]);
    let answer = peer.ask("initialize", json!({ "protocolVersion": 1 }));
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    assert_eq!(answer["result"]["agentInfo"]["name"], "lathe");
    let folder = home.project();
    let new = json!({ "cwd": folder, "mcpServers": [] });
    let session = peer.ask("session/new", new)["result"]["sessionId"].clone();
    model.reply([text("Hello.")]);
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Hi" }] });
    let answer = peer.ask("session/prompt", prompt);
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    peer.end();
    assert_eq!(home.sessions().await, [session.as_str().unwrap()]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_keeps_its_password_in_a_private_file_while_it_runs() {
    use std::os::unix::fs::PermissionsExt;

    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let mut command = home.command(&["serve", "--port", "0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("opencode server listening on ");
    let address = address.unwrap().to_owned();
    assert!(address.starts_with("http://127.0.0.1:"), "{line}");

    let file = home.data().join("server.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let access: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(access["url"], address);
    let mut noted = String::new();
    let mut errors = BufReader::new(process.stderr.take().unwrap());
    errors.read_line(&mut noted).unwrap();
    assert!(
        noted.contains(access["password"].as_str().unwrap()),
        "{noted}"
    );

    let id = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert!(process.wait().unwrap().success());
    assert!(!file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_host_needs_a_password_of_the_persons_own() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    for host in ["0.0.0.0", "192.0.2.1", "example.com"] {
        let output = home
            .run(&["serve", "--hostname", host, "--port", "0"])
            .await;
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("LATHE_SERVER_PASSWORD"), "{said}");
        assert_eq!(output.stdout, b"");
    }
}
