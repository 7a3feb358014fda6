//! Telling whoever listens what happened, in order and without gaps.
//!
//! Every notice about a session carries that session's next sequence number. The line is
//! bounded: a listener that falls behind hears [`Heard::Missed`] and takes a fresh snapshot
//! instead of a gap. Streaming text travels as [`Delta`]s that say where they belong, so a
//! snapshot taken in between neither loses nor doubles a character.

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::{Event, MessageId, PartId, SessionId};
use parking_lot::Mutex;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

const LINE_LENGTH: usize = 8192;

#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Event(Arc<Event>),
    Delta(Arc<Delta>),
    /// The prompts that wait for a session's next step, oldest first.
    Queue(Arc<Waiting>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
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
pub struct Notice {
    /// The place among its session's notices, from 1; 0 for those of no session.
    pub seq: u64,
    pub told: Told,
}

impl Notice {
    pub fn session_id(&self) -> Option<&SessionId> {
        match &self.told {
            Told::Event(event) => event.session_id(),
            Told::Delta(delta) => Some(&delta.session_id),
            Told::Queue(waiting) => Some(&waiting.session_id),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    Notice(Notice),
    /// Notices were dropped; only a fresh snapshot tells what they said.
    Missed,
}

#[derive(Clone)]
pub struct Bus {
    line: broadcast::Sender<Notice>,
    sequences: Arc<Mutex<HashMap<SessionId, u64>>>,
}

impl Default for Bus {
    fn default() -> Self {
        Bus {
            line: broadcast::Sender::new(LINE_LENGTH),
            sequences: Arc::default(),
        }
    }
}

impl Bus {
    pub fn publish(&self, event: Event) {
        self.tell(Told::Event(Arc::new(event)));
    }

    pub fn publish_delta(&self, delta: Delta) {
        self.tell(Told::Delta(Arc::new(delta)));
    }

    pub fn publish_queue(&self, waiting: Waiting) {
        self.tell(Told::Queue(Arc::new(waiting)));
    }

    pub fn subscribe(&self) -> Subscription {
        Subscription {
            line: self.line.subscribe(),
        }
    }

    /// The newest number given out for a session: what a snapshot is at least as new as.
    pub fn sequence(&self, session: &SessionId) -> u64 {
        self.sequences.lock().get(session).copied().unwrap_or(0)
    }

    fn tell(&self, told: Told) {
        let mut notice = Notice { seq: 0, told };
        // Numbered and sent under one lock, so that order and numbers agree.
        let mut sequences = self.sequences.lock();
        if let Some(session) = notice.session_id() {
            let seq = sequences.entry(session.clone()).or_insert(0);
            *seq += 1;
            notice.seq = *seq;
        }
        // Nobody listening is not an error.
        let _ = self.line.send(notice);
    }
}

pub struct Subscription {
    line: broadcast::Receiver<Notice>,
}

impl Subscription {
    /// `None` when the program is closing.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.line.recv().await {
            Ok(notice) => Some(Heard::Notice(notice)),
            Err(RecvError::Lagged(_)) => Some(Heard::Missed),
            Err(RecvError::Closed) => None,
        }
    }

    /// What is already there, without waiting.
    pub fn try_next(&mut self) -> Option<Heard> {
        match self.line.try_recv() {
            Ok(notice) => Some(Heard::Notice(notice)),
            Err(TryRecvError::Lagged(_)) => Some(Heard::Missed),
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
    async fn each_session_counts_for_itself() {
        let bus = Bus::default();
        let mut heard = bus.subscribe();
        let (a, b) = ids();
        bus.publish(idle(&a));
        bus.publish(idle(&b));
        bus.publish(idle(&a));
        bus.publish(Event::FileEdited { file: "x".into() });
        let mut seqs = Vec::new();
        while let Some(Heard::Notice(notice)) = heard.try_next() {
            seqs.push(notice.seq);
        }
        assert_eq!(seqs, [1, 1, 2, 0]);
        assert_eq!((bus.sequence(&a), bus.sequence(&b)), (2, 1));
    }

    #[tokio::test]
    async fn a_slow_listener_is_told_that_it_missed_something() {
        let bus = Bus::default();
        let mut slow = bus.subscribe();
        let (a, _) = ids();
        for _ in 0..LINE_LENGTH + 10 {
            bus.publish(idle(&a));
        }
        assert_eq!(slow.next().await, Some(Heard::Missed));
        let Some(Heard::Notice(next)) = slow.next().await else {
            panic!("nothing after the gap")
        };
        assert_eq!(next.seq, 11);
    }

    #[tokio::test]
    async fn sequence_numbers_have_no_gaps_when_many_publish_at_once() {
        let bus = Bus::default();
        let mut heard = bus.subscribe();
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
            let Some(Heard::Notice(notice)) = heard.next().await else {
                panic!("gap")
            };
            assert_eq!(notice.seq, expected);
        }
    }
}
