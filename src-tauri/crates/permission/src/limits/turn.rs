//! What a turn that runs has used, with its tasks.

use std::sync::Arc;

use lathe_protocol::Millis;
use lathe_records::Records;
use parking_lot::{Mutex, MutexGuard};

/// Shared by the turn and its tasks.
pub struct RunningTurn {
    used: Mutex<TurnUse>,
    /// Held while the person is asked whether to continue: tasks side by side reach a limit
    /// together, and one answer is for all of them.
    pub asking: tokio::sync::Mutex<()>,
}

impl RunningTurn {
    pub(super) fn starting_at(now: Millis) -> Self {
        RunningTurn {
            used: Mutex::new(TurnUse::starting_at(now)),
            asking: tokio::sync::Mutex::default(),
        }
    }

    pub fn used(&self) -> MutexGuard<'_, TurnUse> {
        self.used.lock()
    }
}

/// What one turn has used with its tasks, and what the person allowed beyond the limits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnUse {
    started: Millis,
    pub steps: u32,
    pub more_steps: u32,
    pub more_minutes: u32,
    /// How long the person was asked, up to the last answer.
    waited_millis: i64,
    /// The questions that are open now, and since when there are any.
    questions: u32,
    open_since: Millis,
}

impl TurnUse {
    fn starting_at(now: Millis) -> Self {
        TurnUse {
            started: now,
            steps: 0,
            more_steps: 0,
            more_minutes: 0,
            waited_millis: 0,
            questions: 0,
            open_since: now,
        }
    }

    /// Without the time in which a question was open, also where other tasks went on meanwhile.
    pub(super) fn worked_millis(&self, now: Millis) -> i64 {
        (now.0 - self.started.0 - self.waited_millis - self.open_millis(now)).max(0)
    }

    fn open_millis(&self, now: Millis) -> i64 {
        match self.questions {
            0 => 0,
            _ => (now.0 - self.open_since.0).max(0),
        }
    }
}

/// The person is being asked until this is dropped: it does not count as time of the turn.
pub struct WaitForPerson {
    turn: Arc<RunningTurn>,
    records: Records,
}

impl WaitForPerson {
    pub fn begin(turn: &Arc<RunningTurn>, records: &Records) -> Self {
        let mut used = turn.used();
        if used.questions == 0 {
            used.open_since = records.now();
        }
        used.questions += 1;
        drop(used);
        WaitForPerson {
            turn: turn.clone(),
            records: records.clone(),
        }
    }
}

impl Drop for WaitForPerson {
    fn drop(&mut self) {
        let mut used = self.turn.used();
        if used.questions == 1 {
            used.waited_millis += used.open_millis(self.records.now());
        }
        used.questions -= 1;
    }
}
