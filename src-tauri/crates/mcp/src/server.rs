//! One server: its state (off, starting, ready or failed), its tools and its log.

mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use self::tools::Tool;

use crate::answer::Answer;
use crate::client::{CallFailed, Client, ProgressSink};
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
    state: watch::Sender<State>,
    task: Mutex<Option<Task>>,
}

#[derive(Clone)]
pub enum State {
    /// Switched off, in the config or by the user.
    Off,
    /// Not started yet, because no caller has needed it.
    Idle,
    Starting,
    Ready(Arc<Live>),
    Failed(String),
}

/// A connected server.
pub struct Live {
    client: Client,
    tools: RwLock<Arc<Vec<Tool>>>,
    /// Cancelled by a call that found the connection lost.
    lost: CancellationToken,
}

impl Live {
    pub fn tools(&self) -> Arc<Vec<Tool>> {
        self.tools.read().clone()
    }
}

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
        let state = if on { State::Idle } else { State::Off };
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

    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lines()
    }

    /// Starts the server in the background, unless it is off or was started before.
    pub fn begin(self: &Arc<Self>) {
        let mut task = self.task.lock();
        let started = self.state.send_if_modified(|state| {
            let idle = matches!(state, State::Idle);
            if idle {
                *state = State::Starting;
            }
            idle
        });
        if started {
            self.changes.send_replace(());
            let stop = CancellationToken::new();
            let done = tokio::spawn(self.clone().run(stop.clone()));
            *task = Some(Task { stop, done });
        }
    }

    /// Waits while the server is starting.
    pub async fn settled(&self) -> State {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| !matches!(state, State::Starting));
        settled.await.map_or(State::Off, |state| state.clone())
    }

    pub async fn set_enabled(self: &Arc<Self>, on: bool) {
        self.decisions.set_enabled(&self.key.to_string(), on);
        match (on, self.state()) {
            (true, State::Off) => {
                self.set_state(State::Idle);
                self.begin();
            }
            (true, _) => self.begin(),
            (false, _) => self.stop(State::Off).await,
        }
    }

    /// Restarts from any state, except that a server that is off stays off.
    pub async fn restart(self: &Arc<Self>) {
        if !matches!(self.state(), State::Off) {
            self.stop(State::Idle).await;
            self.begin();
        }
    }

    /// The user has accepted the tools as they are now.
    pub fn accept(&self) {
        if let State::Ready(live) = self.state() {
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
    ) -> Result<Answer, CallFailed> {
        let live = self.live()?;
        match live.tools().iter().find(|known| known.name == tool) {
            None => return Err(CallFailed::NoTool(tool.to_owned())),
            Some(tool) if tool.changed => return Err(CallFailed::Changed(tool.name.clone())),
            Some(_) => {}
        }
        let outcome = live.client.call(tool, arguments, progress, cancel).await;
        if let Err(CallFailed::Lost(_)) = outcome {
            live.lost.cancel();
        }
        outcome
    }

    pub async fn resources(&self) -> Result<Vec<Resource>, CallFailed> {
        let listed = self.live()?.client.resources().await?;
        let resource = |listed: rmcp::model::Resource| Resource {
            uri: listed.uri,
            name: listed.name,
            description: listed.description,
            mime: listed.mime_type,
        };
        Ok(listed.into_iter().map(resource).collect())
    }

    pub async fn read(&self, uri: &str) -> Result<Answer, CallFailed> {
        self.live()?.client.read(uri).await
    }

    fn live(&self) -> Result<Arc<Live>, CallFailed> {
        match self.state() {
            State::Ready(live) if !live.client.is_closed() => Ok(live),
            _ => Err(CallFailed::NotRunning(self.key.name.clone())),
        }
    }

    pub(crate) async fn stop(&self, then: State) {
        let task = self.task.lock().take();
        if let Some(Task { stop, done }) = task {
            stop.cancel();
            let _ = done.await;
        }
        self.set_state(then);
    }

    async fn run(self: Arc<Self>, stop: CancellationToken) {
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

    async fn open(&self) -> Result<(Connection, Arc<Live>), String> {
        let transport = &self.config.transport;
        let directory = self.directory.as_deref();
        let connection = Connection::open(transport, directory, &*self.launch, &self.log).await?;
        let client = connection.client();
        let listed = client.tools().await.map_err(|error| error.to_string())?;
        let live = Live {
            client,
            tools: RwLock::new(Arc::new(tools::compare(listed, &self.decisions, &self.key))),
            lost: CancellationToken::new(),
        };
        Ok((connection, Arc::new(live)))
    }

    /// Returns when the connection has ended or the server is stopped.
    async fn serve(&self, mut connection: Connection, live: Arc<Live>, stop: CancellationToken) {
        self.set_state(State::Ready(live.clone()));
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

    fn set_tools(&self, live: &Arc<Live>, tools: Vec<Tool>) {
        *live.tools.write() = Arc::new(tools);
        self.changes.send_replace(());
    }

    fn set_state(&self, state: State) {
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
        self.set_state(State::Failed(why));
    }
}
