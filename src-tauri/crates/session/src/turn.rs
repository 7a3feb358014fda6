//! A turn: the steps from a prompt until nothing is left to do.
//!
//! Each API call is one step and one assistant message. A step whose answer calls tools is
//! followed by another one; the newest user message decides agent and model each time.

mod calls;
mod conversation_cache;

mod attempts;
mod finish;
pub mod history;
mod host;
mod preview;
mod prompt_subtasks;
mod recovery;
mod repeated_calls;
mod request;
mod run;
mod runner;
mod shell_command;
mod step;
mod stop;
mod subtask;
mod summarize_history;
mod trees;
mod within_limits;

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::{
    AssistantMessage, AssistantPath, AssistantTime, Extra, Map, Message, MessageId,
    MessageWithParts, ModelRef, Part, Project, Session, TokenUsage, UserMessage,
};
use lathe_provider::ProviderError;
use lathe_records::FollowedMessage;
use lathe_store::SessionWriter;
use lathe_tools::Registry;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::core::Core;
use crate::{prompt, synthetic, title};
use attempts::Attempts;
use calls::CallsOutcome;
use finish::StepEnd;
use history::History;
use host::CallScope;
use lathe_conversation::compaction::Streak;
use lathe_conversation::plan_mode::{self, REMINDER};
use lathe_permission::Ancestor;
use lathe_permission::RunningTurn;
use lathe_records::Result;
use lathe_workspace::agents::Agent;
use lathe_workspace::models::OpenModel;
use lathe_workspace::plan_file::PlanFile;
use lathe_workspace::setup::Setup;
use repeated_calls::RepeatedCalls;
use step::{Call, StreamEnd};
use stop::StepStop;

pub use history::is_sent;
pub use preview::{NextRequest, preview};
pub use recovery::TAIL as RECOVERED_TAIL;
pub use run::BeforePoll;
pub use runner::Runner;
pub use shell_command::NOTE;
pub use subtask::SubtaskStarter;

pub struct Turn {
    core: Arc<Core>,
    /// Starts the turns of subtasks.
    subtasks: Arc<dyn SubtaskStarter>,
    session: Session,
    project: Project,
    /// Config, agents and models, resolved again for every step.
    setup: Arc<Setup>,
    plan: PlanFile,
    /// The sessions that handed this work on.
    ancestors: Vec<Ancestor>,
    cancel: CancellationToken,
    /// The messages that the model may see; grows with the turn.
    history: History,
    /// The message that the current step writes.
    writing: Option<FollowedMessage>,
    repeated_calls: Arc<Mutex<RepeatedCalls>>,
    steps: u32,
    /// What this turn has used of the person's limits, with its tasks.
    limited: Arc<RunningTurn>,
    /// A failed snapshot was already reported for this prompt.
    reported_missing_snapshot: bool,
    compactions: Streak,
    /// A refused request has already been answered by a compaction; this is done once.
    compacted_after_refusal: bool,
    /// Held while this turn writes, so that no other process does; `None` for a preview.
    _writer: Option<SessionWriter>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The newest prompt is answered.
    Done,
    /// The person refused a tool call without giving a reason.
    Refused,
    Aborted,
    Failed(String),
}

impl TurnEnd {
    /// For the log, without the text of an error.
    fn name(&self) -> &'static str {
        match self {
            TurnEnd::Done => "done",
            TurnEnd::Refused => "refused",
            TurnEnd::Aborted => "aborted",
            TurnEnd::Failed(_) => "failed",
        }
    }
}

/// Whether the loop continues after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    Continue,
    End(TurnEnd),
}

/// Whether the person is asked about the calls of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// As their rules and the mode say.
    ByRules,
    /// They made the call themselves.
    Never,
}

/// What the calls of a step run with.
struct StepTools {
    registry: Registry,
    /// The sessions that handed this work on.
    ancestors: Vec<Ancestor>,
    asking: Asking,
    /// The models that the prompt's subtasks name, by call id.
    task_models: HashMap<String, ModelRef>,
}

/// A prompt, with the agent and the model that answer it.
#[derive(Clone)]
struct ResolvedPrompt {
    user: UserMessage,
    agent: Agent,
    model: ModelRef,
}

impl Turn {
    pub async fn new(
        core: Arc<Core>,
        subtasks: Arc<dyn SubtaskStarter>,
        session: Session,
        project: Project,
        cancel: CancellationToken,
        writer: impl Into<Option<SessionWriter>>,
    ) -> Result<Self> {
        let ancestors = core.ancestors(&session).await?;
        let root = ancestors.last().map_or(&session.id, Ancestor::id);
        let limits = &core.permissions.limits;
        let writer = writer.into();
        let joins = !ancestors.is_empty() || writer.is_none();
        let limited = limits.turn(root, joins, core.records.now());
        Ok(Turn {
            history: History::load(&core.records, &session.id).await?,
            writing: None,
            setup: core.workspace.setup(&session, &project).await,
            plan: PlanFile::new(&session, &project, &core.data_dir),
            ancestors,
            core,
            subtasks,
            session,
            project,
            cancel,
            repeated_calls: Arc::default(),
            steps: 0,
            limited,
            reported_missing_snapshot: false,
            compactions: Streak::default(),
            compacted_after_refusal: false,
            _writer: writer,
        })
    }

    /// Runs until the newest prompt is answered, the turn is stopped, or it failed.
    pub async fn run(&mut self) -> Result<TurnEnd> {
        let ended = self.work_and_prune().await;
        // The next writer of this session may be another process: it must find everything.
        let written = self.core.records.store().barrier(&self.session.id).await;
        let ended = ended?;
        written?;
        Ok(ended)
    }

    async fn work_and_prune(&mut self) -> Result<TurnEnd> {
        let ended = self.work().await?;
        self.prune().await?;
        Ok(ended)
    }

    async fn work(&mut self) -> Result<TurnEnd> {
        loop {
            // First: a prompt that is taken up by a turn that was stopped would be lost in it.
            if self.cancel.is_cancelled() {
                return Ok(TurnEnd::Aborted);
            }
            self.take_queued().await?;
            let Some(prompt) = self.history.newest_user().cloned() else {
                return Ok(TurnEnd::Done);
            };
            if self.history.is_answered(prompt.info.id()) {
                return Ok(TurnEnd::Done);
            }
            // A command of the person asks no model, not even for a title.
            if self.steps == 0 && shell_command::command_of(&prompt).is_none() {
                let first = self.history.whole();
                let Core {
                    titles, records, ..
                } = &*self.core;
                title::start(titles, records, &self.setup.models, &self.session, first);
            }
            self.setup = self
                .core
                .workspace
                .setup(&self.session, &self.project)
                .await;
            if let Next::End(ended) = self.advance(&prompt).await? {
                return Ok(ended);
            }
        }
    }

    /// Does the next thing that the prompt needs: a summary or subtasks come before the model.
    async fn advance(&mut self, prompt: &MessageWithParts) -> Result<Next> {
        let Some(user) = prompt.info.as_user() else {
            return Ok(Next::End(TurnEnd::Done));
        };
        if let Some(part) = prompt.parts.iter().find_map(as_compaction) {
            return self.compact(user, part).await;
        }
        let resolved = self.resolve_prompt(user).await;
        if let Some(command) = shell_command::command_of(prompt) {
            return self.run_shell_command(&resolved, command).await;
        }
        let subtasks = self.history.open_subtasks(prompt);
        if !subtasks.is_empty() {
            return self.run_subtasks(&resolved, subtasks).await;
        }
        if !self.may_continue().await? {
            return Ok(Next::End(TurnEnd::Refused));
        }
        if let Some(total) = self.full_context(&resolved.model) {
            return self.compact_automatically(&resolved, total).await;
        }
        self.add_reminder(user, prompt).await?;
        let model = &resolved.model;
        let span = tracing::info_span!(
            "step",
            number = self.steps + 1,
            provider = model.provider_id,
            model = model.model_id,
        );
        self.step(&resolved, prompt).instrument(span).await
    }

    async fn resolve_prompt(&self, user: &UserMessage) -> ResolvedPrompt {
        let agent = self.setup.agents.get(user.agent.as_deref());
        let model = self.setup.model_for(user, &agent).await;
        let user = user.clone();
        ResolvedPrompt { user, agent, model }
    }

    /// Adds the prompts that were sent during the last step.
    async fn take_queued(&mut self) -> Result<()> {
        let Core {
            active, records, ..
        } = &*self.core;
        let _queue = active.lock_queue(&self.session.id).await;
        let mut taken = active.take_queued(&self.session.id);
        if taken.is_empty() {
            return Ok(());
        }
        let mut newest = self.history.newest().cloned();
        for prompt in &mut taken {
            let info = &mut prompt.message.info;
            // A step may have begun since it was sent: its answer is not one to this prompt.
            let moved = prompt::put_last(records, info, newest.as_ref());
            if prompt.by_person || moved {
                records.put_message(info.clone()).await?;
            }
            newest = Some(info.clone());
        }
        active.sent(&self.session.id);
        self.repeated_calls = Arc::default();
        self.steps = 0;
        self.reported_missing_snapshot = false;
        for prompt in taken {
            self.history.put(prompt.message);
        }
        Ok(())
    }

    /// Stores a reminder of the current mode with the prompt, once. It stays in the history:
    /// a reminder that is removed later would invalidate the provider's cache.
    async fn add_reminder(&mut self, user: &UserMessage, prompt: &MessageWithParts) -> Result<()> {
        if prompt.parts.iter().any(is_reminder) {
            return Ok(());
        }
        let Some(text) = plan_mode::reminder(&self.plan, self.history.messages(), prompt) else {
            return Ok(());
        };
        let records = &self.core.records;
        let id = records.ids().part(records.now());
        let mark = Map::from_iter([(REMINDER.to_owned(), true.into())]);
        let part = synthetic::text(id, user, &text, Some(mark));
        records.put_part(part.clone()).await?;
        self.history.put_part(part);
        Ok(())
    }

    async fn step(&mut self, resolved: &ResolvedPrompt, prompt: &MessageWithParts) -> Result<Next> {
        self.steps += 1;
        self.limited.used().steps += 1;
        let message = self.begin_message(resolved).await?;
        let wanted = &resolved.model;
        let model = match self.setup.models.open(wanted).await {
            Ok(model) => model,
            Err(error) => return self.fail(message, &wanted.provider_id, error).await,
        };
        let opened = self.open_step(&message).await?;
        let tools = self.step_tools(resolved, &model).await;
        let request = self.request(resolved, &model, &tools).await;
        let (end, calls) = self.ask_model(&message, &model, request).await?;
        match end {
            StreamEnd::Finished { reason, usage } => {
                self.compacted_after_refusal = false;
                let cost = model.cost(&usage);
                self.note_cost(cost);
                let end = StepEnd {
                    reason,
                    usage,
                    cost,
                    calls,
                    ends_turn: false,
                };
                self.finish_step(message, resolved, tools, opened, end)
                    .await
            }
            StreamEnd::Failed(ProviderError::ContextOverflow(_))
                if self.may_compact_after_refusal() =>
            {
                self.discard(&message).await?;
                self.compact_and_replay(resolved, prompt).await
            }
            StreamEnd::Failed(error) => self.fail(message, &wanted.provider_id, error).await,
            StreamEnd::Aborted => self.abort(message).await,
        }
    }

    /// Stores a new message and collects its parts from now on.
    async fn begin_message(&mut self, resolved: &ResolvedPrompt) -> Result<AssistantMessage> {
        let message = self.new_message(resolved);
        self.begin_writing(&message).await?;
        Ok(message)
    }

    async fn begin_writing(&mut self, message: &AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        self.writing = Some(records.follow(&message.id));
        let info = Message::Assistant(message.clone());
        records.put_message(info).await
    }

    /// The parts that were written for a message; none if it is not the one being written.
    fn written_parts(&self, id: &MessageId) -> Vec<Part> {
        let writing = self.writing.as_ref().filter(|writing| writing.id() == id);
        writing.map(FollowedMessage::parts).unwrap_or_default()
    }

    fn new_message(&self, resolved: &ResolvedPrompt) -> AssistantMessage {
        let records = &self.core.records;
        let now = records.date_after(self.history.newest());
        AssistantMessage {
            id: records.ids().message(now),
            session_id: self.session.id.clone(),
            time: AssistantTime {
                created: now,
                ..AssistantTime::default()
            },
            error: None,
            parent_id: resolved.user.id.clone(),
            model_id: resolved.model.model_id.clone(),
            provider_id: resolved.model.provider_id.clone(),
            mode: Some(resolved.agent.name.clone()),
            agent: Some(resolved.agent.name.clone()),
            path: Some(AssistantPath {
                cwd: self.session.directory.clone(),
                root: self.project.worktree.clone(),
                extra: Extra::default(),
            }),
            summary: None,
            cost: 0.0,
            tokens: TokenUsage::default(),
            finish: None,
            extra: Extra::default(),
        }
    }

    async fn ask_model(
        &self,
        message: &AssistantMessage,
        model: &OpenModel,
        request: lathe_provider::ModelRequest,
    ) -> Result<(StreamEnd, Vec<Call>)> {
        let attempts = Attempts {
            core: &self.core,
            message,
            cancel: &self.cancel,
        };
        attempts.run(model, request).await
    }

    async fn run_calls(
        &self,
        resolved: &ResolvedPrompt,
        tools: Registry,
        calls: Vec<Call>,
        task_models: HashMap<String, ModelRef>,
        asking: Asking,
    ) -> Result<CallsOutcome> {
        let scope = CallScope {
            core: self.core.clone(),
            subtasks: self.subtasks.clone(),
            session: self.session.clone(),
            project: self.project.clone(),
            setup: self.setup.clone(),
            prompt: resolved.clone(),
            tools: StepTools {
                registry: tools,
                ancestors: self.ancestors.clone(),
                asking,
                task_models,
            },
            stop: StepStop::of_turn(&self.cancel),
            repeated_calls: self.repeated_calls.clone(),
            limited: self.limited.clone(),
        };
        calls::run_all(&Arc::new(scope), calls).await
    }
}

fn as_compaction(part: &Part) -> Option<&lathe_protocol::CompactionPart> {
    match part {
        Part::Compaction(part) => Some(part),
        _ => None,
    }
}

fn is_reminder(part: &Part) -> bool {
    match part {
        Part::Text(part) => part
            .metadata
            .as_ref()
            .is_some_and(|metadata| metadata.contains_key(REMINDER)),
        _ => false,
    }
}
