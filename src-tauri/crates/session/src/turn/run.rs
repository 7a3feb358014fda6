//! A run: the work on a session, from its claim until it is idle.
//!
//! A run ends once, and it always ends: by a turn that is done, by an error, by a panic, or
//! because its task was dropped. However it ends, its calls and messages are settled first, so
//! that no session stays busy with work that does not exist any more.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use lathe_protocol::{Event, MessageError, SessionId};
use lathe_records::{Failed, Result};

use super::recovery;
use crate::active_sessions::ActiveSession;
use crate::core::Core;

/// A disk that does not answer must not keep the session busy.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);

const DROPPED: &str = "The turn ended early. What it did until then is shown above.";

/// Called before a turn's work is continued, so that tests can make it fail at any await.
pub type BeforePoll = Arc<dyn Fn(&SessionId) + Send + Sync>;

pub struct Run {
    core: Arc<Core>,
    id: SessionId,
    has_ended: bool,
}

impl Run {
    /// `None` if the session is being worked on.
    pub fn claim(core: &Arc<Core>, id: &SessionId, active: ActiveSession) -> Option<Self> {
        core.active.claim(id, active).then(|| Run {
            core: core.clone(),
            id: id.clone(),
            has_ended: false,
        })
    }

    pub fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Does a piece of the work. A panic in it becomes an error.
    pub async fn attempt<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let work = Observed {
            id: &self.id,
            before_poll: self.core.active.before_poll.clone(),
            work: std::pin::pin!(work),
        };
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(result) => result,
            Err(panic) => Err(Failed::refused(panic_text(&*panic))),
        }
    }

    /// Ends the run if no prompt waits for it; otherwise returns it with its turn.
    pub fn end_unless_queued<T>(mut self, turn: T) -> Result<(), (Self, T)> {
        match self.core.active.end_unless_queued(&self.id, turn) {
            Ok(()) => {
                self.has_ended = true;
                Ok(())
            }
            Err(turn) => Err((self, turn)),
        }
    }

    /// Ends a run that takes no more prompts.
    pub fn end(mut self, turn: impl Send) {
        end(&self.core, &self.id, turn);
        self.has_ended = true;
    }

    pub fn is_cancelled(&self) -> bool {
        let cancel = self.core.active.cancel_token(&self.id);
        cancel.is_none_or(|cancel| cancel.is_cancelled())
    }

    /// Stops what the failed work started, settles its calls and messages, and says why.
    ///
    /// The caller holds the session's lock for writing.
    pub async fn settle(&self, why: &str) {
        settle(&self.core, &self.id, why).await;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let (core, id) = (self.core.clone(), self.id.clone());
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(settle_and_end(core, id));
            }
            Err(_) => {
                core.active.clear_queue(&id);
                // It was emptied, and a prompt that came since has no runtime to run on.
                let _ = core.active.end_unless_queued(&id, ());
            }
        }
    }
}

/// For a run whose task is gone, and with it the lock.
async fn settle_and_end(core: Arc<Core>, id: SessionId) {
    // Released after the session is idle; another process that holds it settles the session.
    let writer = core.records.store().lock_session(&id).await.ok();
    if writer.is_some() {
        settle(&core, &id, DROPPED).await;
    }
    end(&core, &id, writer);
}

/// Prompts that waited stay as they are recorded, as not sent: they must not go out with a later
/// prompt.
fn end(core: &Core, id: &SessionId, mut turn: impl Send) {
    loop {
        core.active.clear_queue(id);
        match core.active.end_unless_queued(id, turn) {
            Ok(()) => return,
            Err(same) => turn = same,
        }
    }
}

async fn settle(core: &Core, id: &SessionId, why: &str) {
    tracing::error!(session = %id, %why, "a turn failed");
    if let Some(cancel) = core.active.cancel_token(id) {
        cancel.cancel();
    }
    let error = MessageError::unknown(why);
    let records = &core.records;
    let settled = async {
        // A write of the failed work may still be under way.
        records.store().settled().await;
        recovery::settle_failed(core, id, &error).await?;
        Ok::<_, Failed>(records.store().barrier(id).await?)
    };
    let settled = AssertUnwindSafe(tokio::time::timeout(SETTLE_LIMIT, settled));
    match settled.catch_unwind().await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => tracing::error!(%error, "a failed turn could not be settled"),
        Ok(Err(_)) => tracing::error!("settling a failed turn took too long"),
        Err(panic) => tracing::error!(why = panic_text(&*panic), "settling a failed turn failed"),
    }
    records.publish(Event::SessionError {
        session_id: Some(id.clone()),
        error: Some(error),
    });
}

/// What a person can make use of: the message of the panic, without a backtrace.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("Internal error, see the log: {message}")
}

/// Work whose every continuation is announced.
struct Observed<'a, F> {
    id: &'a SessionId,
    before_poll: Option<BeforePoll>,
    work: Pin<&'a mut F>,
}

impl<F: Future> Future for Observed<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if let Some(announce) = &self.before_poll {
            announce(self.id);
        }
        self.work.as_mut().poll(context)
    }
}
