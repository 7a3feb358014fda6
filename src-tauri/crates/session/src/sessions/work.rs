//! Prompts in, turns run, turns stopped.

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Event, Message, MessageError, MessageId, MessageWithParts, Part, Session, SessionId,
    SessionStatus, Unanswered,
};

use lathe_store::SessionWriter;

use super::Sessions;
use crate::bus::{Heard, Told};
use crate::core::{Core, Running};
use crate::error::Result;
use crate::prompt::{self, Prompt};
use crate::summary;
use crate::turn::{self, NextRequest, Turn};

impl Sessions {
    /// Stores the prompt and sees that it is answered: by a new turn, or by the one under way
    /// at its next step.
    pub async fn prompt(&self, id: &SessionId, input: PromptInput) -> Result<MessageId> {
        let subtask = None;
        self.submit(id, Prompt { input, subtask }).await
    }

    pub(super) async fn submit(&self, id: &SessionId, prompt: Prompt) -> Result<MessageId> {
        let core = &self.core;
        let turn = self.prompting(id);
        let _turn = turn.lock().await;
        let session = self.get(id).await?;
        let project = self.project_of(&session).await?;
        let setup = core.setup(&session, &project).await;
        let message = prompt::build(core, &setup, &session, &project, prompt).await?;
        // Only now: a prompt that is refused must not cost what is hidden.
        let session = self.settle_revert(session).await?;
        let message_id = message.info.id().clone();
        if self.claim(id) {
            self.start(session, &message).await?;
            return Ok(message_id);
        }
        core.records.put_whole(&message).await?;
        if !self.queue(id, message) && self.claim(id) {
            // The turn ended just before: this prompt begins the next one.
            self.resume(session).await?;
        }
        Ok(message_id)
    }

    /// What the model would be asked next in this session.
    pub async fn next_request(&self, id: &SessionId) -> Result<NextRequest> {
        let session = self.get(id).await?;
        let project = match self.project(&session.project_id).await {
            Ok(project) => project,
            Err(_) => self.open_project(session.directory.as_ref()).await?,
        };
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

    /// Settles what a crash left open: calls without an end, messages that never finished.
    /// A session that another process works on is left alone.
    pub async fn recover(&self, id: &SessionId) -> Result<()> {
        if self.core.running.lock().contains_key(id) {
            return Ok(());
        }
        let Ok(_writer) = self.core.records.store().lock_session(id).await else {
            return Ok(());
        };
        let page = self.core.records.messages(id, None, RECOVERED_TAIL).await?;
        settle(&self.core, page.messages).await
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

    /// True for the one caller that may start a turn.
    fn claim(&self, id: &SessionId) -> bool {
        let mut running = self.core.running.lock();
        if running.contains_key(id) {
            return false;
        }
        running.insert(id.clone(), Running::new());
        true
    }

    /// False when the turn ended in the meantime.
    fn queue(&self, id: &SessionId, message: MessageWithParts) -> bool {
        match self.core.running.lock().get_mut(id) {
            Some(running) => {
                running.queued.push(message);
                true
            }
            None => false,
        }
    }

    async fn start(&self, session: Session, message: &MessageWithParts) -> Result<()> {
        let id = session.id.clone();
        let begun = async {
            let writer = self.take_over(&id).await?;
            self.core.records.put_whole(message).await?;
            self.turn(session, writer).await
        };
        let begun = begun.await;
        self.spawn(id, begun)
    }

    async fn resume(&self, session: Session) -> Result<()> {
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
        let records = &self.core.records;
        let writer = records.store().lock_session(id).await?;
        let page = records.messages(id, None, RECOVERED_TAIL).await?;
        settle(&self.core, page.messages).await?;
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

    fn spawn(&self, id: SessionId, begun: Result<Turn>) -> Result<()> {
        match begun {
            Ok(turn) => {
                tokio::spawn(drive(self.core.clone(), id, turn));
                Ok(())
            }
            Err(error) => {
                end(&self.core, &mut self.core.running.lock(), &id);
                Err(error)
            }
        }
    }
}

/// How far back a crash can have left something open: one turn of many steps.
const RECOVERED_TAIL: usize = 50;

/// Runs turns until no prompt is left.
async fn drive(core: Arc<Core>, id: SessionId, mut turn: Turn) {
    loop {
        let failed = turn.run().await.err();
        if let Some(error) = &failed {
            tracing::warn!(%error, "a turn failed");
            core.records.publish(Event::SessionError {
                session_id: Some(id.clone()),
                error: Some(MessageError::unknown(error.to_string())),
            });
        }
        summary::finish(&core, &id).await;
        touch(&core, &id).await;
        // Looked at and left under one lock: a prompt joins this turn or finds none running.
        let mut running = core.running.lock();
        let more = running.get(&id).is_some_and(|one| {
            failed.is_none() && !one.cancel.is_cancelled() && !one.queued.is_empty()
        });
        if !more {
            drop(turn);
            return end(&core, &mut running, &id);
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
    running.remove(id);
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

async fn settle(core: &Core, messages: Vec<MessageWithParts>) -> Result<()> {
    let now = core.records.now();
    for message in messages {
        for part in message.parts {
            if let Part::Tool(mut tool) = part
                && tool.settle(Unanswered::Aborted, now)
            {
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
    Ok(())
}
