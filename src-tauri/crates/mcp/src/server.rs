//! One server: off, starting, ready or failed, with its tools and its log.

mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use self::tools::Tool;

use crate::config::ServerConfig;
use crate::connection::{CallFailed, Client, Connection, ProgressSink};
use crate::content::Answer;
use crate::launch::Launch;
use crate::log::Log;
use crate::memory::Memory;
use crate::servers::ServerKey;

pub struct Server {
    key: ServerKey,
    config: ServerConfig,
    directory: Option<PathBuf>,
    launch: Arc<dyn Launch>,
    memory: Arc<Memory>,
    log: Log,
    /// Told of every change, whichever server it is.
    news: Arc<watch::Sender<()>>,
    state: watch::Sender<State>,
    task: Mutex<Option<Task>>,
}

#[derive(Clone)]
pub enum State {
    /// Switched off, in the config or by the person.
    Off,
    /// Nobody has needed it yet.
    Idle,
    Starting,
    Ready(Arc<Live>),
    Failed(String),
}

/// A server that answers.
pub struct Live {
    client: Client,
    tools: RwLock<Arc<Vec<Tool>>>,
    /// A call found out that nobody answers any more.
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

/// Something a server lets one read.
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
        memory: Arc<Memory>,
        news: Arc<watch::Sender<()>>,
    ) -> Self {
        let on = memory.enabled(&key.to_string()).unwrap_or(config.enabled);
        let state = if on { State::Idle } else { State::Off };
        Server {
            key,
            config,
            directory,
            launch,
            memory,
            log: Log::default(),
            news,
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

    /// Starts it in the background, if it is on and was not started yet.
    pub fn begin(self: &Arc<Self>) {
        let mut task = self.task.lock();
        let begun = self.state.send_if_modified(|state| {
            let idle = matches!(state, State::Idle);
            if idle {
                *state = State::Starting;
            }
            idle
        });
        if begun {
            self.news.send_replace(());
            let stop = CancellationToken::new();
            let done = tokio::spawn(self.clone().run(stop.clone()));
            *task = Some(Task { stop, done });
        }
    }

    /// Its tools, once it is past its start.
    pub async fn settled(&self) -> State {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| !matches!(state, State::Starting));
        settled.await.map_or(State::Off, |state| state.clone())
    }

    pub async fn set_enabled(self: &Arc<Self>, on: bool) {
        self.memory.set_enabled(&self.key.to_string(), on);
        match (on, self.state()) {
            (true, State::Off) => {
                self.turn(State::Idle);
                self.begin();
            }
            (true, _) => self.begin(),
            (false, _) => self.stop(State::Off).await,
        }
    }

    /// Anew, whatever state it is in; a server that is off stays off.
    pub async fn restart(self: &Arc<Self>) {
        if !matches!(self.state(), State::Off) {
            self.stop(State::Idle).await;
            self.begin();
        }
    }

    /// The person has looked at the tools as they are now.
    pub fn accept(&self) {
        if let State::Ready(live) = self.state() {
            let mut tools = Vec::clone(&live.tools());
            tools::accept(&mut tools, &self.memory, &self.key);
            self.show(&live, tools);
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
        self.turn(then);
    }

    async fn run(self: Arc<Self>, stop: CancellationToken) {
        self.log.clear();
        let opening = tokio::time::timeout(self.config.start_timeout, self.open());
        let opened = tokio::select! {
            () = stop.cancelled() => return,
            opened = opening => opened,
        };
        match opened {
            Ok(Ok((connection, live))) => self.attend(connection, live, stop).await,
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
            tools: RwLock::new(Arc::new(tools::judge(listed, &self.memory, &self.key))),
            lost: CancellationToken::new(),
        };
        Ok((connection, Arc::new(live)))
    }

    /// Until it ends or is stopped.
    async fn attend(&self, mut connection: Connection, live: Arc<Live>, stop: CancellationToken) {
        self.turn(State::Ready(live.clone()));
        let stopped = loop {
            tokio::select! {
                () = stop.cancelled() => break true,
                () = connection.ended.clone() => break false,
                () = live.lost.cancelled() => break false,
                Some(()) = connection.tools_changed.recv() => {
                    if let Ok(listed) = live.client.tools().await {
                        self.show(&live, tools::judge(listed, &self.memory, &self.key));
                    }
                }
            }
        };
        connection.close().await;
        if !stopped {
            self.fail(self.last_words());
        }
    }

    fn show(&self, live: &Arc<Live>, tools: Vec<Tool>) {
        *live.tools.write() = Arc::new(tools);
        self.news.send_replace(());
    }

    fn turn(&self, state: State) {
        self.state.send_replace(state);
        self.news.send_replace(());
    }

    fn last_words(&self) -> String {
        match self.log.last() {
            Some(line) => format!("The server has ended. It last said: {line}"),
            None => "The server has ended".to_owned(),
        }
    }

    fn fail(&self, why: String) {
        tracing::warn!(server = %self.key, %why, "an MCP server failed");
        self.turn(State::Failed(why));
    }
}
