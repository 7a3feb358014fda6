//! Limits that the person sets: where a turn pauses and asks whether to continue.
//!
//! Money is counted for a session with all its tasks, and for a day over all sessions and
//! processes. Continuing allows the same amount once more.

mod ledger;
mod turn;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Weak};

use lathe_protocol::ipc::Limits;
use lathe_protocol::{Map, Message, Millis, SessionId};
use lathe_records::{Records, Result};
use parking_lot::Mutex;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

use ledger::Ledger;
pub use turn::{RunningTurn, TurnUse, WaitForPerson};

pub struct SpendingLimits {
    limits: Mutex<Limits>,
    ledger: Ledger,
    raised: Mutex<Raised>,
    /// What sessions with their tasks have cost, by the session that a person started. Read from
    /// the store at the first check of a turn.
    spent: Mutex<HashMap<SessionId, Decimal>>,
    /// What the running turns have used, by the same session.
    turns: Mutex<HashMap<SessionId, Weak<RunningTurn>>>,
}

/// What the person allowed beyond the limits.
#[derive(Default)]
struct Raised {
    sessions: HashMap<SessionId, Decimal>,
    /// The day, and how much more may be spent on it.
    day: Option<(String, Decimal)>,
}

/// A limit that is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    pub kind: LimitKind,
    /// What the person set.
    pub limit: f64,
    pub used: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    SessionCost,
    DayCost,
    TurnSteps,
    TurnMinutes,
}

impl LimitKind {
    pub fn name(self) -> &'static str {
        match self {
            LimitKind::SessionCost => "session_cost",
            LimitKind::DayCost => "day_cost",
            LimitKind::TurnSteps => "turn_steps",
            LimitKind::TurnMinutes => "turn_minutes",
        }
    }
}

impl Reached {
    /// For the dialog.
    pub fn metadata(&self) -> Map {
        Map::from_iter([
            ("limit".to_owned(), self.kind.name().into()),
            ("value".to_owned(), self.limit.into()),
            ("used".to_owned(), self.used.into()),
        ])
    }
}

impl SpendingLimits {
    pub fn new(data_dir: &Path) -> Self {
        SpendingLimits {
            limits: Mutex::default(),
            ledger: Ledger::new(data_dir),
            raised: Mutex::default(),
            spent: Mutex::default(),
            turns: Mutex::default(),
        }
    }

    /// What a turn that starts now counts in. A task joins the turn that it works for, or else
    /// handing work on would be a way around the limits.
    pub fn turn(&self, root: &SessionId, joins: bool, now: Millis) -> Arc<RunningTurn> {
        let mut turns = self.turns.lock();
        let running = turns.get(root).and_then(Weak::upgrade);
        if let (true, Some(running)) = (joins, running) {
            return running;
        }
        let own = Arc::new(RunningTurn::starting_at(now));
        if !joins {
            turns.retain(|_, turn| turn.strong_count() > 0);
            turns.insert(root.clone(), Arc::downgrade(&own));
        }
        own
    }

    pub fn set(&self, limits: Limits) {
        *self.limits.lock() = limits;
    }

    /// Notes the cost of an answer.
    pub fn add(&self, root: &SessionId, cost: f64, now: Millis) {
        if let Some(cost) = dollars(cost).filter(|cost| !cost.is_zero()) {
            self.ledger.add(cost, now);
            if let Some(spent) = self.spent.lock().get_mut(root) {
                *spent = spent.saturating_add(cost);
            }
        }
    }

    /// The first limit that is reached before the next step of a turn. `root` is the session
    /// that a person started, whose tasks count with it.
    pub async fn reached(
        &self,
        records: &Records,
        root: &SessionId,
        turn: TurnUse,
    ) -> Result<Option<Reached>> {
        let limits = self.limits.lock().clone();
        let now = records.now();
        if let Some(limit) = limits.turn_steps
            && turn.steps >= limit.saturating_add(turn.more_steps)
        {
            return Ok(Some(reached(LimitKind::TurnSteps, limit, turn.steps)));
        }
        if let Some(limit) = limits.turn_minutes {
            let minutes = turn.worked_millis(now) / 60_000;
            let minutes = u32::try_from(minutes).unwrap_or(u32::MAX);
            if minutes >= limit.saturating_add(turn.more_minutes) {
                return Ok(Some(reached(LimitKind::TurnMinutes, limit, minutes)));
            }
        }
        if let Some(limit) = limits.day_cost.and_then(dollars) {
            let (day, spent) = (ledger::day(now), self.ledger.spent(now));
            let more = self.raised.lock().day.clone();
            let more = more.filter(|(raised, _)| *raised == day);
            let more = more.map_or(Decimal::ZERO, |(_, more)| more);
            if spent >= limit.saturating_add(more) {
                return Ok(Some(money(LimitKind::DayCost, limit, spent)));
            }
        }
        if let Some(limit) = limits.session_cost.and_then(dollars) {
            let spent = self.session_cost(records, root).await?;
            let more = self.raised.lock().sessions.get(root).copied();
            if spent >= limit.saturating_add(more.unwrap_or_default()) {
                return Ok(Some(money(LimitKind::SessionCost, limit, spent)));
            }
        }
        Ok(None)
    }

    /// For the start of a turn: another process may have worked on the session.
    pub fn forget_session(&self, root: &SessionId) {
        self.spent.lock().remove(root);
    }

    async fn session_cost(&self, records: &Records, root: &SessionId) -> Result<Decimal> {
        let known = self.spent.lock().get(root).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let read = read_session_cost(records, root).await?;
        self.spent.lock().insert(root.clone(), read);
        Ok(read)
    }

    /// The person said to continue: the same amount once more, from what is used now.
    pub fn raise(&self, reached: &Reached, root: &SessionId, turn: &mut TurnUse, now: Millis) {
        // From what is used and not from the limit: it may have been set far below that.
        let more = dollars(reached.used).unwrap_or_default();
        match reached.kind {
            LimitKind::TurnSteps => turn.more_steps = turn.steps,
            LimitKind::TurnMinutes => {
                turn.more_minutes = reached.used.to_u32().unwrap_or(u32::MAX);
            }
            LimitKind::SessionCost => {
                self.raised.lock().sessions.insert(root.clone(), more);
            }
            LimitKind::DayCost => self.raised.lock().day = Some((ledger::day(now), more)),
        }
    }
}

fn reached(kind: LimitKind, limit: u32, used: u32) -> Reached {
    Reached {
        kind,
        limit: limit.into(),
        used: used.into(),
    }
}

fn money(kind: LimitKind, limit: Decimal, used: Decimal) -> Reached {
    Reached {
        kind,
        limit: limit.to_f64().unwrap_or_default(),
        used: used.to_f64().unwrap_or_default(),
    }
}

/// None for what is no amount: not a number, infinite or negative.
fn dollars(amount: f64) -> Option<Decimal> {
    Decimal::from_f64(amount).filter(|amount| !amount.is_sign_negative())
}

/// The cost of a session and of all tasks below it.
async fn read_session_cost(records: &Records, root: &SessionId) -> Result<Decimal> {
    let mut total = Decimal::ZERO;
    let all = records.store().all_sessions().await?.items;
    let mut open = vec![root.clone()];
    while let Some(id) = open.pop() {
        for message in records.store().message_infos(&id, |_| true).await? {
            if let Message::Assistant(answer) = message {
                total = total.saturating_add(dollars(answer.cost).unwrap_or_default());
            }
        }
        let children = all.iter().filter(|one| one.parent_id.as_ref() == Some(&id));
        open.extend(children.map(|child| child.id.clone()));
    }
    Ok(total)
}
