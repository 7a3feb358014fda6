//! A project in a temporary directory and a host with scripted answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::{MessageId, Question, SessionId, Todo};
use lathe_tools::context::{AgentSwitch, MayRead};
use lathe_tools::written::{CommandWrites, FileChange, WriteEvidence};
use lathe_tools::{
    CallIds, CommandAsk, Environment, EnvironmentSettings, FileReads, Host, PermissionAsk,
    Progress, Refusal, Registry, RunPermit, SystemClock, TaskRequest, TaskResult, ToolContext,
    ToolFailure, ToolOutput, Walls, Want,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

type Answer = Box<dyn Fn(&PermissionAsk) -> Result<(), ToolFailure> + Send + Sync>;

/// Allows everything by default, and records all requests.
#[derive(Default)]
pub struct FakeLoop {
    pub asks: Mutex<Vec<PermissionAsk>>,
    pub progress: Mutex<Vec<Progress>>,
    pub progressed: Notify,
    pub todos: Mutex<Vec<Todo>>,
    pub tasks: Mutex<Vec<TaskRequest>>,
    pub answers: Mutex<Option<Vec<Vec<String>>>>,
    pub switches: Mutex<Vec<AgentSwitch>>,
    pub edited: Mutex<Vec<PathBuf>>,
    pub read_only: Mutex<bool>,
    /// What confines the next commands. After a refusal they run without, if that is allowed.
    pub walls: Mutex<Option<Arc<dyn Walls>>>,
    pub refusals: Mutex<Vec<Refusal>>,
    /// What the last command was seen to write.
    pub writes: Mutex<Option<CommandWrites>>,
    /// What our own tools were about to write.
    pub changes: Mutex<Vec<FileChange>>,
    answer: Mutex<Option<Arc<Answer>>>,
}

#[async_trait]
impl Host for FakeLoop {
    async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure> {
        let answer = self
            .answer
            .lock()
            .as_ref()
            .map_or(Ok(()), |answer| answer(&ask));
        self.asks.lock().push(ask);
        answer
    }

    async fn ask_to_run(&self, ask: CommandAsk) -> Result<RunPermit, ToolFailure> {
        let mut as_asked = PermissionAsk::new("bash", ask.command).and(ask.wants);
        as_asked.metadata = ask.metadata;
        self.ask(as_asked).await?;
        Ok(match self.walls.lock().clone() {
            Some(walls) => RunPermit::Confined(walls),
            None => RunPermit::Free,
        })
    }

    async fn ask_to_leave_sandbox(
        &self,
        ask: CommandAsk,
        refusal: Refusal,
    ) -> Result<RunPermit, ToolFailure> {
        self.refusals.lock().push(refusal);
        self.ask(PermissionAsk::new("sandbox", ask.command)).await?;
        Ok(RunPermit::Free)
    }

    async fn may_read(&self) -> Result<MayRead, ToolFailure> {
        let answer = self.answer.lock().clone();
        Ok(Arc::new(move |path| {
            let ask = PermissionAsk::new("read", path);
            answer.as_ref().is_none_or(|answer| answer(&ask).is_ok())
        }))
    }

    fn progress(&self, progress: Progress) {
        self.progress.lock().push(progress);
        self.progressed.notify_one();
    }

    async fn question(&self, _: Vec<Question>) -> Result<Vec<Vec<String>>, ToolFailure> {
        self.answers
            .lock()
            .clone()
            .ok_or_else(ToolFailure::dismissed)
    }

    async fn todos(&self) -> Result<Vec<Todo>, ToolFailure> {
        Ok(self.todos.lock().clone())
    }

    async fn set_todos(&self, todos: Vec<Todo>) -> Result<(), ToolFailure> {
        *self.todos.lock() = todos;
        Ok(())
    }

    async fn spawn_task(&self, task: TaskRequest) -> Result<TaskResult, ToolFailure> {
        self.tasks.lock().push(task);
        let mut metadata = Map::new();
        metadata.insert("summary".to_owned(), json!(["read a.txt"]));
        Ok(TaskResult {
            session_id: "ses_child".to_owned(),
            text: "found it".to_owned(),
            metadata,
        })
    }

    async fn switch_agent(&self, to: AgentSwitch) -> Result<(), ToolFailure> {
        self.switches.lock().push(to);
        Ok(())
    }

    async fn ensure_writable(&self) -> Result<(), ToolFailure> {
        if *self.read_only.lock() {
            return Err(ToolFailure::failed("The store cannot be written."));
        }
        Ok(())
    }

    async fn about_to_write(&self, changes: Vec<FileChange>) -> Result<(), ToolFailure> {
        self.ensure_writable().await?;
        self.changes.lock().extend(changes);
        Ok(())
    }

    async fn has_run(&self, evidence: Option<Box<dyn WriteEvidence>>) {
        let finish = tokio::task::spawn_blocking(|| evidence.and_then(|seen| seen.finish()));
        *self.writes.lock() = finish.await.unwrap();
    }

    async fn file_edited(&self, path: &Path) {
        self.edited.lock().push(path.to_owned());
    }
}

pub struct Project {
    directory: TempDir,
    pub host: Arc<FakeLoop>,
    pub cx: ToolContext,
}

impl Project {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let root = base.join("project");
        let home = base.join("home");
        for dir in [&root, &home] {
            std::fs::create_dir(dir).unwrap();
        }
        let variables = [
            ("HOME", home.to_str().unwrap()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("SHELL", "/bin/bash"),
            ("CANARY_TOKEN", "canary-secret"),
            ("ORDINARY", "passed on"),
        ];
        let variables = variables
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into_iter()
            .collect();
        let host = Arc::new(FakeLoop::default());
        let cx = ToolContext {
            cwd: root.clone(),
            root,
            call: CallIds {
                session: SessionId::parse("ses_000000000001aaaaaaaaaaaaaa").unwrap(),
                message: MessageId::parse("msg_000000000001aaaaaaaaaaaaaa").unwrap(),
                call: "call_1".to_owned(),
            },
            cancel: CancellationToken::new(),
            reads: Arc::new(FileReads::default()),
            output_dir: base.join("tool-output"),
            environment: Arc::new(Environment::fixed(
                variables,
                EnvironmentSettings::default(),
            )),
            clock: Arc::new(SystemClock),
            host: host.clone(),
        };
        Self {
            directory,
            host,
            cx,
        }
    }

    /// A path next to the project, outside of it.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.cx.root.join(name)
    }

    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        write(&self.path(name), content.as_ref());
        self
    }

    pub fn outside_file(self, name: &str, content: &str) -> Self {
        write(&self.outside(name), content.as_bytes());
        self
    }

    pub fn answering(
        self,
        answer: impl Fn(&PermissionAsk) -> Result<(), ToolFailure> + Send + Sync + 'static,
    ) -> Self {
        *self.host.answer.lock() = Some(Arc::new(Box::new(answer)));
        self
    }

    /// Denies one permission.
    pub fn denying(self, permission: &'static str) -> Self {
        self.answering(move |ask| {
            if ask.wants.iter().any(|want| want.permission == permission) {
                Err(ToolFailure::denied(format!("{permission} is denied")))
            } else {
                Ok(())
            }
        })
    }

    pub async fn run(&self, tool: &str, input: Value) -> Result<ToolOutput, ToolFailure> {
        Registry::builtin().run(tool, input, &self.cx).await
    }

    pub async fn output(&self, tool: &str, input: Value) -> String {
        self.run(tool, input).await.unwrap().output
    }

    pub async fn failure(&self, tool: &str, input: Value) -> ToolFailure {
        self.run(tool, input).await.unwrap_err()
    }

    pub fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The permissions asked for, with their patterns, in however many requests.
    pub fn asked(&self) -> Vec<(String, Vec<String>)> {
        let asked = |want: &Want| (want.permission.clone(), want.patterns.clone());
        let asks = self.host.asks.lock();
        asks.iter()
            .flat_map(|ask| ask.wants.iter().map(asked))
            .collect()
    }

    /// What the only request asked for.
    pub fn asked_at_once(&self) -> Vec<(String, Vec<String>)> {
        assert_eq!(self.host.asks.lock().len(), 1, "{:?}", self.asked());
        self.asked()
    }
}

fn write(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}
