//! A turn: from a prompt to the moment nothing is left to do.
//!
//! Each API call is one assistant message. After a call whose answer asks for tools the
//! loop goes round again; the newest user message decides agent and model each time.

mod calls;
mod compact;
mod doom;
mod finish;
pub mod history;
mod host;
mod preview;
mod prompt_subtasks;
mod recovery;
mod request;
mod retry;
mod runner;
mod step;
mod subtask;
mod told;
mod trees;

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::{
    AssistantMessage, AssistantPath, AssistantTime, Extra, Map, Message, MessageWithParts,
    ModelRef, Part, Project, Ruleset, Session, TokenUsage, UserMessage,
};
use lathe_provider::ProviderError;
use lathe_records::FollowedMessage;
use lathe_snapshot::TreeId;
use lathe_store::SessionWriter;
use lathe_tools::{FileReads, Registry};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::compaction::Streak;
use crate::core::Core;
use crate::plan::{PlanFile, REMINDER};
use crate::{synthetic, title};
use calls::After;
use doom::DoomLoop;
use finish::StepEnd;
use history::History;
use host::CallScope;
use lathe_records::Result;
use lathe_workspace::agents::Agent;
use lathe_workspace::models::OpenModel;
use lathe_workspace::setup::Setup;
use retry::Attempts;
use step::{Call, StreamEnd};

pub use preview::{NextRequest, preview};
pub use recovery::TAIL as RECOVERED_TAIL;
pub use runner::Runner;
pub use subtask::SubtaskStarter;

pub struct Turn {
    core: Arc<Core>,
    /// Starts the work that is handed to other agents.
    subtasks: Arc<dyn SubtaskStarter>,
    session: Session,
    project: Project,
    /// What the files say, looked at anew for every step.
    setup: Arc<Setup>,
    plan: PlanFile,
    cancel: CancellationToken,
    /// What the model may see; grows with the turn.
    history: History,
    /// The message that the current step writes.
    writing: Option<FollowedMessage>,
    reads: Arc<FileReads>,
    doom: Arc<Mutex<DoomLoop>>,
    steps: u32,
    /// That no tree could be taken was said for this prompt.
    told_no_snapshot: bool,
    compactions: Streak,
    /// The provider refused a request for its length; once is enough.
    refused_for_length: bool,
    /// Held while this turn writes, so that no other process does. None for one that only looks.
    _writer: Option<SessionWriter>,
}

/// How a turn came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The newest prompt is answered.
    Done,
    /// The person refused a tool call without a word.
    Refused,
    Aborted,
    Failed(String),
}

/// What the loop does after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    GoOn,
    End(Ended),
}

/// What an agent may do and use in one step.
struct Offer {
    rules: Ruleset,
    tools: Registry,
}

/// Who answers what with which model.
struct Asked {
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
        Ok(Turn {
            history: History::load(&core.records, &session.id).await?,
            writing: None,
            reads: core.tools.reads_of(&session.id),
            setup: core.workspace.setup(&session, &project).await,
            plan: PlanFile::of(&session, &project, &core.data_dir),
            core,
            subtasks,
            session,
            project,
            cancel,
            doom: Arc::default(),
            steps: 0,
            told_no_snapshot: false,
            compactions: Streak::default(),
            refused_for_length: false,
            _writer: writer.into(),
        })
    }

    /// Runs until the newest prompt is answered, the turn is stopped, or it failed.
    pub async fn run(&mut self) -> Result<Ended> {
        let ended = self.work_and_prune().await;
        // The next writer of this session may be another process.
        let given_up = self.core.records.store().barrier(&self.session.id).await;
        let ended = ended?;
        given_up?;
        Ok(ended)
    }

    async fn work_and_prune(&mut self) -> Result<Ended> {
        let ended = self.work().await?;
        self.prune().await?;
        Ok(ended)
    }

    async fn work(&mut self) -> Result<Ended> {
        loop {
            self.take_queued();
            let Some(prompt) = self.history.newest_user().cloned() else {
                return Ok(Ended::Done);
            };
            if self.cancel.is_cancelled() {
                return Ok(Ended::Aborted);
            }
            if self.history.is_answered(prompt.info.id()) {
                return Ok(Ended::Done);
            }
            if self.steps == 0 {
                let first = self.history.whole();
                let Core {
                    titles, records, ..
                } = &*self.core;
                title::begin(titles, records, &self.setup.models, &self.session, first);
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

    /// One thing at a time: what the prompt itself asks for comes before the model.
    async fn advance(&mut self, prompt: &MessageWithParts) -> Result<Next> {
        let Some(user) = prompt.info.as_user() else {
            return Ok(Next::End(Ended::Done));
        };
        if let Some(part) = prompt.parts.iter().find_map(compaction_of) {
            return self.compact(user, part).await;
        }
        let asked = self.asked(user).await;
        let subtasks = self.history.open_subtasks(prompt);
        if !subtasks.is_empty() {
            return self.run_subtasks(&asked, subtasks).await;
        }
        if let Some(total) = self.is_full(&asked.model) {
            return self.make_room(&asked, total).await;
        }
        self.remind(user, prompt).await?;
        self.step(&asked, prompt).await
    }

    async fn asked(&self, user: &UserMessage) -> Asked {
        let agent = self.setup.agents.get(user.agent.as_deref());
        let model = self.setup.model_for(user, &agent).await;
        let user = user.clone();
        Asked { user, agent, model }
    }

    /// Prompts sent while we were busy join in at the next step.
    fn take_queued(&mut self) {
        let taken = self.core.running.take_queued(&self.session.id);
        // This turn may have read the session while they were there.
        for id in &taken.withdrawn {
            self.history.remove(id);
        }
        if taken.prompts.is_empty() {
            return;
        }
        self.doom = Arc::default();
        self.steps = 0;
        self.told_no_snapshot = false;
        for prompt in taken.prompts {
            self.history.put(prompt);
        }
    }

    /// Tells the model which mode it is in, once a prompt, and for good: a reminder that came
    /// and went would spoil what the provider has cached.
    async fn remind(&mut self, user: &UserMessage, prompt: &MessageWithParts) -> Result<()> {
        if prompt.parts.iter().any(is_reminder) {
            return Ok(());
        }
        let Some(text) = self.plan.reminder(self.history.messages(), prompt) else {
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

    async fn step(&mut self, asked: &Asked, prompt: &MessageWithParts) -> Result<Next> {
        self.steps += 1;
        let message = self.begin_message(asked).await?;
        let wanted = &asked.model;
        let model = match self.setup.models.open(wanted).await {
            Ok(model) => model,
            Err(error) => return self.fail(message, &wanted.provider_id, error).await,
        };
        let begun = self.open_step(&message).await?;
        let offer = self.offer(asked, &model).await;
        let request = self.request(asked, &model, &offer).await;
        let (end, calls) = self.ask_model(&message, &model, request).await?;
        match end {
            StreamEnd::Finished { reason, usage } => {
                self.refused_for_length = false;
                let cost = model.cost(&usage);
                let end = StepEnd {
                    reason,
                    usage,
                    cost,
                    calls,
                };
                self.finish_step(message, asked, offer, begun, end).await
            }
            StreamEnd::Failed(ProviderError::ContextOverflow(_)) if self.may_make_room() => {
                self.discard(&message).await?;
                self.make_room_and_replay(asked, prompt).await
            }
            StreamEnd::Failed(error) => self.fail(message, &wanted.provider_id, error).await,
            StreamEnd::Aborted => self.abort(message).await,
        }
    }

    /// Stores a new message and collects its parts from now on.
    async fn begin_message(&mut self, asked: &Asked) -> Result<AssistantMessage> {
        let message = self.new_message(asked);
        self.begin_writing(&message).await?;
        Ok(message)
    }

    async fn begin_writing(&mut self, message: &AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        self.writing = Some(records.follow(&message.id));
        let info = Message::Assistant(message.clone());
        records.put_message(info).await
    }

    /// The parts of the message that is being written.
    fn written_parts(&self) -> Vec<Part> {
        let writing = self.writing.as_ref();
        writing.map(FollowedMessage::parts).unwrap_or_default()
    }

    fn new_message(&self, asked: &Asked) -> AssistantMessage {
        let records = &self.core.records;
        // Time never goes back within a session, or the answer would sort before its prompt.
        let now = records.now().max(self.history.newest_created());
        AssistantMessage {
            id: records.ids().message(now),
            session_id: self.session.id.clone(),
            time: AssistantTime {
                created: now,
                ..AssistantTime::default()
            },
            error: None,
            parent_id: asked.user.id.clone(),
            model_id: asked.model.model_id.clone(),
            provider_id: asked.model.provider_id.clone(),
            mode: Some(asked.agent.name.clone()),
            agent: Some(asked.agent.name.clone()),
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
        asked: &Asked,
        offer: Offer,
        calls: Vec<Call>,
        tree: Option<TreeId>,
        task_models: HashMap<String, ModelRef>,
    ) -> Result<After> {
        let scope = CallScope {
            core: self.core.clone(),
            subtasks: self.subtasks.clone(),
            session: self.session.clone(),
            project: self.project.clone(),
            setup: self.setup.clone(),
            user: asked.user.clone(),
            model: asked.model.clone(),
            rules: offer.rules,
            tools: offer.tools,
            cancel: self.cancel.clone(),
            reads: self.reads.clone(),
            doom: self.doom.clone(),
            task_models,
        };
        calls::run_all(&Arc::new(scope), calls, tree).await
    }
}

fn compaction_of(part: &Part) -> Option<&lathe_protocol::CompactionPart> {
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
