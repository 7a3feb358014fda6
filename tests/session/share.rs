//! Sharing a session and unsharing it.

use std::fs;

use lathe_session::Failed;
use lathe_test_support::app::{CANARY_KEY, TestApp};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[tokio::test]
async fn a_shared_page_holds_no_secret_and_unshare_removes_it() {
    let app = TestApp::start().await;
    app.ask(&format!("my key is {CANARY_KEY} and the rest"))
        .await;
    let preview = app.sessions.share_preview(&app.session.id).await.unwrap();
    let left_out: Vec<_> = preview
        .redacted
        .iter()
        .map(|one| one.what.as_str())
        .collect();
    assert!(left_out.contains(&"API key"), "{left_out:?}");
    assert_eq!((preview.messages, preview.endpoint), (2, None));

    let file = app.path("page.html");
    let session = app
        .sessions
        .share(&app.session.id, Some(&file))
        .await
        .unwrap();
    let url = session.share.unwrap().url;
    assert!(
        url.starts_with("file://") && url.ends_with("/page.html"),
        "{url}"
    );
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("and the rest") && !page.contains(CANARY_KEY));

    let session = app.sessions.unshare(&app.session.id).await.unwrap();
    assert_eq!((session.share, file.exists()), (None, false));
    let record = format!("storage/session_share/{}.json", app.session.id);
    assert!(!app.data_dir().join(record).exists());
}

/// Answers one request and returns its first line and its body.
async fn answer(listener: &TcpListener, body: Value) -> (String, Value) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut seen = Vec::new();
    let (head, wanted) = loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.unwrap();
        seen.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&seen).into_owned();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text.to_lowercase();
            let length = length.split("content-length: ").nth(1).unwrap();
            let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
            if seen.len() >= end + 4 + length {
                break (text, seen[end + 4..].to_vec());
            }
        }
    };
    let body = body.to_string();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).await.unwrap();
    let first = head.lines().next().unwrap().to_owned();
    (first, serde_json::from_slice(&wanted).unwrap())
}

#[tokio::test]
async fn a_share_server_receives_the_session_and_its_secret_removes_it() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/shares", listener.local_addr().unwrap());
    let config = json!({ "model": "demo/demo", "share": { "url": endpoint } });
    fs::write(app.data_dir().join("config.json"), config.to_string()).unwrap();

    let taken = json!({ "id": "s1", "url": "https://share.example/s1", "secret": "hush" });
    let (shared, (line, body)) = tokio::join!(
        app.sessions.share(&app.session.id, None),
        answer(&listener, taken)
    );
    assert_eq!(line, "POST /shares HTTP/1.1");
    assert_eq!(body["info"]["id"], app.session.id.as_str());
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert_eq!(
        shared.unwrap().share.unwrap().url,
        "https://share.example/s1"
    );
    let record = format!("storage/session_share/{}.json", app.session.id);
    let record = fs::read_to_string(app.data_dir().join(record)).unwrap();
    assert!(record.contains("hush"));
    let export = app.sessions.export(&app.session.id).await.unwrap();
    assert!(!serde_json::to_string(&export).unwrap().contains("hush"));

    let (unshared, (line, body)) = tokio::join!(
        app.sessions.unshare(&app.session.id),
        answer(&listener, json!({}))
    );
    assert_eq!(
        (line.as_str(), &body["secret"]),
        ("DELETE /shares/s1 HTTP/1.1", &json!("hush"))
    );
    assert_eq!(unshared.unwrap().share, None);
}

#[tokio::test]
async fn sharing_can_be_disabled() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let config = json!({ "model": "demo/demo", "share": "disabled" });
    fs::write(app.data_dir().join("config.json"), config.to_string()).unwrap();
    let refused = app.sessions.share(&app.session.id, None).await;
    assert!(matches!(refused, Err(Failed::Refused(_))));
}
