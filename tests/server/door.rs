//! A running server and a client of it, for one test.

use std::net::SocketAddr;
use std::time::Duration;

use futures::{Stream, StreamExt};
use lathe_provider::WireKind;
use lathe_server::{Limits, Options, Password, Server};
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::FakeModel;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub const PASSWORD: &str = "open sesame";
/// A request that hangs is a failure.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Door {
    pub app: TestApp,
    pub model: FakeModel,
    pub address: SocketAddr,
    client: Client,
    serving: JoinHandle<()>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Door {
    pub async fn open() -> Self {
        Self::with_limits(Limits::default()).await
    }

    pub async fn with_limits(limits: Limits) -> Self {
        let model = FakeModel::start().await;
        let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
        let options = Options {
            hostname: "127.0.0.1".into(),
            port: 0,
            password: Password::new(None, PASSWORD.into()).unwrap(),
            origins: vec!["https://allowed.example".into()],
            directory: app.path("."),
            limits,
        };
        let server = Server::bind(app.sessions.clone(), options).await.unwrap();
        let address = server.address();
        let serving = tokio::spawn(server.serve(std::future::pending()));
        let client = Client::builder().no_proxy().build().unwrap();
        Door {
            app,
            model,
            address,
            client,
            serving,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Without the password.
    pub fn stranger(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.url(path));
        request.timeout(PATIENCE)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.stranger(method, path)
            .basic_auth("opencode", Some(PASSWORD))
    }

    pub async fn get(&self, path: &str) -> Value {
        good(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        good(self.request(Method::POST, path).json(&body)).await
    }

    pub async fn refused(&self, method: Method, path: &str, body: Value) -> (StatusCode, String) {
        let response = self.request(method, path).json(&body).send().await.unwrap();
        let status = response.status();
        let body: Value = response.json().await.unwrap();
        let message = body["data"]["message"].as_str().unwrap_or_default();
        (status, message.to_owned())
    }

    /// Creates a session and returns its path.
    pub async fn new_session(&self) -> String {
        let session = self.post("/session", json!({})).await;
        format!("/session/{}", session["id"].as_str().unwrap())
    }

    /// The events of a stream, from `server.connected` on.
    pub async fn events(&self, path: &str, agent: &str) -> impl Stream<Item = Value> + Unpin {
        let request = self.client.get(self.url(path));
        let request = request.basic_auth("opencode", Some(PASSWORD));
        let response = request.header("user-agent", agent).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let chunks = response.bytes_stream();
        let lines = futures::stream::unfold((chunks, Vec::new()), |(mut chunks, mut rest)| async {
            loop {
                let end = rest.windows(2).position(|pair| pair == b"\n\n");
                if let Some(end) = end {
                    let event: Vec<u8> = rest.drain(..end + 2).collect();
                    let event = String::from_utf8(event).unwrap();
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                    let data = data.map(|data| serde_json::from_str(data).unwrap());
                    return Some((data, (chunks, rest)));
                }
                let chunk = tokio::time::timeout(PATIENCE, chunks.next()).await;
                rest.extend_from_slice(&chunk.expect("an event comes in time")?.ok()?);
            }
        });
        let mut events = Box::pin(lines.filter_map(async |data: Option<Value>| data));
        let first = events.next().await.unwrap();
        let payload = first.get("payload").unwrap_or(&first);
        assert_eq!(payload["type"], "server.connected");
        events
    }
}

async fn good(request: RequestBuilder) -> Value {
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    assert_eq!(status, StatusCode::OK, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The kinds of the events up to the one of this kind.
pub async fn until(events: &mut (impl Stream<Item = Value> + Unpin), kind: &str) -> Vec<Value> {
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        let found = event["type"] == kind || event["payload"]["type"] == kind;
        seen.push(event);
        if found {
            return seen;
        }
    }
    panic!("the stream ended before {kind}: {seen:#?}")
}
