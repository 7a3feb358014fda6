//! One server: its state (off, starting, ready or failed), its tools and its log.

mod tools;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use self::tools::Tool;

use crate::answer::Answer;
use crate::client::{CallError, Client, ProgressSink};
use crate::config::ServerConfig;
use crate::connection::Connection;
use crate::decisions::Decisions;
use crate::launch::Launch;
use crate::log::Log;
use crate::registry::ServerKey;

pub struct Server {
    key: ServerKey,
    config: ServerConfig,
    directory: Option<PathBuf>,
    launch: Arc<dyn Launch>,
    decisions: Arc<Decisions>,
    log: Log,
    /// Notified of every change; shared by all servers.
    changes: Arc<watch::Sender<()>>,
    state: watch::Sender<ServerState>,
    task: Mutex<Option<Task>>,
}

#[derive(Clone)]
pub enum ServerState {
    /// Switched off, in the config or by the user.
    Off,
    /// Not started yet, because no caller has needed it.
    Idle,
    Starting,
    Ready(Arc<ConnectedServer>),
    Failed(String),
}

/// A connected server.
pub struct ConnectedServer {
    client: Client,
    tools: RwLock<Arc<Vec<Tool>>>,
    /// Cancelled by a call that found the connection lost.
    lost: CancellationToken,
}

impl ConnectedServer {
    pub fn tools(&self) -> Arc<Vec<Tool>> {
        self.tools.read().clone()
    }
}

const FAULT: &str = "This is a fault in the program, which the log describes";

struct Task {
    stop: CancellationToken,
    done: JoinHandle<()>,
}

/// A document that a server offers for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub uri: String,
    pub name: String,
    pub description: Option<String>,
    pub mime: Option<String>,
}

impl Server {
    pub(crate) fn new(
        key: ServerKey,
        config: ServerConfig,
        directory: Option<PathBuf>,
        launch: Arc<dyn Launch>,
        decisions: Arc<Decisions>,
        changes: Arc<watch::Sender<()>>,
    ) -> Self {
        let on = decisions
            .enabled(&key.to_string())
            .unwrap_or(config.enabled);
        let state = if on {
            ServerState::Idle
        } else {
            ServerState::Off
        };
        Server {
            key,
            config,
            directory,
            launch,
            decisions,
            log: Log::default(),
            changes,
            state: watch::Sender::new(state),
            task: Mutex::default(),
        }
    }

    pub fn key(&self) -> &ServerKey {
        &self.key
    }

    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    pub fn state(&self) -> ServerState {
        self.state.borrow().clone()
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lines()
    }

    /// Starts the server in the background, unless it is off or was started before.
    pub fn start(self: &Arc<Self>) {
        let mut task = self.task.lock();
        let started = self.state.send_if_modified(|state| {
            let idle = matches!(state, ServerState::Idle);
            if idle {
                *state = ServerState::Starting;
            }
            idle
        });
        if started {
            self.changes.send_replace(());
            let stop = CancellationToken::new();
            let done = tokio::spawn(self.clone().run_guarded(stop.clone()));
            *task = Some(Task { stop, done });
        }
    }

    /// Waits while the server is starting.
    pub async fn wait_until_started(&self) -> ServerState {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| !matches!(state, ServerState::Starting));
        settled
            .await
            .map_or(ServerState::Off, |state| state.clone())
    }

    pub async fn set_enabled(self: &Arc<Self>, on: bool) {
        self.decisions.set_enabled(&self.key.to_string(), on);
        match (on, self.state()) {
            (true, ServerState::Off) => {
                self.set_state(ServerState::Idle);
                self.start();
            }
            (true, _) => self.start(),
            (false, _) => self.stop(ServerState::Off).await,
        }
    }

    /// Restarts from any state, except that a server that is off stays off.
    pub async fn restart(self: &Arc<Self>) {
        if !matches!(self.state(), ServerState::Off) {
            self.stop(ServerState::Idle).await;
            self.start();
        }
    }

    /// The user has accepted the tools as they are now.
    pub fn accept_tools(&self) {
        if let ServerState::Ready(live) = self.state() {
            let mut tools = Vec::clone(&live.tools());
            tools::accept(&mut tools, &self.decisions, &self.key);
            self.set_tools(&live, tools);
        }
    }

    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<Answer, CallError> {
        let live = self.live()?;
        match live.tools().iter().find(|known| known.name == tool) {
            None => return Err(CallError::NoTool(tool.to_owned())),
            Some(tool) if tool.changed => return Err(CallError::Changed(tool.name.clone())),
            Some(_) => {}
        }
        let outcome = live.client.call(tool, arguments, progress, cancel).await;
        if let Err(CallError::Lost(_)) = outcome {
            live.lost.cancel();
        }
        outcome
    }

    pub async fn resources(&self) -> Result<Vec<Resource>, CallError> {
        let listed = self.live()?.client.resources().await?;
        let resource = |listed: rmcp::model::Resource| Resource {
            uri: listed.uri,
            name: listed.name,
            description: listed.description,
            mime: listed.mime_type,
        };
        Ok(listed.into_iter().map(resource).collect())
    }

    pub async fn read(&self, uri: &str) -> Result<Answer, CallError> {
        self.live()?.client.read(uri).await
    }

    fn live(&self) -> Result<Arc<ConnectedServer>, CallError> {
        match self.state() {
            ServerState::Ready(live) if !live.client.is_closed() => Ok(live),
            _ => Err(CallError::NotRunning(self.key.name.clone())),
        }
    }

    pub(crate) async fn stop(&self, then: ServerState) {
        let task = self.task.lock().take();
        if let Some(Task { stop, done }) = task {
            stop.cancel();
            let _ = done.await;
        }
        self.set_state(then);
    }

    /// A turn waits while a server is starting, so a fault of ours must end the start as well.
    async fn run_guarded(self: Arc<Self>, stop: CancellationToken) {
        let run = AssertUnwindSafe(self.run(stop));
        if run.catch_unwind().await.is_err() {
            self.fail(FAULT.to_owned());
        }
    }

    async fn run(&self, stop: CancellationToken) {
        self.log.clear();
        let opening = tokio::time::timeout(self.config.start_timeout, self.open());
        let opened = tokio::select! {
            () = stop.cancelled() => return,
            opened = opening => opened,
        };
        match opened {
            Ok(Ok((connection, live))) => self.serve(connection, live, stop).await,
            Ok(Err(why)) => self.fail(why),
            Err(_) => self.fail(format!(
                "The server was not ready within {} ms",
                self.config.start_timeout.as_millis()
            )),
        }
    }

    async fn open(&self) -> Result<(Connection, Arc<ConnectedServer>), String> {
        let transport = &self.config.transport;
        let directory = self.directory.as_deref();
        let connection = Connection::open(transport, directory, &*self.launch, &self.log).await?;
        let client = connection.client();
        let listed = client.tools().await.map_err(|error| error.to_string())?;
        let live = ConnectedServer {
            client,
            tools: RwLock::new(Arc::new(tools::compare(listed, &self.decisions, &self.key))),
            lost: CancellationToken::new(),
        };
        Ok((connection, Arc::new(live)))
    }

    /// Returns when the connection has ended or the server is stopped.
    async fn serve(
        &self,
        mut connection: Connection,
        live: Arc<ConnectedServer>,
        stop: CancellationToken,
    ) {
        self.set_state(ServerState::Ready(live.clone()));
        let stopped = loop {
            tokio::select! {
                () = stop.cancelled() => break true,
                () = connection.ended.clone() => break false,
                () = live.lost.cancelled() => break false,
                Some(()) = connection.tools_changed.recv() => {
                    if let Ok(listed) = live.client.tools().await {
                        self.set_tools(&live, tools::compare(listed, &self.decisions, &self.key));
                    }
                }
            }
        };
        connection.close().await;
        if !stopped {
            self.fail(self.end_message());
        }
    }

    fn set_tools(&self, live: &Arc<ConnectedServer>, tools: Vec<Tool>) {
        *live.tools.write() = Arc::new(tools);
        self.changes.send_replace(());
    }

    fn set_state(&self, state: ServerState) {
        self.state.send_replace(state);
        self.changes.send_replace(());
    }

    fn end_message(&self) -> String {
        match self.log.last() {
            Some(line) => format!("The server has ended. It last said: {line}"),
            None => "The server has ended".to_owned(),
        }
    }

    fn fail(&self, why: String) {
        tracing::warn!(server = %self.key, %why, "an MCP server failed");
        self.set_state(ServerState::Failed(why));
    }
}

#[cfg(test)]
mod tests;
