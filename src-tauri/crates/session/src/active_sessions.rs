//! The sessions that this process works on: their status, their queue and how to stop them.
//!
//! One lock guards them all. Status and queue are published under it, so that subscribers see
//! changes in the order in which they happened.

mod queue;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{Event, SessionId, SessionStatus};
use lathe_records::Records;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use queue::Queue;

/// A session that is being worked on in this process.
pub struct ActiveSession {
    cancel: CancellationToken,
    /// The session that started this one as a task.
    parent: Option<SessionId>,
    queue: Queue,
    status: SessionStatus,
    /// Wakes a turn that waits to try again.
    retry_now: Arc<Notify>,
}

impl ActiveSession {
    /// A session that works on a person's prompt.
    pub fn for_person() -> Self {
        ActiveSession::new(CancellationToken::new(), None)
    }

    pub fn new(cancel: CancellationToken, parent: Option<SessionId>) -> Self {
        ActiveSession {
            cancel,
            parent,
            queue: Queue::default(),
            status: SessionStatus::Busy,
            retry_now: Arc::default(),
        }
    }
}

pub struct ActiveSessions {
    records: Records,
    sessions: Mutex<HashMap<SessionId, ActiveSession>>,
    /// One prompt at a time per session, so that ids, files and queue have one order.
    prompting: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
}

impl ActiveSessions {
    pub fn new(records: Records) -> Self {
        ActiveSessions {
            records,
            sessions: Mutex::default(),
            prompting: Mutex::default(),
        }
    }

    /// Waits until no other caller prompts the session or reverts something of it.
    pub async fn lock_prompt(&self, id: &SessionId) -> OwnedMutexGuard<()> {
        self.prompt_lock(id).lock_owned().await
    }

    /// `None` if another caller holds the lock.
    pub fn try_lock_prompt(&self, id: &SessionId) -> Option<OwnedMutexGuard<()>> {
        self.prompt_lock(id).try_lock_owned().ok()
    }

    fn prompt_lock(&self, id: &SessionId) -> Arc<tokio::sync::Mutex<()>> {
        self.prompting.lock().entry(id.clone()).or_default().clone()
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

    /// The session that started this one as a task.
    pub fn parent(&self, id: &SessionId) -> Option<SessionId> {
        self.sessions.lock().get(id)?.parent.clone()
    }

    pub fn status(&self, id: &SessionId) -> SessionStatus {
        let sessions = self.sessions.lock();
        let one = sessions.get(id);
        one.map_or(SessionStatus::Idle, |one| one.status.clone())
    }

    /// The status of every session that is not idle.
    pub fn statuses(&self) -> Vec<(SessionId, SessionStatus)> {
        let sessions = self.sessions.lock();
        let status = |(id, one): (&SessionId, &ActiveSession)| (id.clone(), one.status.clone());
        sessions.iter().map(status).collect()
    }

    pub fn set_status(&self, id: &SessionId, status: SessionStatus) {
        let mut sessions = self.sessions.lock();
        if let Some(one) = sessions.get_mut(id) {
            one.status = status.clone();
        }
        self.publish_status(id, status);
    }

    /// Returns the turn if `go_on` is set and prompts wait for it. Otherwise drops it, which
    /// releases the session's files, and ends the session's work.
    ///
    /// The check and the end share one lock: a prompt either joins this turn or finds none
    /// running. "Idle" never comes after the next turn's "busy".
    pub fn end_unless_queued<T>(&self, id: &SessionId, go_on: bool, turn: T) -> Option<T> {
        let mut sessions = self.sessions.lock();
        let waits = |one: &ActiveSession| !one.cancel.is_cancelled() && !one.queue.is_empty();
        if go_on && sessions.get(id).is_some_and(waits) {
            return Some(turn);
        }
        drop(turn);
        if let Some(ended) = sessions.remove(id)
            && !ended.queue.is_empty()
        {
            // They stay in the session, but no step takes them any more.
            self.publish_queue(id, Vec::new());
        }
        self.publish_status(id, SessionStatus::Idle);
        self.records.publish(Event::SessionIdle {
            session_id: id.clone(),
        });
        None
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
