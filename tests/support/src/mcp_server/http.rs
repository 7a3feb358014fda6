//! The same server over streamable HTTP: a POST is answered by a stream of events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::StreamExt;
use futures::stream;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{McpServer, locked};

#[derive(Clone)]
struct Served {
    server: Arc<McpServer>,
    headers: Arc<Mutex<Vec<BTreeMap<String, String>>>>,
    /// What a request must carry.
    key: Option<String>,
}

pub struct HttpServer {
    url: String,
    served: Served,
    stop: CancellationToken,
}

impl HttpServer {
    /// With a key, requests without it as a bearer token are rejected.
    pub async fn start(server: Arc<McpServer>, key: Option<&str>) -> Self {
        let served = Served {
            server,
            headers: Arc::default(),
            key: key.map(|key| format!("Bearer {key}")),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let app = Router::new()
            .route("/mcp", post(take))
            .with_state(served.clone());
        let stop = CancellationToken::new();
        let running = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                served = axum::serve(listener, app) => served.expect("it serves"),
                () = running.cancelled() => {}
            }
        });
        HttpServer {
            url: format!("http://{address}/mcp"),
            served,
            stop,
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The headers of each request so far.
    pub fn headers(&self) -> Vec<BTreeMap<String, String>> {
        locked(&self.served.headers).clone()
    }

    pub fn stop(&self) {
        self.stop.cancel();
    }
}

async fn take(State(served): State<Served>, headers: HeaderMap, body: Bytes) -> Response {
    let seen = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.to_string(), value)
    });
    locked(&served.headers).push(seen.collect());
    let given = headers.get(header::AUTHORIZATION);
    if served.key.is_some()
        && served.key.as_deref().map(str::as_bytes) != given.map(|v| v.as_bytes())
    {
        let wanted = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, wanted).into_response();
    }
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let (out, mut answers) = mpsc::unbounded_channel::<Value>();
    let is_request = message.get("id").is_some();
    let work = async move { served.server.take(message, &out).await };
    if !is_request {
        work.await;
        return StatusCode::ACCEPTED.into_response();
    }
    tokio::spawn(work);
    let events = stream::poll_fn(move |cx| answers.poll_recv(cx))
        .map(|answer| Ok::<_, std::io::Error>(format!("data: {answer}\n\n")));
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(events)).into_response()
}
