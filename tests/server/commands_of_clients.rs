//! Shell commands and terminals of clients: they run only after the permission that the agent
//! would need.

use futures::{SinkExt, Stream, StreamExt};
use lathe_test_support::fake_model::text;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::door::{Door, PASSWORD, PATIENCE, until};

type Socket = WebSocketStream<TcpStream>;

/// Answers the next permission that is asked for, and returns what was asked.
async fn answer(
    door: &Door,
    events: &mut (impl Stream<Item = Value> + Unpin),
    reply: &str,
) -> Value {
    let seen = until(events, "permission.asked").await;
    let asked = seen.last().unwrap()["properties"].clone();
    let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    door.post(&path, json!({ "reply": reply })).await;
    asked
}

#[tokio::test]
async fn a_shell_command_runs_once_it_is_allowed_and_the_model_reads_it_later() {
    let door = Door::open().await;
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.18.34").await;
    let shell = format!("{path}/shell");
    let body = json!({
        "agent": "build", "command": "touch made && echo fern", "messageID": "msg_chosen",
    });
    let (done, asked) = tokio::join!(door.post(&shell, body), answer(&door, &mut events, "once"));
    assert_eq!(asked["metadata"]["command"], "touch made && echo fern");
    assert!(door.app.path("made").exists());
    assert_eq!(done["info"]["parentID"], "msg_chosen");
    assert_eq!(
        done["parentID"], "msg_chosen",
        "older clients read it there"
    );
    let calls: Vec<_> = done["parts"].as_array().unwrap().iter().collect();
    let call = calls.iter().find(|part| part["type"] == "tool").unwrap();
    assert_eq!(call["tool"], "bash");
    assert_eq!(call["state"]["status"], "completed");
    assert_eq!(call["state"]["output"], "fern\n");

    let asked = door.model.reply([text("I saw it")]);
    let body = json!({ "parts": [{ "type": "text", "text": "What did it print?" }] });
    door.post(&format!("{path}/message"), body).await;
    assert_eq!(asked.request().tool_output("bash"), "fern\n");
}

#[tokio::test]
async fn a_shell_command_that_is_rejected_does_not_run() {
    let door = Door::open().await;
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.18.34").await;
    let shell = format!("{path}/shell");
    let body = json!({ "agent": "build", "command": "touch made" });
    let (done, _) = tokio::join!(
        door.post(&shell, body),
        answer(&door, &mut events, "reject")
    );
    assert!(!door.app.path("made").exists());
    let parts = done["parts"].as_array().unwrap();
    let call = parts.iter().find(|part| part["type"] == "tool").unwrap();
    assert_eq!(call["state"]["status"], "error");
    let empty = json!({ "agent": "build", "command": " " });
    let (status, _) = door.refused(Method::POST, &shell, empty).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

/// Opens a terminal that the person allows.
async fn open(door: &Door, body: Value) -> Value {
    let mut events = door.events("/event", "").await;
    let (opened, _) = tokio::join!(door.post("/pty", body), answer(door, &mut events, "once"));
    opened
}

async fn connect(
    door: &Door,
    path: &str,
    header: Option<(&'static str, String)>,
) -> Result<Socket, StatusCode> {
    let stream = TcpStream::connect(door.address).await.unwrap();
    let mut request = format!("ws://{}{path}", door.address)
        .into_client_request()
        .unwrap();
    if let Some((name, value)) = header {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => Err(response.status()),
        Err(error) => panic!("{error}"),
    }
}

fn password() -> Option<(&'static str, String)> {
    Some(("authorization", format!("Bearer {PASSWORD}")))
}

/// What the terminal writes until it has written this.
async fn read_until(socket: &mut Socket, wanted: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(wanted) {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => seen.push_str(&text),
            other => panic!("{other:?} after {seen:?}"),
        }
    }
    seen
}

#[tokio::test]
async fn a_terminal_runs_what_is_typed_and_says_how_it_ended() {
    let door = Door::open().await;
    let opened = open(&door, json!({ "command": "/bin/sh", "title": "Mine" })).await;
    assert_eq!(opened["title"], "Mine");
    assert_eq!(opened["status"], "running");
    assert_eq!(
        opened["cwd"],
        door.app.path(".").canonicalize().unwrap().to_str().unwrap()
    );
    let id = opened["id"].as_str().unwrap();
    assert_eq!(door.get("/pty").await, json!([opened]));
    assert_eq!(door.get(&format!("/pty/{id}")).await, opened);

    let size = json!({ "size": { "rows": 30, "cols": 100 } });
    let resized = door.request(Method::PUT, &format!("/pty/{id}")).json(&size);
    assert_eq!(resized.send().await.unwrap().status(), StatusCode::OK);
    let path = format!("/pty/{id}/connect");
    let mut socket = connect(&door, &path, password()).await.unwrap();
    let typed = "stty size; test -t 0 && echo te''rminal\r";
    socket.send(Message::Text(typed.into())).await.unwrap();
    let seen = read_until(&mut socket, "terminal").await;
    assert!(seen.contains("30 100"), "{seen:?}");

    // One who connects later sees what was written before.
    let mut second = connect(&door, &path, password()).await.unwrap();
    assert!(read_until(&mut second, "terminal").await.contains("30 100"));
    let later = format!("{path}?cursor=-1");
    let mut third = connect(&door, &later, password()).await.unwrap();

    let mut events = door.events("/event", "").await;
    socket.send(Message::Text("exit 7\r".into())).await.unwrap();
    let seen = until(&mut events, "pty.exited").await;
    let ended = &seen.last().unwrap()["properties"];
    assert_eq!(*ended, json!({ "id": id, "exitCode": 7 }));
    let seen = read_until(&mut third, "exit 7").await;
    assert!(!seen.contains("30 100"), "{seen:?}");
    let known = door.get(&format!("/pty/{id}")).await;
    assert_eq!(
        (&known["status"], &known["exitCode"]),
        (&json!("exited"), &json!(7))
    );
    let removed = door.request(Method::DELETE, &format!("/pty/{id}"));
    assert_eq!(removed.send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(door.get("/pty").await, json!([]));
}

/// A process that has ended may wait for its parent to take note.
fn runs(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let state = stat.ok().and_then(|stat| {
        let (_, rest) = stat.rsplit_once(") ")?;
        rest.chars().next()
    });
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

#[tokio::test]
async fn what_runs_in_a_terminal_ends_when_it_is_closed() {
    let door = Door::open().await;
    let program = json!({ "command": "/bin/sh", "args": ["-c", "echo $$; sleep 1000"] });
    let opened = open(&door, program).await;
    let path = format!("/pty/{}", opened["id"].as_str().unwrap());
    let mut socket = connect(&door, &format!("{path}/connect"), password())
        .await
        .unwrap();
    let process = read_until(&mut socket, "\n").await;
    let process = process.trim().to_owned();
    assert!(runs(&process));
    let mut events = door.events("/event", "").await;
    door.request(Method::DELETE, &path).send().await.unwrap();
    until(&mut events, "pty.exited").await;
    assert!(!runs(&process));
}

#[tokio::test]
async fn a_terminal_that_is_rejected_is_not_opened() {
    let door = Door::open().await;
    let mut events = door.events("/event", "").await;
    let body = json!({ "command": "/bin/sh", "args": ["-c", "touch made"], "env": { "A": "b c" } });
    let (refused, asked) = tokio::join!(
        door.refused(Method::POST, "/pty", body),
        answer(&door, &mut events, "reject"),
    );
    assert_eq!(refused.0, StatusCode::BAD_REQUEST);
    let line = "A='b c' /bin/sh -c 'touch made'";
    assert_eq!(asked["metadata"]["command"], line);
    assert_eq!(door.get("/pty").await, json!([]));
    assert!(!door.app.path("made").exists());
}

#[tokio::test]
async fn nobody_connects_to_a_terminal_without_the_password_or_a_ticket() {
    let door = Door::open().await;
    let opened = open(&door, json!({ "command": "/bin/sh" })).await;
    let path = format!("/pty/{}/connect", opened["id"].as_str().unwrap());
    let unauthorized = Some(StatusCode::UNAUTHORIZED);
    assert_eq!(connect(&door, &path, None).await.err(), unauthorized);
    let guessed = format!("{path}?ticket=guessed");
    assert_eq!(connect(&door, &guessed, None).await.err(), unauthorized);

    let ticket = door.post(&format!("{path}-token"), json!({})).await;
    assert_eq!(ticket["expires_in"], 60);
    let ticket = ticket["ticket"].as_str().unwrap();
    let elsewhere = format!("/pty/pty_other/connect?ticket={ticket}");
    assert_eq!(connect(&door, &elsewhere, None).await.err(), unauthorized);
    let ticket = door.post(&format!("{path}-token"), json!({})).await;
    let with_ticket = format!("{path}?ticket={}", ticket["ticket"].as_str().unwrap());
    let page = Some(("origin", "https://evil.example".to_owned()));
    let forbidden = Some(StatusCode::FORBIDDEN);
    assert_eq!(connect(&door, &with_ticket, page).await.err(), forbidden);
    assert!(connect(&door, &with_ticket, None).await.is_ok());
    assert_eq!(
        connect(&door, &with_ticket, None).await.err(),
        unauthorized,
        "it is used up"
    );
}

#[tokio::test]
async fn a_program_that_reads_no_input_still_gets_its_size_and_is_heard() {
    let door = Door::open().await;
    let script = "trap 'stty size' WINCH; stty raw -echo; echo ready; \
                  while :; do sleep 1000 & wait $!; done";
    let program = json!({ "command": "/bin/sh", "args": ["-c", script] });
    let opened = open(&door, program).await;
    let path = format!("/pty/{}", opened["id"].as_str().unwrap());
    let mut socket = connect(&door, &format!("{path}/connect"), password())
        .await
        .unwrap();
    read_until(&mut socket, "ready").await;
    // More than a terminal takes, and more than may wait for it.
    for _ in 0..2 {
        let typed = Message::Text("x".repeat(1024 * 1024).into());
        socket.send(typed).await.unwrap();
    }
    let size = json!({ "size": { "rows": 31, "cols": 101 } });
    let resized = door.request(Method::PUT, &path).json(&size).send().await;
    assert_eq!(resized.unwrap().status(), StatusCode::OK);
    let heard = read_until(&mut socket, "31 101");
    let heard = tokio::time::timeout(PATIENCE, heard).await;
    assert!(heard.is_ok(), "the size came in time");
}
