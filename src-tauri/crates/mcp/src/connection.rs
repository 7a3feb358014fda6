//! One conversation with one server. The only file that speaks the protocol.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use http::{HeaderName, HeaderValue};
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientCapabilities,
    ClientConfig, ClientRequest, Implementation, ProgressNotificationParam, ProgressToken,
    ReadResourceRequestParams, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, PeerRequestOptions, RoleClient,
    RunningServiceCancellationToken, ServiceError, serve_client,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::Transport;
use crate::content::Answer;
use crate::launch::{Launch, Program, Running};
use crate::log::Log;

/// A call that says nothing for so long is given up; each sign of progress starts anew.
const SILENCE: Duration = Duration::from_secs(120);
const LONGEST_CALL: Duration = Duration::from_secs(60 * 60);
const LISTING: Duration = Duration::from_secs(10);
/// How long a server may take to say goodbye.
const GOODBYE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    pub done: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

pub type ProgressSink = Arc<dyn Fn(CallProgress) + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFailed {
    #[error("The MCP server {0} is not running.")]
    NotRunning(String),
    #[error("The server has no tool {0}.")]
    NoTool(String),
    #[error(
        "The description of {0} has changed since it was last seen. It can be used again when \
         the user has looked at it in the settings."
    )]
    Changed(String),
    #[error("The call was stopped.")]
    Cancelled,
    #[error("The server did not answer within {} s.", .0.as_secs())]
    TimedOut(Duration),
    /// What the server itself said.
    #[error("{0}")]
    Refused(String),
    #[error("The connection to the server was lost: {0}")]
    Lost(String),
}

/// Who waits to hear of which call's progress.
type Waiting = Arc<Mutex<HashMap<ProgressToken, ProgressSink>>>;

struct Listener {
    log: Log,
    waiting: Waiting,
    tools_changed: mpsc::Sender<()>,
}

impl rmcp::ClientHandler for Listener {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let sink = self.waiting.lock().get(&params.progress_token).cloned();
        if let Some(sink) = sink {
            sink(CallProgress {
                done: params.progress,
                total: params.total,
                message: params.message,
            });
        }
    }

    // Newer servers write to standard error instead; there are years of older ones.
    #[allow(deprecated)]
    async fn on_logging_message(
        &self,
        params: rmcp::model::LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        match &params.data {
            Value::String(text) => self.log.push(text),
            other => self.log.push(&other.to_string()),
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // One notice that waits is enough.
        let _ = self.tools_changed.try_send(());
    }

    fn get_info(&self) -> ClientConfig {
        let version = env!("CARGO_PKG_VERSION");
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("lathe", version),
        )
    }
}

pub struct Connection {
    /// Returns when the server has gone.
    pub ended: Shared<BoxFuture<'static, ()>>,
    goodbye: RunningServiceCancellationToken,
    process: Option<Process>,
    client: Client,
    pub tools_changed: mpsc::Receiver<()>,
}

impl Connection {
    pub async fn open(
        transport: &Transport,
        directory: Option<&std::path::Path>,
        launch: &dyn Launch,
        log: &Log,
    ) -> Result<Self, String> {
        let waiting = Waiting::default();
        let (tell, tools_changed) = mpsc::channel(1);
        let listener = Listener {
            log: log.clone(),
            waiting: waiting.clone(),
            tools_changed: tell,
        };
        let (service, process) = match transport {
            Transport::Local {
                command,
                environment,
                directory: own,
            } => {
                let program = Program {
                    command: command.clone(),
                    environment: environment.clone(),
                    directory: own.clone().or_else(|| directory.map(ToOwned::to_owned)),
                };
                let launched = launch
                    .launch(&program)
                    .await
                    .map_err(|error| format!("It could not be started: {error}"))?;
                let process = Process {
                    running: launched.running,
                    saying: tokio::spawn(log.clone().follow(launched.errors)),
                };
                let pipes = AsyncRwTransport::new_client(launched.output, launched.input);
                match serve_client(listener, pipes).boxed().await {
                    Ok(service) => (service, Some(process)),
                    Err(error) => {
                        process.end().await;
                        return Err(explain(error));
                    }
                }
            }
            Transport::Remote { url, headers } => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(parse_headers(headers)?);
                let http = StreamableHttpClientTransport::from_config(config);
                (
                    serve_client(listener, http)
                        .boxed()
                        .await
                        .map_err(explain)?,
                    None,
                )
            }
        };
        let client = Client {
            peer: service.peer().clone(),
            waiting,
        };
        Ok(Connection {
            goodbye: service.cancellation_token(),
            ended: service.waiting().map(drop).boxed().shared(),
            process,
            client,
            tools_changed,
        })
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }

    pub async fn close(self) {
        self.goodbye.cancel();
        let _ = tokio::time::timeout(GOODBYE, self.ended).await;
        if let Some(process) = self.process {
            process.end().await;
        }
    }
}

/// A server that is a program of ours.
struct Process {
    running: Box<dyn Running>,
    saying: JoinHandle<()>,
}

impl Process {
    /// Its last words are heard, too: they often say why it ended.
    async fn end(self) {
        self.running.end().await;
        let _ = tokio::time::timeout(GOODBYE, self.saying).await;
    }
}

fn parse_headers(
    headers: &std::collections::BTreeMap<String, String>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let parse = |(name, value): (&String, &String)| {
        let bad = || format!("The header {name} cannot be sent");
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        Ok((
            HeaderName::try_from(name.as_str()).map_err(|_| bad())?,
            value,
        ))
    };
    headers.iter().map(parse).collect()
}

fn explain(error: ClientInitializeError) -> String {
    if error.is_authorization_required() {
        return "The server wants to know who is asking: give it an Authorization header in its \
                config"
            .to_owned();
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => ENDED_EARLY.to_owned(),
        ClientInitializeError::TransportError { error, .. } if is_broken_pipe(&*error.error) => {
            ENDED_EARLY.to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => with_causes(&*error.error),
        error => with_causes(&error),
    }
}

const ENDED_EARLY: &str = "The server ended before it answered";

/// It was gone before it could be asked anything.
fn is_broken_pipe(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The outer text often says only that something failed.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

/// The asking end, which calls share.
#[derive(Clone)]
pub struct Client {
    peer: Peer<RoleClient>,
    waiting: Waiting,
}

impl Client {
    pub fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub async fn tools(&self) -> Result<Vec<rmcp::model::Tool>, CallFailed> {
        let offers = |info: &rmcp::model::ServerPeerInfo| info.capabilities.tools.is_some();
        if !self.peer.peer_info().is_some_and(|info| offers(&info)) {
            return Ok(Vec::new());
        }
        within(LISTING, self.peer.list_all_tools()).await
    }

    pub async fn resources(&self) -> Result<Vec<rmcp::model::Resource>, CallFailed> {
        let offers = |info: &rmcp::model::ServerPeerInfo| info.capabilities.resources.is_some();
        if !self.peer.peer_info().is_some_and(|info| offers(&info)) {
            return Ok(Vec::new());
        }
        within(LISTING, self.peer.list_all_resources()).await
    }

    pub async fn read(&self, uri: &str) -> Result<Answer, CallFailed> {
        let params = ReadResourceRequestParams::new(uri);
        let result = within(SILENCE, self.peer.read_resource(params)).await?;
        Ok(Answer::of_resource(result))
    }

    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<Answer, CallFailed> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(SILENCE)
            .reset_timeout_on_progress()
            .with_max_total_timeout(LONGEST_CALL);
        let sent = self.peer.send_cancellable_request(request, options).await;
        let handle = sent.map_err(failed)?;
        let _heard = Heard::new(&self.waiting, handle.progress_token.clone(), progress);
        let id = handle.id.clone();
        tokio::select! {
            response = handle.await_response() => match response.map_err(failed)? {
                ServerResult::CallToolResult(result) => Ok(Answer::of_call(result)),
                ServerResult::InputRequiredResult(_) => Err(CallFailed::Refused(
                    "The server asks for input, which it cannot get here.".to_owned(),
                )),
                _ => Err(CallFailed::Refused("The server's answer cannot be read.".to_owned())),
            },
            () = cancel.cancelled() => {
                let params = CancelledNotificationParam::new(Some(id), Some("stopped by the user".to_owned()));
                // A server that does not take it is not waited for.
                let _ = tokio::time::timeout(GOODBYE, self.peer.notify_cancelled(params)).await;
                Err(CallFailed::Cancelled)
            }
        }
    }
}

/// A place in the list of those who wait, given up when dropped.
struct Heard {
    waiting: Waiting,
    token: ProgressToken,
}

impl Heard {
    fn new(waiting: &Waiting, token: ProgressToken, sink: ProgressSink) -> Self {
        waiting.lock().insert(token.clone(), sink);
        Heard {
            waiting: waiting.clone(),
            token,
        }
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.waiting.lock().remove(&self.token);
    }
}

async fn within<T>(
    limit: Duration,
    asking: impl Future<Output = Result<T, ServiceError>> + Send,
) -> Result<T, CallFailed> {
    // The futures of rmcp name so many types that the compiler loses sight of their being Send.
    let asking = asking.boxed();
    match tokio::time::timeout(limit, asking).await {
        Ok(answer) => answer.map_err(failed),
        Err(_) => Err(CallFailed::TimedOut(limit)),
    }
}

fn failed(error: ServiceError) -> CallFailed {
    match error {
        ServiceError::McpError(error) => CallFailed::Refused(error.message.into_owned()),
        ServiceError::Timeout { timeout } => CallFailed::TimedOut(timeout),
        ServiceError::Cancelled { .. } => CallFailed::Cancelled,
        ServiceError::TransportClosed => CallFailed::Lost("it has ended".to_owned()),
        ServiceError::TransportSend(error) => CallFailed::Lost(with_causes(&error)),
        other => CallFailed::Refused(other.to_string()),
    }
}
