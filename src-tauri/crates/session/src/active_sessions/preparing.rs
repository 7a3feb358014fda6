//! What is done for a prompt before it is sent: commands that fill in its text, files that a
//! person is asked about. The session is not worked on yet, and can be stopped all the same.

use std::collections::HashSet;

use lathe_protocol::{SessionId, SessionStatus};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::ActiveSessions;

#[derive(Default)]
pub struct Preparations(Mutex<Vec<One>>);

struct One {
    session: SessionId,
    cancel: CancellationToken,
    /// The session is shown as busy meanwhile.
    shown: bool,
    number: u64,
}

impl Preparations {
    pub fn is_shown(&self, session: &SessionId) -> bool {
        let all = self.0.lock();
        all.iter().any(|one| one.shown && one.session == *session)
    }

    pub fn shown(&self) -> Vec<SessionId> {
        let all = self.0.lock();
        let shown = all.iter().filter(|one| one.shown);
        let ids: HashSet<_> = shown.map(|one| one.session.clone()).collect();
        ids.into_iter().collect()
    }
}

/// Work for a prompt, until this value is dropped.
pub struct Preparation<'a> {
    active: &'a ActiveSessions,
    session: SessionId,
    number: u64,
    pub cancel: CancellationToken,
}

impl Drop for Preparation<'_> {
    fn drop(&mut self) {
        self.active.end_preparation(&self.session, self.number);
    }
}

impl ActiveSessions {
    pub fn prepare(&self, session: &SessionId) -> Preparation<'_> {
        self.begin_preparation(session, false)
    }

    /// The same for work that takes long enough to be shown.
    pub fn prepare_shown(&self, session: &SessionId) -> Preparation<'_> {
        self.begin_preparation(session, true)
    }

    /// Stops what is done for prompts of this session.
    pub fn stop_preparing(&self, session: &SessionId) {
        let all = self.preparations.0.lock();
        for one in all.iter().filter(|one| one.session == *session) {
            one.cancel.cancel();
        }
    }

    fn begin_preparation(&self, session: &SessionId, shown: bool) -> Preparation<'_> {
        // Under the lock of the sessions, as every status: what is published last is true.
        let sessions = self.sessions.lock();
        let cancel = CancellationToken::new();
        let mut all = self.preparations.0.lock();
        let number = all.iter().map(|one| one.number + 1).max().unwrap_or(0);
        all.push(One {
            session: session.clone(),
            cancel: cancel.clone(),
            shown,
            number,
        });
        if shown && !sessions.contains_key(session) {
            self.publish_status(session, SessionStatus::Busy);
        }
        Preparation {
            active: self,
            session: session.clone(),
            number,
            cancel,
        }
    }

    fn end_preparation(&self, session: &SessionId, number: u64) {
        let sessions = self.sessions.lock();
        let mut all = self.preparations.0.lock();
        let Some(at) = all.iter().position(|one| one.number == number) else {
            return;
        };
        let shown = all.swap_remove(at).shown;
        let others = all.iter().any(|one| one.shown && one.session == *session);
        if shown && !others && !sessions.contains_key(session) {
            self.publish_status(session, SessionStatus::Idle);
        }
    }
}
