//! Publishes what happened to every subscriber, in order and without gaps.
//!
//! Every notification about a session carries the session's next sequence number. The channel
//! is bounded: a subscriber that falls behind gets [`BusItem::Missed`] and takes a fresh
//! snapshot. Streaming text is published as [`Delta`]s that say where they belong, so a
//! snapshot taken in between neither loses nor doubles a character.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lathe_protocol::{Event, MessageError, MessageId, PartId, SessionId, SessionStatus};
use parking_lot::Mutex;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

const CAPACITY: usize = 8192;

#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    Event(Arc<Event>),
    Delta(Arc<Delta>),
    /// The prompts that wait for a session's next step, oldest first.
    Queue(Arc<QueuedPrompts>),
    Review(Arc<ReviewNews>),
}

/// What a window that shows a review wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewNews {
    /// Marks, comments or actions to undo, of these files.
    Changed {
        session_id: SessionId,
        files: Vec<String>,
    },
    /// A file was changed by something outside.
    Outside { session_id: SessionId, path: String },
}

impl ReviewNews {
    pub fn session_id(&self) -> &SessionId {
        match self {
            ReviewNews::Changed { session_id, .. } | ReviewNews::Outside { session_id, .. } => {
                session_id
            }
        }
    }
}

/// The whole queue of a session; an empty list when nothing waits any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPrompts {
    pub session_id: SessionId,
    pub messages: Vec<MessageId>,
}

/// Text appended to a part at byte `at` of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    pub session_id: SessionId,
    pub message_id: MessageId,
    pub part_id: PartId,
    pub at: usize,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NumberedNotification {
    /// Counts the notifications about a session, from 1; 0 for those about no session.
    pub seq: u64,
    pub notification: Notification,
}

impl NumberedNotification {
    pub fn session_id(&self) -> Option<&SessionId> {
        match &self.notification {
            Notification::Event(event) => event.session_id(),
            Notification::Delta(delta) => Some(&delta.session_id),
            Notification::Queue(queue) => Some(&queue.session_id),
            Notification::Review(news) => Some(news.session_id()),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum BusItem {
    Notification(NumberedNotification),
    /// Notifications were dropped; only a fresh snapshot has what they said.
    Missed,
}

#[derive(Clone)]
pub struct Bus {
    channel: broadcast::Sender<NumberedNotification>,
    sequences: Arc<Mutex<HashMap<SessionId, u64>>>,
    session_changes: Arc<AtomicU64>,
    failed: Arc<Mutex<HashSet<SessionId>>>,
}

impl Default for Bus {
    fn default() -> Self {
        Bus {
            channel: broadcast::Sender::new(CAPACITY),
            sequences: Arc::default(),
            session_changes: Arc::default(),
            failed: Arc::default(),
        }
    }
}

impl Bus {
    pub fn publish(&self, event: Event) {
        self.send(Notification::Event(Arc::new(event)));
    }

    pub fn publish_delta(&self, delta: Delta) {
        self.send(Notification::Delta(Arc::new(delta)));
    }

    pub fn publish_queue(&self, queue: QueuedPrompts) {
        self.send(Notification::Queue(Arc::new(queue)));
    }

    pub fn publish_review(&self, news: ReviewNews) {
        self.send(Notification::Review(Arc::new(news)));
    }

    pub fn subscribe(&self) -> Subscription {
        Subscription {
            channel: self.channel.subscribe(),
        }
    }

    /// The last number given out for a session: a snapshot taken after this call is at least
    /// as new.
    pub fn sequence(&self, session: &SessionId) -> u64 {
        self.sequences.lock().get(session).copied().unwrap_or(0)
    }

    /// Counts how often a session was created, changed or removed.
    pub fn session_changes(&self) -> u64 {
        self.session_changes.load(Ordering::Acquire)
    }

    /// The sessions whose last turn failed, for a subscriber that missed it.
    pub fn failed(&self) -> Vec<SessionId> {
        self.failed.lock().iter().cloned().collect()
    }

    fn note_failure(&self, event: &Event) {
        match event {
            Event::SessionError {
                session_id: Some(id),
                error: Some(error),
            } if ends_a_turn(error) => {
                self.failed.lock().insert(id.clone());
            }
            Event::SessionStatus {
                session_id,
                status: SessionStatus::Busy,
            } => {
                self.failed.lock().remove(session_id);
            }
            Event::SessionDeleted { info } => {
                self.failed.lock().remove(&info.id);
            }
            _ => {}
        }
    }

    fn send(&self, notification: Notification) {
        if let Notification::Event(event) = &notification {
            self.note_failure(event);
        }
        if let Notification::Event(event) = &notification
            && let Event::SessionCreated { .. }
            | Event::SessionUpdated { .. }
            | Event::SessionDeleted { .. } = &**event
        {
            self.session_changes.fetch_add(1, Ordering::AcqRel);
        }
        let mut numbered = NumberedNotification {
            seq: 0,
            notification,
        };
        // Numbered and sent under one lock, so that order and numbers agree.
        let mut sequences = self.sequences.lock();
        if let Some(session) = numbered.session_id() {
            let seq = sequences.entry(session.clone()).or_insert(0);
            *seq += 1;
            numbered.seq = *seq;
        }
        let removed = match &numbered.notification {
            Notification::Event(event) => match &**event {
                Event::SessionDeleted { info } => Some(info.id.clone()),
                _ => None,
            },
            _ => None,
        };
        // Having no subscriber is not an error.
        let _ = self.channel.send(numbered);
        if let Some(id) = removed {
            sequences.remove(&id);
        }
    }
}

/// Not if the turn goes on all the same, nor if a person ended it.
fn ends_a_turn(error: &MessageError) -> bool {
    !error.is_warning() && !matches!(error, MessageError::Aborted(_))
}

pub struct Subscription {
    channel: broadcast::Receiver<NumberedNotification>,
}

impl Subscription {
    /// Waits for the next item; `None` when the program is closing.
    pub async fn next(&mut self) -> Option<BusItem> {
        match self.channel.recv().await {
            Ok(numbered) => Some(BusItem::Notification(numbered)),
            Err(RecvError::Lagged(_)) => Some(BusItem::Missed),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next item if one is already there.
    pub fn try_next(&mut self) -> Option<BusItem> {
        match self.channel.try_recv() {
            Ok(numbered) => Some(BusItem::Notification(numbered)),
            Err(TryRecvError::Lagged(_)) => Some(BusItem::Missed),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lathe_protocol::{IdSource, Millis, Tick};

    fn idle(session: &SessionId) -> Event {
        Event::SessionIdle {
            session_id: session.clone(),
        }
    }

    fn ids() -> (SessionId, SessionId) {
        let ids = IdSource::new(Tick::default());
        (ids.session(Millis(1)), ids.session(Millis(2)))
    }

    #[tokio::test]
    async fn sequence_numbers_are_counted_per_session() {
        let bus = Bus::default();
        let mut items = bus.subscribe();
        let (a, b) = ids();
        bus.publish(idle(&a));
        bus.publish(idle(&b));
        bus.publish(idle(&a));
        bus.publish(Event::FileEdited { file: "x".into() });
        let mut seqs = Vec::new();
        while let Some(BusItem::Notification(numbered)) = items.try_next() {
            seqs.push(numbered.seq);
        }
        assert_eq!(seqs, [1, 1, 2, 0]);
        assert_eq!((bus.sequence(&a), bus.sequence(&b)), (2, 1));
    }

    #[tokio::test]
    async fn a_slow_subscriber_learns_that_it_missed_something() {
        let bus = Bus::default();
        let mut slow = bus.subscribe();
        let (a, _) = ids();
        for _ in 0..CAPACITY + 10 {
            bus.publish(idle(&a));
        }
        assert_eq!(slow.next().await, Some(BusItem::Missed));
        let Some(BusItem::Notification(next)) = slow.next().await else {
            panic!("nothing after the gap")
        };
        assert_eq!(next.seq, 11);
    }

    #[test]
    fn a_session_has_failed_until_it_works_again() {
        let bus = Bus::default();
        let (a, b) = ids();
        let fail = |session_id: &SessionId, error| Event::SessionError {
            session_id: Some(session_id.clone()),
            error: Some(error),
        };
        bus.publish(fail(&a, MessageError::unknown("no")));
        bus.publish(fail(&b, MessageError::aborted("stopped")));
        bus.publish(fail(&b, MessageError::no_snapshot("no room")));
        assert_eq!(bus.failed(), std::slice::from_ref(&a));
        bus.publish(idle(&a));
        assert_eq!(bus.failed(), std::slice::from_ref(&a));
        bus.publish(Event::SessionStatus {
            session_id: a,
            status: SessionStatus::Busy,
        });
        assert_eq!(bus.failed(), []);
    }

    #[tokio::test]
    async fn sequence_numbers_have_no_gaps_when_many_publish_at_once() {
        let bus = Bus::default();
        let mut items = bus.subscribe();
        let (a, _) = ids();
        let publishers: Vec<_> = (0..8)
            .map(|_| {
                let (bus, a) = (bus.clone(), a.clone());
                tokio::task::spawn_blocking(move || (0..500).for_each(|_| bus.publish(idle(&a))))
            })
            .collect();
        for publisher in publishers {
            publisher.await.unwrap();
        }
        for expected in 1..=4000 {
            let Some(BusItem::Notification(numbered)) = items.next().await else {
                panic!("gap")
            };
            assert_eq!(numbered.seq, expected);
        }
    }
}
