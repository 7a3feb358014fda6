//! Prompts in, turns run, turns stopped.

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Event, Extra, Message, MessageError, MessageId, MessageWithParts, Part, Project, Session,
    SessionId, SessionStatus, ToolPart, ToolState, Unanswered,
};

use lathe_store::SessionWriter;
use tokio::task::JoinHandle;

use super::{NewSession, Sessions};
use crate::bus::{Heard, Told};
use crate::core::{Core, Running};
use crate::error::{Failed, Result};
use crate::prompt::{self, Prompt};
use crate::summary;
use crate::synthetic::Draft;
use crate::turn::{self, Ended, NextRequest, Turn};

impl Sessions {
    /// Stores the prompt and sees that it is answered: by a new turn, or by the one under way
    /// at its next step.
    pub async fn prompt(&self, id: &SessionId, input: PromptInput) -> Result<MessageId> {
        self.submit(
            id,
            Prompt {
                input,
                by_agent: false,
                subtask: None,
            },
        )
        .await
    }

    /// A new session for a prompt. One that is refused leaves none behind.
    pub async fn begin_with(
        &self,
        project: &Project,
        directory: &str,
        input: PromptInput,
    ) -> Result<(Session, MessageId)> {
        let new = NewSession {
            directory,
            parent: None,
            title: None,
            permission: None,
        };
        let session = self.draft(project, new);
        let prompt = Prompt {
            input,
            by_agent: false,
            subtask: None,
        };
        let message = self.build(&session, prompt).await?;
        let session = self.core.records.create_session(session).await?;
        let prompt = self.send(session.clone(), message).await?;
        Ok((session, prompt))
    }

    pub(super) async fn submit(&self, id: &SessionId, prompt: Prompt) -> Result<MessageId> {
        let _turn = self.prompting(id).lock_owned().await;
        let session = self.get(id).await?;
        let message = self.build(&session, prompt).await?;
        // Only now: a prompt that is refused must not cost what is hidden.
        let session = self.settle_revert(session).await?;
        self.send(session, message).await
    }

    /// To a new turn, or to the one under way.
    async fn send(&self, session: Session, message: MessageWithParts) -> Result<MessageId> {
        let (id, core) = (session.id.clone(), &self.core);
        let message_id = message.info.id().clone();
        if self.claim(&id, Running::by_itself()) {
            self.start(session, &message).await?;
            return Ok(message_id);
        }
        core.records.put_whole(&message).await?;
        if !core.queue(&id, message) && self.claim(&id, Running::by_itself()) {
            // The turn ended just before: this prompt begins the next one.
            self.resume(session).await?;
        }
        Ok(message_id)
    }

    /// Begins a turn that the caller wants to see the end of. Refused while one is under way.
    pub(crate) async fn begin(
        &self,
        session: Session,
        input: PromptInput,
        running: Running,
    ) -> Result<(MessageId, JoinHandle<Ended>)> {
        let _turn = self.prompting(&session.id).lock_owned().await;
        let prompt = Prompt {
            input,
            by_agent: true,
            subtask: None,
        };
        let message = self.build(&session, prompt).await?;
        if !self.claim(&session.id, running) {
            return Err(Failed::Busy);
        }
        let turn = self.start(session, &message).await?;
        Ok((message.info.id().clone(), turn))
    }

    /// Sums the session up by hand, so that it goes on with room to spare.
    pub async fn compact(&self, id: &SessionId) -> Result<MessageId> {
        let _turn = self.prompting(id).lock_owned().await;
        let session = self.get(id).await?;
        let session = self.settle_revert(session).await?;
        let records = &self.core.records;
        let page = records.messages(id, None, RECOVERED_TAIL).await?;
        let newest = page
            .messages
            .iter()
            .rev()
            .find_map(|one| one.info.as_user());
        let Some((user, last)) = newest.zip(page.messages.last()) else {
            return Err(Failed::refused("There is nothing to sum up yet"));
        };
        let draft = Draft::like(records, user, last.info.created());
        let request = draft.asking_for_summary(false, Extra::default());
        if !self.claim(id, Running::by_itself()) {
            return Err(Failed::Busy);
        }
        self.start(session, &request).await?;
        Ok(request.info.id().clone())
    }

    /// Held while a session gets a prompt, or while something of it is taken back.
    pub(super) fn prompting(&self, id: &SessionId) -> Arc<tokio::sync::Mutex<()>> {
        self.core
            .prompting
            .lock()
            .entry(id.clone())
            .or_default()
            .clone()
    }

    async fn build(&self, session: &Session, prompt: Prompt) -> Result<MessageWithParts> {
        let project = self.project_of(session).await?;
        let setup = self.core.setup(session, &project).await;
        prompt::build(&self.core, &setup, session, &project, prompt).await
    }

    /// What the model would be asked next in this session.
    pub async fn next_request(&self, id: &SessionId) -> Result<NextRequest> {
        let session = self.get(id).await?;
        let project = self.project_of(&session).await?;
        turn::preview(self.core.clone(), session, project).await
    }

    /// Stops the turn and waits until everything of it is settled.
    pub async fn abort(&self, id: &SessionId) {
        let mut events = self.subscribe();
        let Some(cancel) = self
            .core
            .running
            .lock()
            .get(id)
            .map(|one| one.cancel.clone())
        else {
            return;
        };
        cancel.cancel();
        while self.core.running.lock().contains_key(id) {
            match events.next().await {
                None => return,
                Some(Heard::Missed) => {}
                Some(Heard::Notice(notice)) => {
                    if is_idle(&notice.told, id) {
                        return;
                    }
                }
            }
        }
    }

    /// Does not wait out the pause before the next try.
    pub fn retry_now(&self, id: &SessionId) {
        if let Some(running) = self.core.running.lock().get(id) {
            running.retry_now.notify_waiters();
        }
    }

    /// Settles what a crash left open: calls without an end, messages that never finished,
    /// tasks that were under way. A session that another process works on is left alone.
    pub async fn recover(&self, id: &SessionId) -> Result<()> {
        let mut open = vec![id.clone()];
        while let Some(id) = open.pop() {
            // Whoever is at it settles it, or will. A prompt that comes meanwhile waits.
            let Ok(_turn) = self.prompting(&id).try_lock_owned() else {
                continue;
            };
            if self.core.running.lock().contains_key(&id) {
                continue;
            }
            let Ok(writer) = self.core.records.store().lock_session(&id).await else {
                continue;
            };
            let settled = self.settle(&id).await;
            // To look at a session must be possible where nothing can be written.
            let filed = self.give_up(&id, writer, Ok(())).await;
            if let Err(error) = filed {
                tracing::warn!(%error, "what a crash left open is not on the disk yet");
            }
            open.extend(settled?);
        }
        Ok(())
    }

    /// The next writer of a session may be another process: it must find what was done here in
    /// the files, and nothing that is still to come may overwrite what it does.
    pub(super) async fn give_up<T>(
        &self,
        id: &SessionId,
        writer: SessionWriter,
        done: Result<T>,
    ) -> Result<T> {
        let filed = self.core.records.store().barrier(id).await;
        drop(writer);
        let done = done?;
        filed?;
        Ok(done)
    }

    /// Returns the tasks that the session had handed out when it ended.
    async fn settle(&self, id: &SessionId) -> Result<Vec<SessionId>> {
        let records = &self.core.records;
        let page = records.messages(id, None, RECOVERED_TAIL).await?;
        let tasks = settle(&self.core, page.messages).await?;
        let session = records.store().session(id).await?;
        if session.is_some_and(|session| session.time.compacting.is_some()) {
            let edit = |session: &mut Session| session.time.compacting = None;
            records.update_session(id, edit).await?;
        }
        Ok(tasks)
    }

    /// True for the one caller that may start a turn.
    fn claim(&self, id: &SessionId, new: Running) -> bool {
        let mut running = self.core.running.lock();
        if running.contains_key(id) {
            return false;
        }
        running.insert(id.clone(), new);
        true
    }

    async fn start(
        &self,
        session: Session,
        message: &MessageWithParts,
    ) -> Result<JoinHandle<Ended>> {
        let id = session.id.clone();
        let begun = async {
            let writer = self.take_over(&id).await?;
            self.core.records.put_whole(message).await?;
            self.turn(session, writer).await
        };
        let begun = begun.await;
        self.spawn(id, begun)
    }

    async fn resume(&self, session: Session) -> Result<JoinHandle<Ended>> {
        let id = session.id.clone();
        let begun = async {
            let writer = self.take_over(&id).await?;
            self.turn(session, writer).await
        };
        let begun = begun.await;
        self.spawn(id, begun)
    }

    /// The right to write the session, with what a crash left behind settled.
    async fn take_over(&self, id: &SessionId) -> Result<SessionWriter> {
        let writer = self.core.records.store().lock_session(id).await?;
        // Another process may have removed it since the caller looked.
        self.get(id).await?;
        for task in self.settle(id).await? {
            self.recover(&task).await?;
        }
        Ok(writer)
    }

    async fn turn(&self, session: Session, writer: SessionWriter) -> Result<Turn> {
        self.core.set_status(&session.id, SessionStatus::Busy);
        let project = self.project_of(&session).await?;
        let running = self
            .core
            .running
            .lock()
            .get(&session.id)
            .map(|one| one.cancel.clone());
        let cancel = running.unwrap_or_default();
        Turn::new(self.core.clone(), session, project, cancel, writer).await
    }

    fn spawn(&self, id: SessionId, begun: Result<Turn>) -> Result<JoinHandle<Ended>> {
        match begun {
            Ok(turn) => Ok(tokio::spawn(drive(self.core.clone(), id, turn))),
            Err(error) => {
                end(&self.core, &mut self.core.running.lock(), &id);
                Err(error)
            }
        }
    }
}

/// How far back a crash can have left something open: one turn of many steps.
const RECOVERED_TAIL: usize = 50;

/// Runs turns until no prompt is left. How the last one ended is the answer.
async fn drive(core: Arc<Core>, id: SessionId, mut turn: Turn) -> Ended {
    loop {
        let (ended, broken) = match turn.run().await {
            Ok(ended) => (ended, false),
            Err(error) => {
                tracing::warn!(%error, "a turn failed");
                core.records.publish(Event::SessionError {
                    session_id: Some(id.clone()),
                    error: Some(MessageError::unknown(error.to_string())),
                });
                (Ended::Failed(error.to_string()), true)
            }
        };
        summary::finish(&core, &id).await;
        touch(&core, &id).await;
        // Looked at and left under one lock: a prompt joins this turn or finds none running.
        let mut running = core.running.lock();
        let more = running
            .get(&id)
            .is_some_and(|one| !broken && !one.cancel.is_cancelled() && !one.queue.is_empty());
        if !more {
            drop(turn);
            end(&core, &mut running, &id);
            return ended;
        }
    }
}

async fn touch(core: &Core, id: &SessionId) {
    let now = core.records.now();
    let touched = core.records.update_session(id, move |session| {
        session.time.updated = session.time.updated.max(now);
    });
    if let Err(error) = touched.await {
        tracing::warn!(%error, "a session could not be touched");
    }
}

/// Told under the lock, so that "idle" never comes after the next turn's "busy".
fn end(core: &Core, running: &mut HashMap<SessionId, Running>, id: &SessionId) {
    if let Some(ended) = running.remove(id)
        && !ended.queue.is_empty()
    {
        // They stay in the session, but nobody takes them up by themselves any more.
        core.tell_queue(id, Vec::new());
    }
    let (session_id, status) = (id.clone(), SessionStatus::Idle);
    core.records
        .publish(Event::SessionStatus { session_id, status });
    core.records.publish(Event::SessionIdle {
        session_id: id.clone(),
    });
}

fn is_idle(told: &Told, id: &SessionId) -> bool {
    matches!(told, Told::Event(event) if matches!(&**event, Event::SessionIdle { session_id } if session_id == id))
}

/// Returns the child sessions of calls that were still open.
async fn settle(core: &Core, messages: Vec<MessageWithParts>) -> Result<Vec<SessionId>> {
    let now = core.records.now();
    let mut tasks = Vec::new();
    for message in messages {
        for part in message.parts {
            if let Part::Tool(mut tool) = part
                && tool.settle(Unanswered::Aborted, now)
            {
                tasks.extend(task_of(&tool));
                core.records.put_part(Part::Tool(tool)).await?;
            }
        }
        if let Message::Assistant(mut info) = message.info
            && info.time.completed.is_none()
        {
            info.time.completed = Some(now.max(info.time.created));
            info.error.get_or_insert_with(|| {
                MessageError::aborted("The program ended before this answer was complete")
            });
            core.records.put_message(Message::Assistant(info)).await?;
        }
    }
    Ok(tasks)
}

fn task_of(tool: &ToolPart) -> Option<SessionId> {
    let ToolState::Error(failed) = tool.state() else {
        return None;
    };
    let id = failed.metadata.as_ref()?.get("sessionId")?.as_str()?;
    SessionId::parse(id).ok()
}
