//! Nobody gets in: other hosts, other pages, no password, ids that are paths, too much of anything.

use std::convert::Infallible;
use std::time::Duration;

use futures::StreamExt;
use lathe_server::{Limits, ROUTES};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::door::{Door, PASSWORD, PATIENCE};

#[tokio::test]
async fn every_route_needs_the_password() {
    let door = Door::open().await;
    for route in ROUTES {
        let method = Method::from_bytes(route.method.as_bytes()).unwrap();
        let response = door.stranger(method, route.path).send().await.unwrap();
        assert_eq!(
            response.status(),
            StatusCode::UNAUTHORIZED,
            "{}",
            route.path
        );
        assert!(response.headers().contains_key("www-authenticate"));
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["name"], "UnauthorizedError");
    }
}

#[tokio::test]
async fn a_wrong_password_or_user_is_refused() {
    let door = Door::open().await;
    for (user, password) in [("opencode", "open"), ("opencode", ""), ("root", PASSWORD)] {
        let request = door.stranger(Method::GET, "/session");
        let response = request
            .basic_auth(user, Some(password))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    }
    let token = "/session?auth_token=b3BlbmNvZGU6b3BlbiBzZXNhbWU=";
    let response = door.stranger(Method::GET, token).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_name_that_was_bound_to_this_address_is_refused() {
    let door = Door::open().await;
    let port = door.address.port();
    for host in [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
    ] {
        let request = door.request(Method::GET, "/session").header("host", &host);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{host}");
    }
    let request = door.request(Method::GET, "/session");
    let response = request.header("host", format!("localhost:{port}"));
    assert_eq!(response.send().await.unwrap().status(), StatusCode::OK);
}

/// A picture or a script on a page of another site: no Origin, and a browser that knows the
/// password sends it.
#[tokio::test]
async fn what_pages_of_other_sites_load_is_refused_even_with_the_password() {
    let door = Door::open().await;
    for (site, wanted) in [
        ("cross-site", StatusCode::FORBIDDEN),
        ("same-site", StatusCode::OK),
        ("same-origin", StatusCode::OK),
        ("none", StatusCode::OK),
    ] {
        let request = door.request(Method::GET, "/session");
        let response = request.header("sec-fetch-site", site).send().await.unwrap();
        assert_eq!(response.status(), wanted, "{site}");
    }
}

#[tokio::test]
async fn pages_of_other_origins_are_refused_even_with_the_password() {
    let door = Door::open().await;
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example:80",
        "http://localhost:80@evil.example",
        // Any program of this machine can send pages from there.
        "http://localhost:3000",
        "http://127.0.0.1:5173",
    ] {
        for method in [Method::GET, Method::POST, Method::OPTIONS] {
            let request = door.request(method, "/session").header("origin", origin);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{origin}");
            assert!(
                !response
                    .headers()
                    .contains_key("access-control-allow-origin")
            );
        }
    }
}

#[tokio::test]
async fn pages_of_allowed_origins_may_ask() {
    let door = Door::open().await;
    for origin in [
        "https://allowed.example",
        "tauri://localhost",
        "oc://renderer",
    ] {
        let preflight = door
            .stranger(Method::OPTIONS, "/session")
            .header("origin", origin);
        let preflight = preflight.send().await.unwrap();
        assert_eq!(preflight.status(), StatusCode::NO_CONTENT);
        assert_eq!(preflight.headers()["access-control-allow-origin"], origin);
        let without = door
            .stranger(Method::GET, "/session")
            .header("origin", origin);
        assert_eq!(
            without.send().await.unwrap().status(),
            StatusCode::UNAUTHORIZED
        );
        let with = door
            .request(Method::GET, "/session")
            .header("origin", origin);
        assert_eq!(with.send().await.unwrap().status(), StatusCode::OK);
    }
}

/// What a page sends without asking its browser first is not JSON.
#[tokio::test]
async fn a_body_of_a_page_is_read_only_as_json() {
    let door = Door::open().await;
    let send = async |kind: &str, origin: Option<&str>| {
        let request = door.request(Method::POST, "/session").body("{}");
        let mut request = request.header("content-type", kind);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        request.send().await.unwrap().status()
    };
    let page = Some("https://allowed.example");
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        assert_eq!(send(kind, page).await, StatusCode::BAD_REQUEST, "{kind}");
        assert_eq!(send(kind, None).await, StatusCode::OK, "{kind}");
    }
    for kind in ["application/json", "application/json; charset=utf-8"] {
        assert_eq!(send(kind, page).await, StatusCode::OK, "{kind}");
    }
}

#[tokio::test]
async fn ids_and_paths_that_lead_outside_are_refused() {
    let door = Door::open().await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    let secret = secret.path().to_str().unwrap();
    for path in [
        "/session/..%2f..%2fetc".to_owned(),
        "/session/ses_..%2f..%2fx/message".to_owned(),
        "/session/ses_a%00b".to_owned(),
        "/session/ses_a/message/..%2f..".to_owned(),
        "/session/msg_a".to_owned(),
        format!("/file/content?path={secret}"),
        "/file?path=..".to_owned(),
        "/file?path=/etc".to_owned(),
        "/session?directory=relative".to_owned(),
        "/session/ses_a/diff?messageID=../x".to_owned(),
        "/session/ses_a/message?before=..".to_owned(),
    ] {
        let (status, message) = door.refused(Method::GET, &path, json!({})).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {message}");
    }
    let session = door.new_session().await;
    for body in [
        json!({ "messageID": "../../x", "parts": [{ "type": "text", "text": "a" }] }),
        json!({ "parts": [{ "id": "prt_../x", "type": "text", "text": "a" }] }),
        json!({ "parts": [{ "type": "unheard-of" }] }),
        json!({ "parts": [] }),
        json!([]),
    ] {
        let path = format!("{session}/message");
        let (status, message) = door.refused(Method::POST, &path, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{message}");
    }
}

#[tokio::test]
async fn a_link_out_of_the_project_is_not_followed() {
    let door = Door::open().await;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(outside.path(), door.app.path("link")).unwrap();
    let path = "/file/content?path=link/secret";
    let (status, _) = door.refused(Method::GET, path, json!({})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_unknown_route_is_answered_in_json() {
    let door = Door::open().await;
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/index.html"),
        (Method::PUT, "/session"),
        (Method::GET, "/api/unheard-of"),
        (Method::GET, "/%00"),
    ] {
        let (status, message) = door.refused(method, path, json!({})).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(message, "There is no such route");
    }
}

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
