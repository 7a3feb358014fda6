//! Prompts sent while a session is busy: they wait for its next step and can be changed
//! until then.
//!
//! Everything here happens under the lock of the active sessions, so a prompt is either
//! still waiting or already taken. While a prompt of a person waits, its record says that it was
//! not sent: if the program ends meanwhile, it does not go out with a later prompt.

use lathe_protocol::{Message, MessageId, MessageWithParts, Millis, Part, SessionId};

use lathe_records::bus::QueuedPrompts;

use super::ActiveSessions;

#[derive(Debug, Default)]
pub struct Queue {
    prompts: Vec<Queued>,
    /// Taken by a step that has not yet recorded that they are sent.
    taken: Vec<MessageId>,
}

#[derive(Debug)]
pub struct Queued {
    pub message: MessageWithParts,
    /// Sent by a person, who may change it; what the program sends itself is not shown.
    pub by_person: bool,
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }

    fn shown(&self) -> Vec<MessageId> {
        let shown = self.prompts.iter().filter(|one| one.by_person);
        shown.map(|one| one.message.info.id().clone()).collect()
    }

    fn find(&self, id: &MessageId) -> Option<usize> {
        self.prompts
            .iter()
            .position(|one| one.by_person && one.message.info.id() == id)
    }

    /// Returns the parts that were there.
    fn replace(&mut self, id: &MessageId, parts: Vec<Part>) -> Option<Vec<Part>> {
        let at = self.find(id)?;
        Some(std::mem::replace(
            &mut self.prompts[at].message.parts,
            parts,
        ))
    }

    /// Exchanges a prompt of a person with the one before it. Their dates are exchanged as well,
    /// because the session is read in the order of the dates. Returns all that have a new one.
    fn move_up(&mut self, id: &MessageId) -> Option<Vec<Message>> {
        let at = self.find(id)?;
        let above = self.prompts[..at].iter().rposition(|one| one.by_person)?;
        let times: Vec<Millis> = self.prompts[above..].iter().map_while(created).collect();
        self.prompts.swap(above, at);
        // Messages are ordered by time, and several may have been sent in one millisecond.
        let mut before = None;
        let mut moved = Vec::new();
        for (prompt, time) in self.prompts[above..].iter_mut().zip(times) {
            let time = before.map_or(time, |before: Millis| time.max(Millis(before.0 + 1)));
            before = Some(time);
            set_created(prompt, time);
            moved.push(prompt.message.info.clone());
        }
        Some(moved)
    }

    fn withdraw(&mut self, id: &MessageId) -> bool {
        let found = self.find(id);
        if let Some(at) = found {
            self.prompts.remove(at);
        }
        found.is_some()
    }
}

fn created(prompt: &Queued) -> Option<Millis> {
    prompt.message.info.as_user().map(|user| user.time.created)
}

fn set_created(prompt: &mut Queued, created: Millis) {
    if let Message::User(user) = &mut prompt.message.info {
        user.time.created = created;
    }
}

impl ActiveSessions {
    /// Puts a person's prompt into the queue; false when the turn ended in the meantime, or was
    /// stopped: it would leave the prompt as not sent.
    pub fn queue(&self, session: &SessionId, message: MessageWithParts) -> bool {
        self.push(session, message, true)
    }

    /// Queues a message of the program's own for the next step.
    pub fn steer(&self, session: &SessionId, message: MessageWithParts) -> bool {
        self.push(session, message, false)
    }

    fn push(&self, session: &SessionId, message: MessageWithParts, by_person: bool) -> bool {
        let mut sessions = self.sessions.lock();
        let Some(one) = sessions.get_mut(session) else {
            return false;
        };
        if by_person && one.cancel.is_cancelled() {
            return false;
        }
        one.queue.prompts.push(Queued { message, by_person });
        if by_person {
            self.publish_queue(session, one.queue.shown());
        }
        true
    }

    /// Takes everything that waits. The caller holds the queue's lock, records that the prompts of
    /// people are sent, and then calls [`ActiveSessions::sent`].
    pub fn take_queued(&self, session: &SessionId) -> Vec<Queued> {
        let mut sessions = self.sessions.lock();
        let Some(one) = sessions.get_mut(session) else {
            return Vec::new();
        };
        one.queue.taken = one.queue.shown();
        std::mem::take(&mut one.queue.prompts)
    }

    /// The prompts that a step took are recorded as sent.
    pub fn sent(&self, session: &SessionId) {
        let mut sessions = self.sessions.lock();
        if let Some(one) = sessions.get_mut(session)
            && !std::mem::take(&mut one.queue.taken).is_empty()
        {
            self.publish_queue(session, one.queue.shown());
        }
    }

    /// Whether a step is about to send this prompt.
    pub fn is_taken(&self, session: &SessionId, id: &MessageId) -> bool {
        let sessions = self.sessions.lock();
        let one = sessions.get(session);
        one.is_some_and(|one| one.queue.taken.contains(id))
    }

    /// Takes all prompts of people back if this one is among them, so that no step takes one up.
    /// They stay recorded as not sent.
    pub fn take_back(&self, session: &SessionId, id: &MessageId) -> Vec<MessageId> {
        let mut sessions = self.sessions.lock();
        let Some(one) = sessions.get_mut(session) else {
            return Vec::new();
        };
        if one.queue.find(id).is_none() {
            return Vec::new();
        }
        let ids = one.queue.shown();
        one.queue.prompts.retain(|prompt| !prompt.by_person);
        self.publish_queue(session, Vec::new());
        ids
    }

    /// Empties the queue of a turn that takes no more prompts.
    pub fn clear_queue(&self, session: &SessionId) {
        let mut sessions = self.sessions.lock();
        let Some(one) = sessions.get_mut(session) else {
            return;
        };
        let had_prompts = !one.queue.shown().is_empty();
        one.queue = Queue::default();
        if had_prompts {
            self.publish_queue(session, Vec::new());
        }
    }

    pub fn has_queued(&self, session: &SessionId) -> bool {
        let sessions = self.sessions.lock();
        sessions
            .get(session)
            .is_some_and(|one| !one.queue.is_empty())
    }

    pub fn queued(&self, session: &SessionId) -> Vec<MessageId> {
        let sessions = self.sessions.lock();
        sessions
            .get(session)
            .map(|one| one.queue.shown())
            .unwrap_or_default()
    }

    /// A waiting prompt.
    pub fn waiting(&self, session: &SessionId, id: &MessageId) -> Option<MessageWithParts> {
        let sessions = self.sessions.lock();
        let queue = &sessions.get(session)?.queue;
        Some(queue.prompts[queue.find(id)?].message.clone())
    }

    /// Returns the previous parts, or None when the prompt no longer waits.
    pub fn replace_queued(
        &self,
        session: &SessionId,
        id: &MessageId,
        parts: Vec<Part>,
    ) -> Option<Vec<Part>> {
        let mut sessions = self.sessions.lock();
        sessions.get_mut(session)?.queue.replace(id, parts)
    }

    /// Moves a waiting prompt before the one above it. None when it no longer waits, or is the first.
    pub fn move_queued_up(&self, session: &SessionId, id: &MessageId) -> Option<Vec<Message>> {
        let mut sessions = self.sessions.lock();
        let one = sessions.get_mut(session)?;
        let moved = one.queue.move_up(id)?;
        self.publish_queue(session, one.queue.shown());
        Some(moved)
    }

    /// False when the prompt no longer waits.
    pub fn withdraw_queued(&self, session: &SessionId, id: &MessageId) -> bool {
        let mut sessions = self.sessions.lock();
        let Some(one) = sessions.get_mut(session) else {
            return false;
        };
        let withdrawn = one.queue.withdraw(id);
        if withdrawn {
            self.publish_queue(session, one.queue.shown());
        }
        withdrawn
    }

    /// Called under the lock, so that the last published queue is the current one.
    pub(super) fn publish_queue(&self, session: &SessionId, messages: Vec<MessageId>) {
        let session_id = session.clone();
        self.records.bus().publish_queue(QueuedPrompts {
            session_id,
            messages,
        });
    }
}
