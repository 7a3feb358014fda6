//! What a running tool can ask the session for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::{
    Event, Extra, Map, ModelRef, PermissionRequest, Project, Question, QuestionRequest, Session,
    Todo, ToolPart, ToolRef,
};
use lathe_snapshot::TreeId;
use lathe_store::{Health, Key};
use lathe_tools::context::{
    AgentSwitch, CallIds, CommandAsk, Host, MayRead, PermissionAsk, TaskRequest, TaskResult,
};
use lathe_tools::{Effect, Progress, Registry, ToolContext, ToolFailure};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::repeated_calls::RepeatedCalls;
use super::subtask::{self, Handover, SubtaskStarter};
use super::{ResolvedPrompt, StepTools};
use crate::core::Core;
use crate::core::ToolClock;
use crate::permission::{Inquiry, asks_for_command, disk_paths};
use crate::plan_mode;
use crate::synthetic::Draft;
use lathe_records::Records;
use lathe_workspace::setup::Setup;

/// What all calls of a step share.
pub struct CallScope {
    pub core: Arc<Core>,
    pub subtasks: Arc<dyn SubtaskStarter>,
    pub session: Session,
    pub project: Project,
    pub setup: Arc<Setup>,
    pub prompt: ResolvedPrompt,
    pub tools: StepTools,
    pub cancel: CancellationToken,
    pub repeated_calls: Arc<Mutex<RepeatedCalls>>,
    /// The models that the prompt's subtasks name, by call id.
    pub task_models: HashMap<String, ModelRef>,
}

impl CallScope {
    pub fn records(&self) -> &Records {
        &self.core.records
    }

    pub fn tools(&self) -> &Registry {
        &self.tools.registry
    }

    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// A call of an unknown tool fails without an effect, so it does not wait for others.
    pub fn effect(&self, tool: &str) -> Effect {
        self.tools()
            .find(tool)
            .map_or(Effect::Independent, |tool| tool.effect())
    }

    /// The work tree as it is between two calls.
    pub async fn take_tree(&self) -> Option<TreeId> {
        let worktree = Path::new(&self.project.worktree);
        let taken = self
            .core
            .review
            .snapshots
            .take(worktree, &self.session.id)
            .await;
        taken.ok()
    }

    pub fn context(&self, part: &ToolPart, host: Arc<CallHost>) -> ToolContext {
        ToolContext {
            root: PathBuf::from(&self.project.worktree),
            cwd: PathBuf::from(&self.session.directory),
            call: CallIds {
                session: self.session.id.clone(),
                message: part.message_id.clone(),
                call: part.call_id.clone(),
            },
            cancel: self.cancel.clone(),
            reads: self.core.tools.reads_of(&self.session.id),
            output_dir: self.core.tools.output_dir(),
            environment: self.core.tools.environment.clone(),
            clock: Arc::new(ToolClock(self.records().clock().clone())),
            host,
        }
    }

    /// Asks the person if the same call was made three times in a row: the model may be stuck.
    pub async fn ask_if_repeated(
        &self,
        host: &CallHost,
        tool: &str,
        input: &Map,
    ) -> Result<(), ToolFailure> {
        if !self.repeated_calls.lock().add(tool, input) {
            return Ok(());
        }
        let ask = PermissionAsk::new("doom_loop", tool)
            .always(tool)
            .with("tool", tool)
            .with("input", input.clone());
        host.ask(ask).await
    }
}

pub struct CallHost {
    scope: Arc<CallScope>,
    tool: ToolRef,
    progress: watch::Sender<Progress>,
}

impl CallHost {
    pub fn new(scope: Arc<CallScope>, part: &ToolPart, progress: watch::Sender<Progress>) -> Self {
        let tool = ToolRef {
            message_id: part.message_id.clone(),
            call_id: part.call_id.clone(),
        };
        CallHost {
            scope,
            tool,
            progress,
        }
    }

    fn todo_key(&self) -> Result<Key, ToolFailure> {
        Key::todo(&self.scope.session.id).map_err(|error| ToolFailure::failed(error.to_string()))
    }
}

#[async_trait]
impl Host for CallHost {
    async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure> {
        let records = self.scope.records();
        let request = PermissionRequest {
            id: records.ids().permission(records.now()),
            session_id: self.scope.session.id.clone(),
            permission: ask.permission,
            patterns: ask.patterns,
            metadata: ask.metadata,
            always: if ask.opaque { Vec::new() } else { ask.always },
            tool: Some(self.tool.clone()),
            extra: Extra::default(),
        };
        let inquiry = Inquiry {
            project: &self.scope.project.id,
            rules: &self.scope.tools.rules,
            request,
            opaque: ask.opaque,
        };
        tokio::select! {
            answer = self.scope.core.permissions.broker.ask(inquiry) => answer,
            () = self.scope.cancel.cancelled() => Err(ToolFailure::aborted()),
        }
    }

    async fn ask_to_run(&self, command: CommandAsk) -> Result<(), ToolFailure> {
        let root = Path::new(&self.scope.project.worktree);
        let paths = disk_paths(root, &self.scope.core.tools.environment);
        for ask in asks_for_command(&command, &paths) {
            self.ask(ask).await?;
        }
        Ok(())
    }

    async fn may_read(&self) -> Result<MayRead, ToolFailure> {
        let scope = &self.scope;
        let permissions = &scope.core.permissions.broker;
        let may_read = permissions
            .may_read(&scope.project.id, &scope.tools.rules)
            .await;
        may_read.map_err(|error| ToolFailure::failed(error.to_string()))
    }

    fn progress(&self, progress: Progress) {
        self.progress.send_modify(|known| {
            known.title = progress.title.or(known.title.take());
            known.metadata.extend(progress.metadata);
        });
    }

    async fn question(&self, questions: Vec<Question>) -> Result<Vec<Vec<String>>, ToolFailure> {
        let records = self.scope.records();
        let request = QuestionRequest {
            id: records.ids().question(records.now()),
            session_id: self.scope.session.id.clone(),
            questions,
            tool: Some(self.tool.clone()),
            extra: Extra::default(),
        };
        tokio::select! {
            answers = self.scope.core.questions.ask(request) => answers,
            () = self.scope.cancel.cancelled() => Err(ToolFailure::aborted()),
        }
    }

    async fn todos(&self) -> Result<Vec<Todo>, ToolFailure> {
        let read = self.scope.records().store().read(&self.todo_key()?).await;
        read.map(Option::unwrap_or_default).map_err(unwritable)
    }

    async fn set_todos(&self, todos: Vec<Todo>) -> Result<(), ToolFailure> {
        let records = self.scope.records();
        records
            .store()
            .write(&self.todo_key()?, &todos)
            .await
            .map_err(unwritable)?;
        let session_id = self.scope.session.id.clone();
        records.publish(Event::TodoUpdated { session_id, todos });
        Ok(())
    }

    async fn spawn_task(&self, task: TaskRequest) -> Result<TaskResult, ToolFailure> {
        let scope = &self.scope;
        let handover = Handover {
            records: scope.records(),
            starter: &*scope.subtasks,
            parent: &scope.session,
            project: &scope.project,
            setup: &scope.setup,
            by: scope.prompt.user.agent.as_deref(),
            model: &scope.prompt.model,
            wanted_model: scope.task_models.get(&self.tool.call_id),
            cancel: &scope.cancel,
        };
        subtask::run(handover, task, |progress| self.progress(progress)).await
    }

    async fn switch_agent(&self, to: AgentSwitch) -> Result<(), ToolFailure> {
        let records = self.scope.records();
        let (agent, user) = (plan_mode::agent_for(to), &self.scope.prompt.user);
        // Dated after the answer that this call belongs to.
        let draft = Draft::like(records, user, user.time.created).for_agent(agent);
        let message = draft.with_text(plan_mode::switch_text(agent));
        let stored = records.put_complete_message(&message).await;
        stored.map_err(|error| ToolFailure::failed(error.to_string()))?;
        self.scope
            .core
            .active
            .steer(&self.scope.session.id, message);
        Ok(())
    }

    async fn ensure_writable(&self) -> Result<(), ToolFailure> {
        let store = self.scope.records().store();
        store
            .make_durable(&self.scope.session.id)
            .await
            .map_err(unwritable)?;
        match &*store.health().borrow() {
            Health::Good => Ok(()),
            Health::Failing(why) => Err(ToolFailure::failed(format!(
                "Nothing may be changed while the session cannot be saved: {why}"
            ))),
        }
    }

    async fn file_edited(&self, path: &Path) {
        let file = path.display().to_string();
        self.scope.records().publish(Event::FileEdited { file });
    }
}

fn unwritable(error: lathe_store::StoreError) -> ToolFailure {
    ToolFailure::failed(format!("The session cannot be saved: {error}"))
}
