//! Runs turns: claims a session, starts its turn, and runs turns until no prompt is left.
//!
//! The public handle and the task tool start work here; nothing below calls back into the
//! handle.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Event, MessageId, MessageWithParts, Session, SessionId, SessionStatus};
use lathe_records::bus::{BusItem, Notification, Subscription};
use lathe_records::{Failed, Result};
use lathe_review::summary;
use lathe_store::SessionWriter;
use tokio::task::JoinHandle;
use tracing::Instrument;

use super::recovery;
use super::run::Run;
use super::subtask::SubtaskStarter;
use super::{Turn, TurnEnd};
use crate::active_sessions::ActiveSession;
use crate::core::Core;
use crate::prompt::{self, Author, Prompt};

/// A tool gets three seconds to end by itself, and the files some more.
const ABORT_LIMIT: Duration = Duration::from_secs(6);

#[derive(Clone)]
pub struct Runner {
    core: Arc<Core>,
}

impl Runner {
    pub fn new(core: Arc<Core>) -> Self {
        Runner { core }
    }

    /// Queues a prompt for the running turn, or starts a new turn for it.
    pub async fn send(&self, session: Session, message: MessageWithParts) -> Result<MessageId> {
        let (id, core) = (session.id.clone(), &self.core);
        let message_id = message.info.id().clone();
        let mut is_stored = false;
        loop {
            if let Some(run) = Run::claim(core, &id, ActiveSession::for_person()) {
                self.start(run, session, Some(&message)).await?;
                return Ok(message_id);
            }
            if core.active.is_stopping(&id) {
                // It takes no more prompts, and ends in a moment. This one starts the next turn.
                let events = core.records.bus().subscribe();
                self.wait_until_idle(&id, events).await;
                continue;
            }
            if !is_stored {
                let waiting = prompt::waiting(message.clone());
                core.records.put_complete_message(&waiting).await?;
                is_stored = true;
            }
            if core.active.queue(&id, message.clone()) {
                return Ok(message_id);
            }
            // The turn has just ended, or was stopped: this prompt starts the next one.
        }
    }

    /// Starts a turn and returns a handle on its end. Refused while a turn is running.
    pub async fn begin(
        &self,
        session: Session,
        message: &MessageWithParts,
        running: ActiveSession,
    ) -> Result<JoinHandle<TurnEnd>> {
        let run = Run::claim(&self.core, &session.id, running).ok_or(Failed::Busy)?;
        self.start(run, session, Some(message)).await
    }

    /// Stops the turn and waits until all its calls and messages are settled.
    pub async fn abort(&self, id: &SessionId) {
        let events = self.core.records.bus().subscribe();
        let Some(cancel) = self.core.active.cancel_token(id) else {
            return;
        };
        cancel.cancel();
        let idle = self.wait_until_idle(id, events);
        if tokio::time::timeout(ABORT_LIMIT, idle).await.is_err() {
            tracing::error!(session = %id, "a turn did not stop");
            let events = self.core.records.bus().subscribe();
            self.core.active.drop_work(id);
            self.wait_until_idle(id, events).await;
        }
    }

    async fn wait_until_idle(&self, id: &SessionId, mut events: Subscription) {
        while self.core.active.contains(id) {
            match events.next().await {
                None => return,
                Some(BusItem::Missed) => {}
                Some(BusItem::Notification(numbered)) => {
                    if is_idle(&numbered.notification, id) {
                        return;
                    }
                }
            }
        }
    }

    /// Settles what a crash left open, in the session and in its tasks. A session that another
    /// process works on is left alone.
    ///
    /// What cannot be written is left for later: a session must be readable where there is no room.
    pub async fn recover(&self, id: &SessionId) {
        let mut open = vec![id.clone()];
        while let Some(id) = open.pop() {
            // Another caller holds the lock and settles the session. New prompts wait for us.
            let Some(_prompt) = self.core.active.try_lock_prompt(&id) else {
                continue;
            };
            if self.core.active.contains(&id) {
                continue;
            }
            let Ok(writer) = self.core.records.store().lock_session(&id).await else {
                continue;
            };
            let settled = recovery::settle(&self.core, &id).await;
            match self.release(&id, writer, settled).await {
                Ok(tasks) => open.extend(tasks),
                Err(error) => tracing::warn!(%error, "what a crash left open is not settled"),
            }
        }
    }

    /// Releases the session's lock. The next writer may be another process: it must find
    /// everything in the files, and no pending write of ours may overwrite its work.
    pub async fn release<T>(
        &self,
        id: &SessionId,
        writer: SessionWriter,
        done: Result<T>,
    ) -> Result<T> {
        let written = self.core.records.store().barrier(id).await;
        drop(writer);
        let done = done?;
        written?;
        Ok(done)
    }

    async fn start(
        &self,
        run: Run,
        session: Session,
        message: Option<&MessageWithParts>,
    ) -> Result<JoinHandle<TurnEnd>> {
        let id = session.id.clone();
        match run.attempt(self.open_turn(session, message)).await {
            Ok(turn) => {
                let span = tracing::info_span!("turn", session = %id);
                let work = drive(run, turn).instrument(span);
                Ok(self.core.active.spawn(&id, work))
            }
            Err(error) => {
                if let Some(message) = message {
                    self.take_out(message).await;
                }
                run.end(());
                Err(error)
            }
        }
    }

    /// Removes a prompt whose turn did not start: its sender has it, and would send it twice.
    async fn take_out(&self, message: &MessageWithParts) {
        let records = &self.core.records;
        let (session, id) = (message.info.session_id(), message.info.id());
        if let Ok(Some(_)) = records.store().message_info(session, id).await
            && let Err(error) = records.remove_message(session, id).await
        {
            tracing::error!(%error, "a prompt that was refused stays in its session");
        }
    }

    async fn open_turn(
        &self,
        session: Session,
        message: Option<&MessageWithParts>,
    ) -> Result<Turn> {
        let writer = self.lock(&session.id).await?;
        if let Some(message) = message {
            self.store_first(message).await?;
        }
        self.core
            .active
            .set_status(&session.id, SessionStatus::Busy);
        let project = self.core.workspace.project_of(&session).await?;
        let cancel = self.core.active.cancel_token(&session.id);
        let subtasks = Arc::new(self.clone());
        let (core, cancel) = (self.core.clone(), cancel.unwrap_or_default());
        Turn::new(core, subtasks, session, project, cancel, writer).await
    }

    /// Stores the prompt that a turn starts with. The caller holds the session's lock for writing.
    async fn store_first(&self, message: &MessageWithParts) -> Result<()> {
        let records = &self.core.records;
        let newest = prompt::newest(records, message.info.session_id()).await?;
        let mut info = message.info.clone();
        if !prompt::put_last(records, &mut info, newest.as_ref()) {
            return records.put_complete_message(message).await;
        }
        let parts = message.parts.clone();
        let dated = MessageWithParts { info, parts };
        records.put_complete_message(&dated).await
    }

    /// Locks the session for writing and settles what a crash left open.
    pub async fn lock(&self, id: &SessionId) -> Result<SessionWriter> {
        let records = &self.core.records;
        let writer = records.store().lock_session(id).await?;
        // Another process may have removed the session in the meantime.
        records.session(id).await?;
        for task in recovery::settle(&self.core, id).await? {
            self.recover(&task).await;
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
        running: ActiveSession,
    ) -> Result<(MessageId, JoinHandle<TurnEnd>)> {
        let _prompt = self.core.active.lock_prompt(&session.id).await;
        let prompt = Prompt::by(Author::Agent, input);
        let message = prompt::build_message(&self.core, &session, prompt).await?;
        let turn = self.begin(session, &message, running).await?;
        Ok((message.info.id().clone(), turn))
    }
}

/// Runs turns until no prompt is left, and returns how the last one ended.
///
/// The turn is dropped before the run, so that a run that is dropped finds the session's lock free.
async fn drive(mut run: Run, mut turn: Turn) -> TurnEnd {
    loop {
        let (ended, broken) = match run.attempt(turn.run()).await {
            Ok(ended) => (ended, false),
            Err(error) => {
                let why = error.to_string();
                run.settle(&why).await;
                (TurnEnd::Failed(why), true)
            }
        };
        let id = run.id().clone();
        let core = run.core().clone();
        let tidied = run.attempt(async {
            summary::wait(&core.review, &id).await;
            touch(&core, &id).await;
            Ok(())
        });
        if let Err(error) = tidied.await {
            tracing::error!(%error, "a turn could not be tidied up");
        }
        if broken || run.is_cancelled() {
            run.end(turn);
        } else if let Err(more) = run.end_unless_queued(turn) {
            (run, turn) = more;
            continue;
        }
        tracing::info!(ended = ended.name(), "the turn has ended");
        return ended;
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

fn is_idle(notification: &Notification, id: &SessionId) -> bool {
    matches!(notification, Notification::Event(event) if matches!(&**event, Event::SessionIdle { session_id } if session_id == id))
}
