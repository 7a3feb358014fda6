//! A turn: from a prompt to the moment nothing is left to do.
//!
//! Each API call is one assistant message. After a call whose answer asks for tools the
//! loop goes round again; the newest user message decides agent and model each time.

mod calls;
mod doom;
mod host;
mod preview;
mod request;
mod retry;
mod step;
mod trees;

use std::sync::Arc;

use lathe_protocol::{
    AssistantMessage, AssistantPath, AssistantTime, Event, Extra, Finish, Message, MessageError,
    MessageWithParts, Part, Project, Session, StepFinishPart, TokenUsage, Unanswered, UserMessage,
};
use lathe_provider::{FinishReason, ProviderError, Usage};
use lathe_snapshot::TreeId;
use lathe_store::SessionWriter;
use lathe_tools::FileReads;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::agents::Agent;
use crate::core::Core;
use crate::error::Result;
use crate::failure::message_error;
use crate::models::OpenModel;
use crate::setup::Setup;
use crate::title;
use calls::After;
use doom::DoomLoop;
use host::CallScope;
use retry::Attempts;
use step::{Call, StreamEnd};
use trees::BegunStep;

pub use preview::{NextRequest, preview};

pub struct Turn {
    core: Arc<Core>,
    session: Session,
    project: Project,
    /// What the files say, looked at anew for every step.
    setup: Arc<Setup>,
    cancel: CancellationToken,
    /// What the model may see; grows with the turn.
    history: Vec<MessageWithParts>,
    reads: Arc<FileReads>,
    doom: Arc<Mutex<DoomLoop>>,
    steps: u32,
    /// Held while this turn writes, so that no other process does. None for one that only looks.
    _writer: Option<SessionWriter>,
}

/// How the model ended a step, and what it asked for.
struct StepEnd {
    reason: FinishReason,
    usage: Usage,
    calls: Vec<Call>,
}

/// What the loop does after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Stop,
}

impl Turn {
    pub async fn new(
        core: Arc<Core>,
        session: Session,
        project: Project,
        cancel: CancellationToken,
        writer: impl Into<Option<SessionWriter>>,
    ) -> Result<Self> {
        let history = core
            .records
            .messages(&session.id, None, usize::MAX)
            .await?
            .messages;
        let reads = core.reads_of(&session.id);
        let setup = core.setup(&session, &project).await;
        Ok(Turn {
            core,
            session,
            project,
            setup,
            cancel,
            history,
            reads,
            doom: Arc::default(),
            steps: 0,
            _writer: writer.into(),
        })
    }

    /// Runs until the newest prompt is answered, the turn is stopped, or it failed.
    pub async fn run(&mut self) -> Result<()> {
        loop {
            self.take_queued();
            let Some(user) = self.newest_user() else {
                return Ok(());
            };
            if self.cancel.is_cancelled() || self.is_answered(&user) {
                return Ok(());
            }
            if self.steps == 0 {
                title::begin(&self.core, &self.setup.models, &self.session, &self.history);
            }
            if self.step(&user).await? == Next::Stop {
                return Ok(());
            }
        }
    }

    /// Prompts sent while we were busy join in at the next step.
    fn take_queued(&mut self) {
        let queued = self.core.take_queued(&self.session.id);
        if !queued.is_empty() {
            self.doom = Arc::default();
            self.steps = 0;
        }
        // What was stored before this turn read the session is already there.
        let known = |one: &MessageWithParts| {
            self.history
                .iter()
                .any(|old| old.info.id() == one.info.id())
        };
        let new: Vec<_> = queued.into_iter().filter(|one| !known(one)).collect();
        self.history.extend(new);
    }

    fn newest_user(&self) -> Option<UserMessage> {
        self.history
            .iter()
            .rev()
            .find_map(|message| message.info.as_user())
            .cloned()
    }

    /// Decided by `parentID`, never by the order of ids.
    fn is_answered(&self, user: &UserMessage) -> bool {
        let newest = self.history.iter().rev().find(|message| {
            message
                .info
                .as_assistant()
                .is_some_and(|answer| answer.parent_id == user.id)
        });
        newest.is_some_and(|message| {
            let Some(info) = message.info.as_assistant() else {
                return false;
            };
            let used_tools = message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Tool(_)));
            let goes_on = match info.finish.as_ref().map(Finish::kind) {
                Some(Finish::ToolCalls) => true,
                Some(Finish::Unknown) => used_tools,
                Some(_) => false,
                None => info.time.completed.is_none(),
            };
            info.error.is_some() || !goes_on
        })
    }

    async fn step(&mut self, user: &UserMessage) -> Result<Next> {
        self.steps += 1;
        self.setup = self.core.setup(&self.session, &self.project).await;
        let agent = self.setup.agents.get(user.agent.as_deref());
        let wanted = self.core.model_for(&self.setup, user, &agent).await;
        let mut message = self.new_message(user, &agent, &wanted);
        self.core
            .records
            .put_message(Message::Assistant(message.clone()))
            .await?;
        let model = match self.setup.models.open(&wanted).await {
            Ok(model) => model,
            Err(error) => return self.fail(message, &wanted.provider_id, error).await,
        };
        let begun = self.open_step(&message).await?;
        let request = self.request(user, &agent, &model).await;
        let (end, calls) = self.ask_model(&message, &model, request).await?;
        match end {
            StreamEnd::Finished { reason, usage } => {
                let end = StepEnd {
                    reason,
                    usage,
                    calls,
                };
                self.finish_step(&mut message, &agent, &model, begun, end)
                    .await
            }
            StreamEnd::Failed(error) => self.fail(message, &wanted.provider_id, error).await,
            StreamEnd::Aborted => self.abort(message).await,
        }
    }

    fn new_message(
        &self,
        user: &UserMessage,
        agent: &Agent,
        model: &lathe_protocol::ModelRef,
    ) -> AssistantMessage {
        let records = &self.core.records;
        // Time never goes back within a session, or the answer would sort before its prompt.
        let newest = self
            .history
            .last()
            .map_or(0, |message| message.info.created().0);
        let now = records.now().max(newest.into());
        AssistantMessage {
            id: records.ids().message(now),
            session_id: self.session.id.clone(),
            time: AssistantTime {
                created: now,
                ..AssistantTime::default()
            },
            error: None,
            parent_id: user.id.clone(),
            model_id: model.model_id.clone(),
            provider_id: model.provider_id.clone(),
            mode: Some(agent.name.clone()),
            agent: Some(agent.name.clone()),
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

    async fn finish_step(
        &mut self,
        message: &mut AssistantMessage,
        agent: &Agent,
        model: &OpenModel,
        begun: BegunStep,
        end: StepEnd,
    ) -> Result<Next> {
        let StepEnd {
            reason,
            usage,
            calls,
        } = end;
        let records = self.core.records.clone();
        let before = self.tree_before(begun).await?;
        records.store().barrier(&self.session.id).await?;
        let called = !calls.is_empty();
        let after = if called {
            self.run_calls(agent, calls, before).await?
        } else {
            After::GoOn
        };

        let tree = self.tree_after(before, called).await;
        let finish = finish_of(reason, called);
        message.tokens = tokens(usage);
        message.cost = model.cost(&usage);
        message.finish = Some(finish.clone());
        message.time.completed = Some(records.now().max(message.time.created));
        if finish == Finish::Length {
            message.error = Some(MessageError::output_length());
        }
        if self.cancel.is_cancelled() {
            message.error = Some(MessageError::aborted("The turn was stopped"));
        }
        let part = Part::StepFinish(StepFinishPart {
            id: records.ids().part(records.now()),
            session_id: self.session.id.clone(),
            message_id: message.id.clone(),
            reason: finish.as_str().to_owned(),
            snapshot: tree.map(|tree| tree.to_string()),
            cost: message.cost,
            tokens: message.tokens.clone(),
            extra: Extra::default(),
        });
        records.put_part(part).await?;
        self.note_patch(message, before, tree).await?;
        self.put_finished(message.clone()).await?;
        if before != tree {
            self.summarize(&message.parent_id);
        }
        let more = finish == Finish::ToolCalls || (finish == Finish::Unknown && called);
        Ok(if more && after == After::GoOn {
            Next::GoOn
        } else {
            Next::Stop
        })
    }

    async fn run_calls(
        &self,
        agent: &Agent,
        calls: Vec<Call>,
        tree: Option<TreeId>,
    ) -> Result<After> {
        let scope = CallScope {
            core: self.core.clone(),
            session: self.session.clone(),
            project: self.project.clone(),
            rules: self.core.rules(&self.setup, agent, &self.session),
            tools: self.tools(agent),
            cancel: self.cancel.clone(),
            reads: self.reads.clone(),
            doom: self.doom.clone(),
        };
        calls::run_all(&Arc::new(scope), calls, tree).await
    }

    /// The error stands on the message; calls that were under way are settled.
    async fn fail(
        &mut self,
        mut message: AssistantMessage,
        provider: &str,
        error: ProviderError,
    ) -> Result<Next> {
        let error = message_error(provider, error);
        message.error = Some(error.clone());
        message.finish = Some(Finish::Error);
        self.end_early(message).await?;
        let session_id = Some(self.session.id.clone());
        self.core.records.publish(Event::SessionError {
            session_id,
            error: Some(error),
        });
        Ok(Next::Stop)
    }

    async fn abort(&mut self, mut message: AssistantMessage) -> Result<Next> {
        message.error = Some(MessageError::aborted("The turn was stopped"));
        self.end_early(message).await?;
        Ok(Next::Stop)
    }

    async fn end_early(&mut self, mut message: AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        message.time.completed = Some(records.now().max(message.time.created));
        let parts = records.store().parts(&message.id).await?.items;
        for part in parts {
            if let Part::Tool(mut tool) = part
                && tool.settle(Unanswered::Aborted, records.now())
            {
                records.put_part(Part::Tool(tool)).await?;
            }
        }
        self.put_finished(message).await
    }

    /// Writes the finished message for good and lets the model see it from now on.
    async fn put_finished(&mut self, message: AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        let id = message.id.clone();
        records.put_message(Message::Assistant(message)).await?;
        records.store().barrier(&self.session.id).await?;
        self.history
            .extend(records.store().message(&self.session.id, &id).await?);
        Ok(())
    }
}

/// Some providers say "stop" though they asked for tools.
fn finish_of(reason: FinishReason, called: bool) -> Finish {
    match reason {
        FinishReason::Stop if called => Finish::ToolCalls,
        FinishReason::Stop => Finish::Stop,
        FinishReason::ToolCalls if called => Finish::ToolCalls,
        FinishReason::ToolCalls => Finish::Stop,
        FinishReason::Length => Finish::Length,
        FinishReason::ContentFilter => Finish::ContentFilter,
        FinishReason::Error => Finish::Error,
        FinishReason::Unknown => Finish::Unknown,
    }
}

fn tokens(usage: Usage) -> TokenUsage {
    let count = |tokens: u64| (tokens as i64).into();
    TokenUsage {
        input: count(usage.input),
        output: count(usage.output),
        reasoning: count(usage.reasoning),
        cache: lathe_protocol::CacheTokens {
            read: count(usage.cache_read),
            write: count(usage.cache_write),
            extra: Extra::default(),
        },
        extra: Extra::default(),
    }
}
