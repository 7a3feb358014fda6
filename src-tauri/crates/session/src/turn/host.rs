//! What a running tool can ask the session for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::{
    Event, Extra, Map, Millis, Project, Question, QuestionRequest, Session, Todo, ToolPart, ToolRef,
};
use lathe_store::{Health, Key};
use lathe_tools::context::{
    AgentSwitch, CallIds, CommandAsk, Host, MayRead, PermissionAsk, TaskRequest, TaskResult,
};
use lathe_tools::written::{FileChange, WriteEvidence};
use lathe_tools::{Effect, Progress, Refusal, Registry, RunPermit, ToolContext, ToolFailure};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::repeated_calls::RepeatedCalls;
use super::stop::StepStop;
use super::subtask::{self, Handover, SubtaskStarter};
use super::{Asking, ResolvedPrompt, StepTools};
use crate::core::Core;
use crate::core::ToolClock;
use crate::prompt;
use crate::synthetic::Draft;
use lathe_conversation::plan_mode;
use lathe_permission::{Authority, Gate, NOT_COVERED, RunningTurn, WaitForPerson};
use lathe_policy::agents::{BUILDER, PLANNER};
use lathe_records::Records;
use lathe_review::credit::keeper::{Caller, CreditKeeper, Stored};
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
    pub stop: StepStop,
    pub repeated_calls: Arc<Mutex<RepeatedCalls>>,
    pub limited: Arc<RunningTurn>,
}

impl CallScope {
    pub fn records(&self) -> &Records {
        &self.core.records
    }

    pub fn tools(&self) -> &Registry {
        &self.tools.registry
    }

    /// What the calls may do now. For each one anew: the person may choose a stricter mode while
    /// others of the step run.
    fn authority(&self) -> Arc<Authority> {
        Arc::new(Authority::resolve(
            &self.core.permissions,
            &self.setup,
            &self.project,
            &self.session,
            &self.prompt.agent,
            &self.tools.ancestors,
        ))
    }

    pub fn cancel(&self) -> &CancellationToken {
        &self.stop.cancel
    }

    /// A call of an unknown tool fails without an effect, so it does not wait for others.
    pub fn effect(&self, tool: &str) -> Effect {
        self.tools()
            .find(tool)
            .map_or(Effect::Independent, |tool| tool.effect())
    }

    /// The record of what a call of this step does to files.
    pub fn keep_credit(&self) -> (CreditKeeper, mpsc::UnboundedReceiver<Stored>) {
        let caller = match (self.tools.asking, self.setup.settings.snapshot) {
            (Asking::Never, _) => Caller::Person,
            (Asking::ByRules, Some(false)) => Caller::AgentUnseen,
            (Asking::ByRules, _) => Caller::Agent,
        };
        let (review, id) = (self.core.review.clone(), &self.session.id);
        let (worktree, directory) = (&self.project.worktree, &self.session.directory);
        let root = review.snapshots.root_for(worktree, directory);
        CreditKeeper::new(review, id, root, caller)
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
            cancel: self.stop.cancel.clone(),
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
    credit: Arc<CreditKeeper>,
    /// When it waited for an answer of the person.
    waits: Mutex<Vec<(Millis, Millis)>>,
}

/// A shorter pause is our own work, not that of a person who thinks.
const SHORTEST_WAIT_MILLIS: i64 = 250;

impl CallHost {
    pub fn new(
        scope: Arc<CallScope>,
        part: &ToolPart,
        progress: watch::Sender<Progress>,
        credit: Arc<CreditKeeper>,
    ) -> Self {
        let tool = ToolRef {
            message_id: part.message_id.clone(),
            call_id: part.call_id.clone(),
        };
        CallHost {
            scope,
            tool,
            progress,
            credit,
            waits: Mutex::default(),
        }
    }

    /// The times in which the call waited for the person, as they are stored with it.
    pub fn waits(&self) -> Vec<Value> {
        let waits = self.waits.lock();
        waits
            .iter()
            .map(|(start, end)| json!({ "start": start, "end": end }))
            .collect()
    }

    /// Notes how long the person took to answer.
    async fn timed<T>(&self, answer: impl Future<Output = T>) -> T {
        let records = self.scope.records();
        let waits = WaitForPerson::begin(&self.scope.limited, records);
        let start = records.now();
        let answer = answer.await;
        let end = records.now();
        drop(waits);
        if end.0 - start.0 >= SHORTEST_WAIT_MILLIS {
            self.waits.lock().push((start, end));
        }
        answer
    }

    /// Waits for the answer unless the step ends first. A plain no ends the step.
    async fn answered<T>(
        &self,
        answer: impl Future<Output = Result<T, ToolFailure>>,
    ) -> Result<T, ToolFailure> {
        let stop = &self.scope.stop;
        let answer = async {
            tokio::select! {
                answer = answer => answer,
                () = stop.cancel.cancelled() => Err(stop.failure()),
            }
        };
        let answer = self.timed(answer).await;
        stop.if_refused(&answer);
        answer
    }

    fn gate(&self) -> Gate {
        let scope = &self.scope;
        Gate::new(
            &scope.core.permissions,
            scope.authority(),
            &scope.session,
            &scope.project,
            Some(self.tool.clone()),
        )
    }

    fn todo_key(&self) -> Result<Key, ToolFailure> {
        Key::todo(&self.scope.session.id).map_err(|error| ToolFailure::failed(error.to_string()))
    }
}

#[async_trait]
impl Host for CallHost {
    async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure> {
        if self.scope.tools.asking == Asking::Never {
            return Ok(());
        }
        self.answered(self.gate().ask(ask)).await
    }

    async fn ask_to_run(&self, mut command: CommandAsk) -> Result<RunPermit, ToolFailure> {
        if self.scope.tools.asking == Asking::Never {
            return Ok(RunPermit::Free);
        }
        let (line, directory) = (&command.command, &command.directory);
        let not_covered = self.credit.not_covered(line, directory).await;
        if !not_covered.is_empty() {
            let key = NOT_COVERED.to_owned();
            command.metadata.insert(key, not_covered.into());
        }
        self.answered(self.gate().ask_to_run(command)).await
    }

    async fn ask_to_leave_sandbox(
        &self,
        command: CommandAsk,
        refusal: Refusal,
    ) -> Result<RunPermit, ToolFailure> {
        let gate = self.gate();
        self.answered(gate.ask_to_leave_sandbox(command, refusal))
            .await
    }

    async fn may_read(&self) -> Result<MayRead, ToolFailure> {
        self.gate().may_read().await
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
        let answers = async {
            tokio::select! {
                answers = self.scope.core.questions.ask(request) => answers,
                () = self.scope.stop.cancel.cancelled() => Err(self.scope.stop.failure()),
            }
        };
        self.timed(answers).await
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
            by: &scope.prompt.agent.name,
            model: &scope.prompt.model,
            wanted_model: scope.tools.task_models.get(&self.tool.call_id),
            cancel: &scope.stop.cancel,
            credit: &self.credit,
        };
        let done = subtask::run(handover, task, |progress| self.progress(progress)).await;
        scope.stop.if_refused(&done);
        done
    }

    async fn switch_agent(&self, to: AgentSwitch) -> Result<(), ToolFailure> {
        let records = self.scope.records();
        let (agent, user) = (agent_for(to), &self.scope.prompt.user);
        // Dated after the answer that this call belongs to, which another clock may have dated.
        let newest = prompt::newest(records, &self.scope.session.id).await;
        let newest = newest.map_err(|error| ToolFailure::failed(error.to_string()))?;
        let draft = Draft::like(records, user, newest.as_ref()).for_agent(agent);
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
                "Can’t change files while the session can’t be saved: {why}"
            ))),
        }
    }

    async fn about_to_write(&self, changes: Vec<FileChange>) -> Result<(), ToolFailure> {
        self.ensure_writable().await?;
        self.credit.about_to_write(changes).await;
        Ok(())
    }

    async fn about_to_run(&self) -> Result<(), ToolFailure> {
        self.ensure_writable().await?;
        self.credit.about_to_run().await;
        Ok(())
    }

    async fn has_run(&self, evidence: Option<Box<dyn WriteEvidence>>) {
        self.credit.close(evidence).await;
    }

    async fn file_edited(&self, path: &Path) {
        self.credit.confirm();
        let file = path.display().to_string();
        self.scope.records().publish(Event::FileEdited { file });
    }
}

fn unwritable(error: lathe_store::StoreError) -> ToolFailure {
    ToolFailure::failed(format!("The session can’t be saved: {error}"))
}

fn agent_for(switch: AgentSwitch) -> &'static str {
    match switch {
        AgentSwitch::Plan => PLANNER,
        AgentSwitch::Build => BUILDER,
    }
}
