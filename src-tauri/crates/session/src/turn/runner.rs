//! Runs turns: claims a session, starts its turn, and goes on until no prompt is left.
//!
//! The public handle and a task tool start work here; nothing below calls back into the
//! handle.

use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Event, MessageError, MessageId, MessageWithParts, Session, SessionId, SessionStatus,
};
use lathe_records::bus::{Heard, Told};
use lathe_records::{Failed, Result};
use lathe_review::summary;
use lathe_store::SessionWriter;
use tokio::task::JoinHandle;

use super::recovery;
use super::subtask::SubtaskStarter;
use super::{Ended, Turn};
use crate::core::Core;
use crate::prompt::{self, Prompt};
use crate::running::Running;

#[derive(Clone)]
pub struct Runner {
    core: Arc<Core>,
}

impl Runner {
    pub fn new(core: Arc<Core>) -> Self {
        Runner { core }
    }

    /// Gives a prompt to the turn under way, or starts a new one for it.
    pub async fn send(&self, session: Session, message: MessageWithParts) -> Result<MessageId> {
        let (id, core) = (session.id.clone(), &self.core);
        let message_id = message.info.id().clone();
        if core.running.claim(&id, Running::by_itself()) {
            self.start(session, Some(&message)).await?;
            return Ok(message_id);
        }
        core.records.put_whole(&message).await?;
        if !core.running.queue(&id, message) && core.running.claim(&id, Running::by_itself()) {
            // The turn ended just before: this prompt begins the next one.
            self.start(session, None).await?;
        }
        Ok(message_id)
    }

    /// Starts a turn that the caller wants to see the end of. Refused while one is under way.
    pub async fn begin(
        &self,
        session: Session,
        message: &MessageWithParts,
        running: Running,
    ) -> Result<JoinHandle<Ended>> {
        if !self.core.running.claim(&session.id, running) {
            return Err(Failed::Busy);
        }
        self.start(session, Some(message)).await
    }

    /// Stops the turn and waits until everything of it is settled.
    pub async fn abort(&self, id: &SessionId) {
        let mut events = self.core.records.bus().subscribe();
        let Some(cancel) = self.core.running.cancel_token(id) else {
            return;
        };
        cancel.cancel();
        while self.core.running.contains(id) {
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

    /// Settles what a crash left open, in the session and in the tasks it had handed out. A
    /// session that another process works on is left alone.
    pub async fn recover(&self, id: &SessionId) -> Result<()> {
        let mut open = vec![id.clone()];
        while let Some(id) = open.pop() {
            // Another caller is at it and settles it. A prompt that comes meanwhile waits.
            let Some(_prompt) = self.core.running.try_lock_prompt(&id) else {
                continue;
            };
            if self.core.running.contains(&id) {
                continue;
            }
            let Ok(writer) = self.core.records.store().lock_session(&id).await else {
                continue;
            };
            let settled = recovery::settle(&self.core.records, &id).await;
            // Looking at a session must be possible where nothing can be written.
            let filed = self.release(&id, writer, Ok(())).await;
            if let Err(error) = filed {
                tracing::warn!(%error, "what a crash left open is not on the disk yet");
            }
            open.extend(settled?);
        }
        Ok(())
    }

    /// Gives up the right to write a session. The next writer may be another process: it must
    /// find everything in the files, and nothing still to be written may overwrite its work.
    pub async fn release<T>(
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

    /// The session is claimed: on an error the claim is given up again.
    async fn start(
        &self,
        session: Session,
        message: Option<&MessageWithParts>,
    ) -> Result<JoinHandle<Ended>> {
        let id = session.id.clone();
        match self.open_turn(session, message).await {
            Ok(turn) => Ok(tokio::spawn(drive(self.core.clone(), id, turn))),
            Err(error) => {
                self.core.running.end_unless_queued(&id, false, ());
                Err(error)
            }
        }
    }

    async fn open_turn(
        &self,
        session: Session,
        message: Option<&MessageWithParts>,
    ) -> Result<Turn> {
        let writer = self.take_over(&session.id).await?;
        if let Some(message) = message {
            self.core.records.put_whole(message).await?;
        }
        self.core
            .running
            .set_status(&session.id, SessionStatus::Busy);
        let project = self.core.workspace.project_of(&session).await?;
        let cancel = self.core.running.cancel_token(&session.id);
        let subtasks = Arc::new(self.clone());
        let (core, cancel) = (self.core.clone(), cancel.unwrap_or_default());
        Turn::new(core, subtasks, session, project, cancel, writer).await
    }

    /// The right to write the session, with what a crash left behind settled.
    async fn take_over(&self, id: &SessionId) -> Result<SessionWriter> {
        let records = &self.core.records;
        let writer = records.store().lock_session(id).await?;
        // Another process may have removed it since the caller looked.
        records.session(id).await?;
        for task in recovery::settle(records, id).await? {
            self.recover(&task).await?;
        }
        Ok(writer)
    }
}

#[async_trait]
impl SubtaskStarter for Runner {
    async fn start(
        &self,
        session: Session,
        input: PromptInput,
        running: Running,
    ) -> Result<(MessageId, JoinHandle<Ended>)> {
        let _prompt = self.core.running.lock_prompt(&session.id).await;
        let prompt = Prompt {
            input,
            by_agent: true,
            subtask: None,
        };
        let message = prompt::for_session(&self.core, &session, prompt).await?;
        let turn = self.begin(session, &message, running).await?;
        Ok((message.info.id().clone(), turn))
    }
}

/// Runs turns until no prompt is left. The answer is how the last one ended.
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
        summary::finish(&core.review, &id).await;
        touch(&core, &id).await;
        match core.running.end_unless_queued(&id, !broken, turn) {
            Some(next) => turn = next,
            None => return ended,
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

fn is_idle(told: &Told, id: &SessionId) -> bool {
    matches!(told, Told::Event(event) if matches!(&**event, Event::SessionIdle { session_id } if session_id == id))
}
