//! The sessions that this process works on: their status, their queue and how to stop them.
//!
//! One lock guards them all. Status and queue are published under it, so that subscribers see
//! changes in the order in which they happened.

mod preparing;
mod queue;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{Event, MessageId, SessionId, SessionStatus};
use lathe_records::Records;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::turn::BeforePoll;
use preparing::Preparations;
use queue::Queue;

/// A session that is being worked on in this process.
pub struct ActiveSession {
    cancel: CancellationToken,
    /// The session that started this one as a task, and its agent.
    parent: Option<(SessionId, String)>,
    queue: Queue,
    status: SessionStatus,
    /// The prompt that is a command which the person runs themselves. It is not stored: what is
    /// found on the disk has no such right.
    own_command: Option<MessageId>,
    /// Wakes a turn that waits to try again.
    retry_now: Arc<Notify>,
    /// Ends the work at its next await, for work that does not follow `cancel`.
    task: Option<AbortHandle>,
}

impl ActiveSession {
    /// A session that works on a person's prompt.
    pub fn for_person() -> Self {
        ActiveSession::new(CancellationToken::new(), None)
    }

    pub fn new(cancel: CancellationToken, parent: Option<(SessionId, String)>) -> Self {
        ActiveSession {
            cancel,
            parent,
            queue: Queue::default(),
            status: SessionStatus::Busy,
            own_command: None,
            retry_now: Arc::default(),
            task: None,
        }
    }

    /// A session that runs a command of the person, the prompt that is named.
    pub fn for_own_command(prompt: MessageId) -> Self {
        ActiveSession {
            own_command: Some(prompt),
            ..ActiveSession::for_person()
        }
    }
}

type Lock = Arc<tokio::sync::Mutex<()>>;

pub struct ActiveSessions {
    /// Set by tests only.
    pub before_poll: Option<BeforePoll>,
    records: Records,
    sessions: Mutex<HashMap<SessionId, ActiveSession>>,
    preparations: Preparations,
    locks: Mutex<HashMap<(SessionId, Guarded), Lock>>,
}

/// What one caller at a time does with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Guarded {
    /// Prompts and reverts, so that ids, files and queue have one order.
    Prompt,
    /// Taking a prompt from a person, from its files on.
    Sending,
    /// Changing the queue together with what is stored of it.
    Queue,
}

impl ActiveSessions {
    pub fn new(records: Records, before_poll: Option<BeforePoll>) -> Self {
        ActiveSessions {
            before_poll,
            records,
            sessions: Mutex::default(),
            preparations: Preparations::default(),
            locks: Mutex::default(),
        }
    }

    /// Waits until no other caller prompts the session or reverts something of it.
    pub async fn lock_prompt(&self, id: &SessionId) -> OwnedMutexGuard<()> {
        self.lock_of(id, Guarded::Prompt).lock_owned().await
    }

    /// Waits until the prompts that a person sent before are taken. Before [`Self::lock_prompt`].
    pub async fn lock_sending(&self, id: &SessionId) -> OwnedMutexGuard<()> {
        self.lock_of(id, Guarded::Sending).lock_owned().await
    }

    /// Waits until what is stored of the session's queue agrees with it. Held for a write only.
    pub async fn lock_queue(&self, id: &SessionId) -> OwnedMutexGuard<()> {
        self.lock_of(id, Guarded::Queue).lock_owned().await
    }

    /// `None` if another caller holds the lock.
    pub fn try_lock_prompt(&self, id: &SessionId) -> Option<OwnedMutexGuard<()>> {
        self.lock_of(id, Guarded::Prompt).try_lock_owned().ok()
    }

    fn lock_of(&self, id: &SessionId, what: Guarded) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.locks.lock();
        // Those that are neither held nor waited for.
        all.retain(|_, lock| Arc::strong_count(lock) > 1);
        all.entry((id.clone(), what)).or_default().clone()
    }

    /// Whether this prompt is a command that the person runs themselves, now.
    pub fn is_own_command(&self, id: &SessionId, prompt: &MessageId) -> bool {
        let sessions = self.sessions.lock();
        let own = sessions.get(id).and_then(|one| one.own_command.as_ref());
        own == Some(prompt)
    }

    /// True for the one caller that may start a turn.
    pub fn claim(&self, id: &SessionId, new: ActiveSession) -> bool {
        let mut sessions = self.sessions.lock();
        if sessions.contains_key(id) {
            return false;
        }
        sessions.insert(id.clone(), new);
        true
    }

    /// Starts the task that does the work of a claimed session.
    pub fn spawn<T: Send + 'static>(
        &self,
        id: &SessionId,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        // Under the lock: the work may end at once, and another begin.
        let mut sessions = self.sessions.lock();
        let task = tokio::spawn(work);
        if let Some(one) = sessions.get_mut(id) {
            one.task = Some(task.abort_handle());
        }
        task
    }

    /// Drops the work of a session that does not follow its cancel token.
    pub fn drop_work(&self, id: &SessionId) {
        if let Some(task) = self
            .sessions
            .lock()
            .get(id)
            .and_then(|one| one.task.as_ref())
        {
            task.abort();
        }
    }

    pub fn contains(&self, id: &SessionId) -> bool {
        self.sessions.lock().contains_key(id)
    }

    pub fn ids(&self) -> Vec<SessionId> {
        self.sessions.lock().keys().cloned().collect()
    }

    /// The token that stops the session's turn.
    pub fn cancel_token(&self, id: &SessionId) -> Option<CancellationToken> {
        self.sessions.lock().get(id).map(|one| one.cancel.clone())
    }

    /// Whether its turn was stopped and has not ended yet.
    pub fn is_stopping(&self, id: &SessionId) -> bool {
        let sessions = self.sessions.lock();
        sessions
            .get(id)
            .is_some_and(|one| one.cancel.is_cancelled())
    }

    /// The session that started this one as a task.
    pub fn parent(&self, id: &SessionId) -> Option<SessionId> {
        let sessions = self.sessions.lock();
        let (parent, _) = sessions.get(id)?.parent.as_ref()?;
        Some(parent.clone())
    }

    /// The agent that started this session as a task.
    pub fn handed_on_by(&self, id: &SessionId) -> Option<String> {
        let sessions = self.sessions.lock();
        let (_, agent) = sessions.get(id)?.parent.as_ref()?;
        Some(agent.clone())
    }

    pub fn status(&self, id: &SessionId) -> SessionStatus {
        let sessions = self.sessions.lock();
        let one = sessions.get(id);
        one.map_or(SessionStatus::Idle, |one| one.status.clone())
    }

    /// The status of every session that is not idle, or that is shown as busy because a prompt is
    /// prepared for it.
    pub fn statuses(&self) -> Vec<(SessionId, SessionStatus)> {
        let sessions = self.sessions.lock();
        let status = |(id, one): (&SessionId, &ActiveSession)| (id.clone(), one.status.clone());
        let prepared = self.preparations.shown().into_iter();
        let prepared = prepared.filter(|id| !sessions.contains_key(id));
        let prepared = prepared.map(|id| (id, SessionStatus::Busy));
        sessions.iter().map(status).chain(prepared).collect()
    }

    pub fn set_status(&self, id: &SessionId, status: SessionStatus) {
        let mut sessions = self.sessions.lock();
        if let Some(one) = sessions.get_mut(id) {
            one.status = status.clone();
        }
        self.publish_status(id, status);
    }

    /// Ends the session's work, or returns the turn if prompts wait. The turn is dropped first,
    /// which releases the session's files.
    ///
    /// The check and the end share one lock: a prompt either joins this turn or finds none
    /// running. "Idle" never comes after the next turn's "busy".
    pub fn end_unless_queued<T>(&self, id: &SessionId, turn: T) -> Result<(), T> {
        let mut sessions = self.sessions.lock();
        if sessions.get(id).is_some_and(|one| !one.queue.is_empty()) {
            return Err(turn);
        }
        drop(turn);
        sessions.remove(id);
        self.publish_status(id, SessionStatus::Idle);
        self.records.publish(Event::SessionIdle {
            session_id: id.clone(),
        });
        if self.preparations.is_shown(id) {
            self.publish_status(id, SessionStatus::Busy);
        }
        Ok(())
    }

    fn publish_status(&self, id: &SessionId, status: SessionStatus) {
        let session_id = id.clone();
        self.records
            .publish(Event::SessionStatus { session_id, status });
    }

    /// Ends the pause before the next try.
    pub fn retry_now(&self, id: &SessionId) {
        if let Some(one) = self.sessions.lock().get(id) {
            one.retry_now.notify_waiters();
        }
    }

    /// False when the turn was stopped while it waited.
    pub async fn wait_for_retry(
        &self,
        id: &SessionId,
        wait: Duration,
        cancel: &CancellationToken,
    ) -> bool {
        let now = self
            .sessions
            .lock()
            .get(id)
            .map(|one| one.retry_now.clone());
        let now = now.unwrap_or_default();
        tokio::select! {
            () = cancel.cancelled() => false,
            () = self.records.clock().sleep(wait) => true,
            () = now.notified() => true,
        }
    }
}
