//! Too much of anything, or too slowly: nobody keeps others out.

use std::convert::Infallible;
use std::time::Duration;

use futures::StreamExt;
use lathe_server::Limits;
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::door::{Door, PASSWORD, PATIENCE};

/// Sends bytes as they are and reads the answer to its end.
async fn raw(door: &Door, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // The server may close while we still write.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn quick() -> Limits {
    Limits {
        request: Duration::from_millis(200),
        unread: Duration::from_millis(500),
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_body_of_a_gigabyte_is_refused_before_it_is_sent() {
    let door = Door::open().await;
    let request = format!(
        "POST /session HTTP/1.1\r\nhost: {}\r\nauthorization: Basic b3BlbmNvZGU6b3BlbiBzZXNhbWU=\r\n\
         connection: close\r\ncontent-length: 1073741824\r\n\r\n",
        door.address
    );
    let answer = raw(&door, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

/// Not announced, so that it is only seen while it comes: no more is read than the limit.
#[tokio::test]
async fn a_body_without_an_end_is_refused_at_the_limit() {
    let limits = Limits {
        body_bytes: 1024 * 1024,
        ..Limits::default()
    };
    let door = Door::with_limits(limits).await;
    let piece = vec![b' '; 64 * 1024];
    let pieces = match std::env::var_os("LATHE_SOAK") {
        Some(_) => 16 * 1024,
        None => 64,
    };
    let pieces =
        futures::stream::iter((0..pieces).map(move |_| Ok::<_, Infallible>(piece.clone())));
    let request = door.request(Method::POST, "/session");
    let sent = request
        .body(reqwest::Body::wrap_stream(pieces))
        .send()
        .await;
    // The server may close while the client still writes.
    if let Ok(response) = sent {
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    door.get("/global/health").await;
}

/// Many who send a byte now and then: each is cut off, and others are answered meanwhile.
#[tokio::test]
async fn slow_clients_do_not_keep_others_out() {
    let door = Door::with_limits(quick()).await;
    let count = match std::env::var_os("LATHE_SOAK") {
        Some(_) => 1000,
        None => 50,
    };
    let mut slow = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(door.address).await.unwrap();
        stream
            .write_all(b"GET /session HTTP/1.1\r\nx: ")
            .await
            .unwrap();
        slow.push(stream);
    }
    door.get("/global/health").await;
    for mut stream in slow {
        let mut rest = Vec::new();
        // Ends when the server closes it.
        let _ = stream.read_to_end(&mut rest).await;
    }
}

/// Nor those who send nothing, only the first bytes of HTTP/2, or HTTP/2 without a request.
#[tokio::test]
async fn connections_without_a_request_are_closed() {
    let door = Door::with_limits(quick()).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let mut idle = Vec::new();
    for sent in [&b""[..], b"PRI", preface] {
        for _ in 0..50 {
            let mut stream = TcpStream::connect(door.address).await.unwrap();
            stream.write_all(sent).await.unwrap();
            idle.push(stream);
        }
    }
    for mut stream in idle {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest));
        assert!(closed.await.is_ok(), "it is closed");
    }
    door.get("/global/health").await;
}

/// Each request is answered at once, but none has the password.
#[tokio::test]
async fn a_connection_that_never_has_the_password_is_closed() {
    let door = Door::with_limits(quick()).await;
    let request = format!("GET /session HTTP/1.1\r\nhost: {}\r\n\r\n", door.address);
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let mut answer = [0; 4096];
    let asking = async {
        loop {
            let sent = stream.write_all(request.as_bytes()).await;
            match stream.read(&mut answer).await {
                Ok(read) if read > 0 && sent.is_ok() => {}
                _ => break,
            }
        }
    };
    let closed = tokio::time::timeout(PATIENCE, asking).await;
    assert!(closed.is_ok(), "it is closed");
}

/// With the password it stays for as long as a client likes.
#[tokio::test]
async fn a_subscriber_outlasts_the_time_for_a_request() {
    let limits = Limits {
        heartbeat: Duration::from_millis(50),
        ..quick()
    };
    let door = Door::with_limits(limits).await;
    let mut events = door.events("/event", "").await;
    let began = std::time::Instant::now();
    while began.elapsed() < 3 * quick().request {
        assert!(events.next().await.is_some());
    }
}

/// It answers pings, but never reads what it has subscribed to.
#[tokio::test]
async fn a_client_of_http_2_that_reads_nothing_is_cut_off() {
    let limits = Limits {
        connections: 1,
        heartbeat: Duration::from_millis(20),
        ..quick()
    };
    let door = Door::with_limits(limits).await;
    let client = reqwest::Client::builder()
        .no_proxy()
        .http2_prior_knowledge()
        .http2_initial_stream_window_size(100)
        .build()
        .unwrap();
    let request = client.get(door.url("/event"));
    let unread = request.basic_auth("opencode", Some(PASSWORD)).send();
    let unread = unread.await.unwrap();
    assert_eq!(unread.version(), reqwest::Version::HTTP_2);
    // There is room for one connection only.
    let closed = async {
        while door
            .request(Method::GET, "/global/health")
            .send()
            .await
            .is_err()
        {}
    };
    let closed = tokio::time::timeout(PATIENCE, closed);
    assert!(closed.await.is_ok(), "it is closed");
}

#[tokio::test]
async fn headers_that_are_too_long_are_refused() {
    let door = Door::open().await;
    let long = "a".repeat(1024 * 1024);
    let request = format!(
        "GET /session HTTP/1.1\r\nhost: {}\r\nx: {long}\r\n\r\n",
        door.address
    );
    let answer = raw(&door, request.as_bytes()).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
    door.get("/global/health").await;
}

#[tokio::test]
async fn a_client_that_never_ends_its_headers_or_its_body_is_cut_off() {
    let door = Door::with_limits(quick()).await;
    raw(&door, b"GET /session HTTP/1.1\r\nhost: ").await;
    let request = format!(
        "POST /session HTTP/1.1\r\nhost: {}\r\nauthorization: Basic b3BlbmNvZGU6b3BlbiBzZXNhbWU=\r\n\
         connection: close\r\ncontent-length: 100\r\n\r\n{{",
        door.address
    );
    let answer = raw(&door, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("took too long"), "{answer}");
}

#[tokio::test]
async fn subscribers_beyond_the_limit_are_refused_and_room_is_made_when_one_leaves() {
    let limits = Limits {
        subscribers: 20,
        ..Limits::default()
    };
    let door = Door::with_limits(limits).await;
    let mut open = Vec::new();
    for _ in 0..20 {
        open.push(door.events("/event", "").await);
    }
    let refused = door.request(Method::GET, "/event").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    open.pop();
    // The server sees the end of a connection a moment later.
    loop {
        let response = door.request(Method::GET, "/event").send().await.unwrap();
        if response.status() == StatusCode::OK {
            break;
        }
    }
    door.post("/session", json!({})).await;
    let event = open[0].next().await.unwrap();
    assert_eq!(event["type"], "session.created");
}

/// As many as an attacker likes: those beyond the limit are answered and closed.
#[tokio::test]
async fn a_flood_of_idle_subscribers_leaves_the_server_answering() {
    let limits = Limits {
        subscribers: 100,
        connections: 150,
        ..Limits::default()
    };
    let door = Door::with_limits(limits).await;
    let flood = match std::env::var_os("LATHE_SOAK") {
        Some(_) => 10_000,
        None => 500,
    };
    let request = format!(
        "GET /event HTTP/1.1\r\nhost: {}\r\nauthorization: Basic b3BlbmNvZGU6b3BlbiBzZXNhbWU=\r\n\
         connection: close\r\n\r\n",
        door.address
    );
    let mut idle = Vec::new();
    for _ in 0..flood {
        let mut stream = TcpStream::connect(door.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        match &status {
            b"HTTP/1.1 200" => idle.push(stream),
            refused => assert_eq!(refused, b"HTTP/1.1 503"),
        }
    }
    assert_eq!(idle.len(), 100);
    door.get("/global/health").await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed() {
    let limits = Limits {
        connections: 3,
        ..Limits::default()
    };
    let door = Door::with_limits(limits).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(door.address).await.unwrap();
        stream.write_all(b"GET ").await.unwrap();
        held.push(stream);
    }
    // Until the server has accepted those three, a further one may be among the first.
    loop {
        let mut stream = TcpStream::connect(door.address).await.unwrap();
        let mut byte = [0; 1];
        let closed = tokio::time::timeout(Duration::from_millis(200), stream.read(&mut byte));
        if closed.await.is_ok() {
            break;
        }
    }
}
