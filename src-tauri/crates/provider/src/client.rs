//! Sends one request and streams the events of the response.
//!
//! TLS is rustls with the crypto provider that reqwest brings along (aws-lc-rs): nothing has to
//! be installed process-wide before the first request, and it builds with a C compiler alone.
//! Redirects are never followed: they would send the key to another server.

mod request_body;
mod response;

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::{
    demo::{Demo, DemoPace},
    error::{ApiFailure, ProviderError, ResponseHeaders, allowed_headers},
    event::StreamEvent,
    model::ModelInfo,
    request::ModelRequest,
    secret::{ApiKey, Redactor},
    wire::{HttpCall, Wire, WireKind},
};
use request_body::ChunkedBody;
pub use response::BEFORE_DECODING;
use response::ResponseReader;

/// The address of a model and the credentials for it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The provider's display name.
    pub name: String,
    pub wire: WireKind,
    /// With the API version, without the path of a call: `https://api.anthropic.com/v1`.
    pub base_url: String,
    pub key: Option<ApiKey>,
    /// False for local servers.
    pub needs_key: bool,
    /// Sent unchanged; they override ours.
    pub headers: Vec<(String, String)>,
}

/// How long to wait for the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From sending the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Between two chunks of the answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(90),
        }
    }
}

/// Cheap to clone; connections are shared.
#[derive(Debug, Clone)]
pub struct ModelClient {
    clients: Arc<Clients>,
    timeouts: Timeouts,
    demo: Demo,
}

/// Created on first use, because a client with TLS reads the system's certificates.
#[derive(Debug)]
struct Clients {
    connect: Duration,
    remote: OnceLock<reqwest::Client>,
    /// Never uses a proxy.
    local: OnceLock<reqwest::Client>,
    /// Never uses a proxy or TLS.
    local_http: OnceLock<reqwest::Client>,
}

impl ModelClient {
    pub fn new(timeouts: Timeouts, pace: DemoPace) -> Self {
        Self {
            clients: Arc::new(Clients {
                connect: timeouts.connect,
                remote: OnceLock::new(),
                local: OnceLock::new(),
                local_http: OnceLock::new(),
            }),
            timeouts,
            demo: Demo::new(pace),
        }
    }

    /// One step: `start`, `start-step`, content, then `finish-step` and `finish`, or one
    /// `error`. Dropping the stream or cancelling closes the connection.
    pub fn stream(
        &self,
        endpoint: &Endpoint,
        model: &ModelInfo,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> BoxStream<'static, StreamEvent> {
        let Some(wire) = endpoint.wire.codec() else {
            return self.demo.stream(request, cancel).boxed();
        };
        let state = Step {
            queue: VecDeque::from([StreamEvent::Start, StreamEvent::StartStep]),
            phase: Phase::Send(Box::new(PendingRequest {
                http: self.http_for(&endpoint.base_url),
                endpoint: endpoint.clone(),
                wire,
                call: wire.encode(request, model),
                timeouts: self.timeouts,
            })),
            redactor: endpoint.redactor(),
            cancel,
        };
        futures::stream::unfold(state, |mut state| async move {
            let event = state.next().await?;
            Some((event, state))
        })
        .boxed()
    }

    /// A client with other timeouts that shares the connections.
    pub fn with_timeouts(&self, timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            ..self.clone()
        }
    }

    pub(crate) fn http_for(&self, base_url: &str) -> Result<reqwest::Client, ProviderError> {
        let url = reqwest::Url::parse(base_url).ok();
        let host = url.as_ref().and_then(|url| url.host_str());
        let host = host.unwrap_or_default();
        let loopback = host == "localhost" || host == "[::1]" || host.starts_with("127.");
        let without_tls = url.as_ref().is_some_and(|url| url.scheme() == "http");
        let builder = reqwest::Client::builder()
            .connect_timeout(self.clients.connect)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("lathe/", env!("CARGO_PKG_VERSION")));
        let (client, builder) = match (loopback, without_tls) {
            (false, _) => (&self.clients.remote, builder),
            (true, false) => (&self.clients.local, builder.no_proxy()),
            (true, true) => {
                let builder = builder.no_proxy().tls_certs_only([]);
                (&self.clients.local_http, builder)
            }
        };
        if let Some(client) = client.get() {
            return Ok(client.clone());
        }
        let built = builder.build().map_err(|error| {
            let message = format!("The HTTP client couldn’t be set up: {error}");
            ProviderError::Api(ApiFailure::malformed(message))
        })?;
        Ok(client.get_or_init(|| built).clone())
    }
}

impl Endpoint {
    /// Removes every secret that a response of this endpoint might echo.
    pub(crate) fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::new(self.key.iter().map(ApiKey::expose));
        for (_, value) in &self.headers {
            redactor.add(value);
            redactor.add(value.trim_start_matches("Bearer "));
        }
        redactor
    }

    pub(crate) fn check_key(&self) -> Result<(), ProviderError> {
        if self.needs_key && self.key.is_none() {
            return Err(ProviderError::Auth {
                message: format!("There is no key for {} yet", self.name),
            });
        }
        Ok(())
    }
}

/// The state of one step.
struct Step {
    queue: VecDeque<StreamEvent>,
    phase: Phase,
    redactor: Redactor,
    cancel: CancellationToken,
}

enum Phase {
    Send(Box<PendingRequest>),
    Read(Box<ResponseReader>),
    Done,
}

impl Step {
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if matches!(self.phase, Phase::Done) {
                return None;
            }
            let cancel = self.cancel.clone();
            let outcome = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ProviderError::Aborted),
                outcome = self.advance() => outcome,
            };
            if let Err(error) = outcome {
                self.fail(error);
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ProviderError> {
        match &mut self.phase {
            Phase::Send(request) => self.phase = Phase::Read(Box::new(request.send().await?)),
            Phase::Read(reader) => {
                let events = reader.read().await?;
                self.enqueue(events);
            }
            Phase::Done => {}
        }
        Ok(())
    }

    fn enqueue(&mut self, events: Vec<StreamEvent>) {
        for event in events {
            match event {
                StreamEvent::Error { error } => return self.fail(error),
                StreamEvent::FinishStep { .. } => {
                    self.queue.extend([event, StreamEvent::Finish]);
                    self.phase = Phase::Done;
                    return;
                }
                event => self.queue.push_back(event),
            }
        }
    }

    fn fail(&mut self, error: ProviderError) {
        self.phase = Phase::Done;
        let error = error.redacted(&self.redactor);
        self.queue.push_back(StreamEvent::Error { error });
    }
}

/// A request that is encoded and not yet sent.
struct PendingRequest {
    http: Result<reqwest::Client, ProviderError>,
    endpoint: Endpoint,
    wire: &'static dyn Wire,
    call: HttpCall,
    timeouts: Timeouts,
}

impl PendingRequest {
    async fn send(&mut self) -> Result<ResponseReader, ProviderError> {
        self.endpoint.check_key()?;
        let first_byte = Instant::now() + self.timeouts.first_byte;
        let sending = self.request()?.send();
        let response = match timeout_at(first_byte, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.send_error(&error)),
            Err(_) => return Err(response::timeout_error(self.timeouts.first_byte)),
        };
        if !response.status().is_success() {
            return Err(self.status_error(response).await);
        }
        let chunks = response.bytes_stream().boxed();
        let decoder = self.wire.decoder();
        Ok(ResponseReader::new(
            chunks,
            decoder,
            first_byte,
            self.timeouts,
        ))
    }

    fn request(&self) -> Result<reqwest::RequestBuilder, ProviderError> {
        let base = self.endpoint.base_url.trim_end_matches('/');
        let url = format!("{base}{}", self.call.path);
        let body = reqwest::Body::wrap(ChunkedBody::new(self.call.body.chunks()));
        let http = self.http.as_ref().map_err(Clone::clone)?;
        Ok(http.post(url).headers(self.headers()?).body(body))
    }

    fn headers(&self) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key = self.endpoint.key.as_ref();
        let auth = key.map(|key| self.wire.auth_header(key));
        let auth = auth.map(|(name, value)| (name.to_owned(), value));
        let call = self.call.headers.iter().cloned();
        for (name, value) in auth.into_iter().chain(call) {
            insert(&mut headers, &name, &value)?;
        }
        for (name, value) in &self.endpoint.headers {
            insert(&mut headers, name, value)?;
        }
        Ok(headers)
    }

    fn send_error(&self, error: &reqwest::Error) -> ProviderError {
        let name = &self.endpoint.name;
        if error.is_builder() {
            let message = format!("The address of {name} is not usable: {}", root_cause(error));
            return ProviderError::Api(ApiFailure::malformed(message));
        }
        let message = if error.is_connect() && error.is_timeout() {
            let seconds = self.timeouts.connect.as_secs_f64();
            format!("{name} couldn’t be reached within {seconds} s")
        } else {
            format!("{name} couldn’t be reached: {}", root_cause(error))
        };
        ProviderError::Api(ApiFailure::connection(message))
    }

    async fn status_error(&self, response: reqwest::Response) -> ProviderError {
        let status = response.status().as_u16();
        let headers = response_headers(response.headers());
        let chunks = response.bytes_stream().boxed();
        let body = response::read_error_body(chunks, self.timeouts.idle).await;
        self.wire.decode_error(status, headers, &body)
    }
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), ProviderError> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| unsendable(&error))?;
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        let message = format!("The value for the header {name} holds characters it may not hold");
        ProviderError::Api(ApiFailure::malformed(message))
    })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

fn unsendable(error: &dyn std::fmt::Display) -> ProviderError {
    let message = format!("The request couldn’t be written: {error}");
    ProviderError::Api(ApiFailure::malformed(message))
}

pub(crate) fn response_headers(headers: &HeaderMap) -> ResponseHeaders {
    let texts = headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    allowed_headers(texts)
}

/// The innermost error says what happened; the outer ones repeat the address.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
