//! Runs a task in a child session and reports its progress.

use async_trait::async_trait;
use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Action, Event, Map, MessageId, MessageWithParts, ModelRef, Part, Project, Session, SessionId,
    ToolPart, ToolState,
};
use lathe_tools::context::{TaskRequest, TaskResult};
use lathe_tools::{Progress, ToolFailure};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::TurnEnd;
use crate::active_sessions::ActiveSession;
use crate::new_session::NewSession;
use lathe_policy::rule;
use lathe_records::Failed;
use lathe_records::Records;
use lathe_records::bus::{BusItem, Notification};
use lathe_review::credit::keeper::CreditKeeper;
use lathe_workspace::agents::Agent;
use lathe_workspace::setup::Setup;

/// Starts a turn in the session of a task. [`super::Runner`] implements it.
#[async_trait]
pub trait SubtaskStarter: Send + Sync {
    async fn start(
        &self,
        session: Session,
        input: PromptInput,
        running: ActiveSession,
    ) -> lathe_records::Result<(MessageId, JoinHandle<TurnEnd>)>;
}

/// Where a task comes from.
pub struct Handover<'a> {
    pub records: &'a Records,
    pub starter: &'a dyn SubtaskStarter,
    pub parent: &'a Session,
    pub project: &'a Project,
    pub setup: &'a Setup,
    /// The agent that starts the task.
    pub by: &'a str,
    /// The model of the parent's turn.
    pub model: &'a ModelRef,
    /// The model that the subtask itself names.
    pub wanted_model: Option<&'a ModelRef>,
    pub cancel: &'a CancellationToken,
    pub credit: &'a CreditKeeper,
}

/// Runs the task to its end. Stopping the parent stops the task.
pub async fn run(
    from: Handover<'_>,
    task: TaskRequest,
    report_progress: impl Fn(Progress) + Send,
) -> Result<TaskResult, ToolFailure> {
    if from.parent.parent_id.is_some() {
        return Err(ToolFailure::failed("A task cannot hand out tasks itself."));
    }
    let agent = find_agent(from.setup, &task.agent)?;
    let child = child_session(&from, &task).await?;
    let mut report = Report::new(&child.id);
    report_progress(report.progress(&task.description));

    let mut events = from.records.bus().subscribe();
    let model = from.wanted_model.or(agent.model.as_ref());
    let input = PromptInput {
        text: task.prompt,
        agent: Some(agent.name),
        model: Some(model.unwrap_or(from.model).clone()),
        ..PromptInput::default()
    };
    let running = ActiveSession::new(
        from.cancel.child_token(),
        Some((from.parent.id.clone(), from.by.to_owned())),
    );
    from.credit.task_started().await;
    let started = from.starter.start(child.clone(), input, running).await;
    let (prompt, mut turn) = started.map_err(refused)?;
    let ended = loop {
        tokio::select! {
            ended = &mut turn => break ended.unwrap_or(TurnEnd::Aborted),
            item = events.next() => {
                if let Some(BusItem::Notification(numbered)) = item
                    && let Notification::Event(event) = numbered.notification
                    && report.add_event(&event)
                {
                    report_progress(report.progress(&task.description));
                }
            }
        }
    };
    let page = from.records.messages(&child.id, None, usize::MAX).await;
    let mut messages = page.map_err(refused)?.messages;
    let start = messages.iter().position(|one| *one.info.id() == prompt);
    messages.drain(..start.unwrap_or(0));
    report.add_messages(&messages);
    from.credit.take_over(&child.id, &messages).await;
    match ended {
        TurnEnd::Done => Ok(TaskResult {
            session_id: child.id.to_string(),
            text: last_text(&messages),
            metadata: report.metadata(),
        }),
        TurnEnd::Failed(why) => Err(report.failure(ToolFailure::failed(format!(
            "The task failed: {why}\n\n(session_id: {})",
            child.id
        )))),
        TurnEnd::Refused => Err(report.failure(ToolFailure::rejected())),
        TurnEnd::Aborted => Err(report.failure(ToolFailure::aborted())),
    }
}

fn find_agent(setup: &Setup, name: &str) -> Result<Agent, ToolFailure> {
    setup.agents.callable(name).cloned().ok_or_else(|| {
        let all = setup.agents.all().iter().map(|agent| agent.name.as_str());
        let names: Vec<_> = all
            .filter(|name| setup.agents.callable(name).is_some())
            .collect();
        ToolFailure::failed(format!(
            "There is no agent named \"{name}\" that takes tasks. There are: {}.",
            names.join(", ")
        ))
    })
}

/// The session that the task continues, or a new one.
async fn child_session(from: &Handover<'_>, task: &TaskRequest) -> Result<Session, ToolFailure> {
    if let Some(id) = &task.session_id {
        let unknown = || {
            ToolFailure::failed(format!(
                "There is no task with the session_id \"{id}\" in this session. Leave it out to \
                 start a new one."
            ))
        };
        let id = SessionId::parse(id).map_err(|_| unknown())?;
        let session = from.records.session(&id).await.map_err(|_| unknown())?;
        let is_ours = session.parent_id.as_ref() == Some(&from.parent.id);
        return is_ours.then_some(session).ok_or_else(unknown);
    }
    // Whatever else the parent may not do is decided with each call of the task.
    let permission = vec![rule("task", "*", Action::Deny)];
    let new = NewSession {
        directory: &from.parent.directory,
        parent: Some(&from.parent.id),
        title: Some(format!("{} (@{} subagent)", task.description, task.agent)),
        permission: Some(permission),
    };
    let session = new.draft(from.records, from.project);
    let stored = from.records.create_session(session).await;
    stored.map_err(refused)
}

fn refused(error: Failed) -> ToolFailure {
    ToolFailure::failed(format!("Couldn’t start the task: {error}"))
}

/// What the parent's card shows: the child session and its calls.
struct Report {
    child: SessionId,
    calls: Vec<(String, Value)>,
}

impl Report {
    fn new(child: &SessionId) -> Self {
        Report {
            child: child.clone(),
            calls: Vec::new(),
        }
    }

    /// True when there is something new to show.
    fn add_event(&mut self, event: &Event) -> bool {
        match event {
            Event::MessagePartUpdated(updated) if *updated.part.session_id() == self.child => {
                match &updated.part {
                    Part::Tool(tool) => self.add_call(tool),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn add_call(&mut self, tool: &ToolPart) -> bool {
        let shown = call_view(tool);
        let known = self.calls.iter_mut().find(|(id, _)| id == tool.id.as_str());
        match known {
            Some((_, old)) if *old == shown => return false,
            Some((_, old)) => *old = shown,
            None => self.calls.push((tool.id.to_string(), shown)),
        }
        true
    }

    /// Adds every call of the stored messages.
    fn add_messages(&mut self, messages: &[MessageWithParts]) {
        for part in messages.iter().flat_map(|message| &message.parts) {
            if let Part::Tool(tool) = part {
                self.add_call(tool);
            }
        }
    }

    fn metadata(&self) -> Map {
        let calls = self.calls.iter().map(|(_, shown)| shown.clone());
        let summary: Vec<Value> = calls.collect();
        Map::from_iter([
            ("sessionId".to_owned(), self.child.as_str().into()),
            ("summary".to_owned(), summary.into()),
        ])
    }

    fn progress(&self, title: &str) -> Progress {
        Progress {
            title: Some(title.to_owned()),
            metadata: self.metadata(),
        }
    }

    fn failure(&self, mut failure: ToolFailure) -> ToolFailure {
        failure.metadata = self.metadata();
        failure
    }
}

fn call_view(tool: &ToolPart) -> Value {
    let mut state = json!({ "status": tool.state().name() });
    let title = match tool.state() {
        ToolState::Completed(done) => Some(done.title.as_str()),
        ToolState::Running(running) => running.title.as_deref(),
        ToolState::Pending(_) | ToolState::Error(_) => None,
    };
    if let Some(title) = title {
        state["title"] = title.into();
    }
    json!({ "id": tool.id, "tool": tool.tool, "state": state })
}

fn last_text(messages: &[MessageWithParts]) -> String {
    let mut answers = messages
        .iter()
        .rev()
        .filter(|message| message.info.as_assistant().is_some());
    let text = answers.find_map(|message| {
        message.parts.iter().rev().find_map(|part| match part {
            Part::Text(part) if !part.text.is_empty() => Some(part.text.clone()),
            _ => None,
        })
    });
    text.unwrap_or_else(|| "The task ended without a word.".to_owned())
}
