//! The connection to one server: opening it, the notifications it sends, and closing it.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam};
use rmcp::service::{
    ClientInitializeError, NotificationContext, RoleClient, RunningServiceCancellationToken,
    serve_client,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::client::{Client, ProgressSinks};
use crate::config::Transport;
use crate::launch::{Launch, ProcessHandle, Program};
use crate::log::Log;

/// How long a server may take to disconnect and to flush its standard error.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Receives the notifications of a server.
struct Listener {
    log: Log,
    progress: ProgressSinks,
    tools_changed: mpsc::Sender<()>,
}

impl rmcp::ClientHandler for Listener {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.report(params);
    }

    // Newer servers log to standard error instead, but older ones are still in use.
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
        // The channel holds one notification; a second one would say the same.
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
    /// Completes when the connection has ended.
    pub ended: Shared<BoxFuture<'static, ()>>,
    shutdown: RunningServiceCancellationToken,
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
        let progress = ProgressSinks::default();
        let (sender, tools_changed) = mpsc::channel(1);
        let listener = Listener {
            log: log.clone(),
            progress: progress.clone(),
            tools_changed: sender,
        };
        let (service, process) = match transport {
            Transport::Local {
                command,
                environment,
                directory: own,
                confined,
            } => {
                if *confined && directory.is_none() {
                    return Err("It is to run in a sandbox, but it belongs to no project.".into());
                }
                let program = Program {
                    command: command.clone(),
                    environment: environment.clone(),
                    directory: own.clone().or_else(|| directory.map(ToOwned::to_owned)),
                    confined_to: directory.filter(|_| *confined).map(ToOwned::to_owned),
                };
                let child = launch
                    .launch(&program)
                    .await
                    .map_err(|error| format!("It couldn’t be started: {error}"))?;
                let process = Process {
                    handle: child.handle,
                    log_reader: tokio::spawn(log.clone().follow(child.stderr)),
                };
                let pipes = AsyncRwTransport::new_client(child.stdout, child.stdin);
                match serve_client(listener, pipes).boxed().await {
                    Ok(service) => (service, Some(process)),
                    Err(error) => {
                        process.stop().await;
                        return Err(start_error(error));
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
                        .map_err(start_error)?,
                    None,
                )
            }
        };
        Ok(Connection {
            client: Client::new(service.peer().clone(), progress),
            shutdown: service.cancellation_token(),
            ended: service.waiting().map(drop).boxed().shared(),
            process,
            tools_changed,
        })
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }

    pub async fn close(self) {
        self.shutdown.cancel();
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.ended).await;
        if let Some(process) = self.process {
            process.stop().await;
        }
    }
}

/// The process of a local server.
struct Process {
    handle: Box<dyn ProcessHandle>,
    log_reader: JoinHandle<()>,
}

impl Process {
    /// Waits for the rest of its standard error too, which often says why it ended.
    async fn stop(self) {
        self.handle.stop().await;
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.log_reader).await;
    }
}

fn parse_headers(
    headers: &BTreeMap<String, String>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let parse = |(name, value): (&String, &String)| {
        let bad = || format!("The header {name} can’t be sent");
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        Ok((
            HeaderName::try_from(name.as_str()).map_err(|_| bad())?,
            value,
        ))
    };
    headers.iter().map(parse).collect()
}

fn start_error(error: ClientInitializeError) -> String {
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

/// A server that ended before the first request was written.
fn is_broken_pipe(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Appends the causes: the outer message often says only that something failed.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
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
