//! The only way to change what is stored: write first, then publish.
//!
//! Streaming text is the exception: it is published at once and written at most every 100 ms.
//! Until then its newest form is held here, so that a snapshot of a session is never older
//! than what was published.

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::{
    Event, IdSource, Message, MessageId, MessagePartUpdated, MessageWithParts, Millis, Part,
    PartId, Session, SessionId, UserMessage, serial_cmp,
};
use lathe_store::{Page, Store, Window, WindowAnchor};
use parking_lot::Mutex;

use crate::bus::{Bus, Delta};
use crate::clock::Clock;
use crate::error::{Failed, Result};

#[derive(Clone)]
pub struct Records {
    store: Store,
    bus: Bus,
    clock: Arc<dyn Clock>,
    /// Parts that text is streaming into, newer than their files.
    streaming: Arc<Mutex<HashMap<PartId, Part>>>,
    followed: Arc<Mutex<HashMap<MessageId, Vec<Part>>>>,
}

/// Collects the parts of a message while it is written, so that its writer does not have to
/// read them back.
pub struct FollowedMessage {
    id: MessageId,
    followed: Arc<Mutex<HashMap<MessageId, Vec<Part>>>>,
}

impl FollowedMessage {
    pub fn id(&self) -> &MessageId {
        &self.id
    }

    /// The parts written so far, in order.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = self
            .followed
            .lock()
            .get(&self.id)
            .cloned()
            .unwrap_or_default();
        parts.sort_by(|a, b| serial_cmp(a.id().as_str(), b.id().as_str()));
        parts
    }
}

impl Drop for FollowedMessage {
    fn drop(&mut self) {
        self.followed.lock().remove(&self.id);
    }
}

impl Records {
    pub fn new(store: Store, bus: Bus, clock: Arc<dyn Clock>) -> Self {
        Records {
            store,
            bus,
            clock,
            streaming: Arc::default(),
            followed: Arc::default(),
        }
    }

    /// The session, or an error that names it.
    pub async fn session(&self, id: &SessionId) -> Result<Session> {
        let session = self.store.session(id).await?;
        session.ok_or_else(|| Failed::missing("session", id.as_str()))
    }

    /// Collects the parts of a new message from now on.
    pub fn follow(&self, id: &MessageId) -> FollowedMessage {
        self.followed.lock().insert(id.clone(), Vec::new());
        FollowedMessage {
            id: id.clone(),
            followed: self.followed.clone(),
        }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    pub fn ids(&self) -> &IdSource {
        self.store.ids()
    }

    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// The date of a new message, so that it sorts after `newest`, which another clock may have
    /// dated: messages of one date are in the order of their ids.
    pub fn date_after(&self, newest: Option<&Message>) -> Millis {
        let now = self.now();
        match newest {
            Some(newest) if newest.created() >= now => {
                let is_ours = !self.ids().is_behind(newest.id().as_str());
                Millis(newest.created().0 + i64::from(!is_ours))
            }
            _ => now,
        }
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Publishes an event that no write here belongs to.
    pub fn publish(&self, event: Event) {
        self.bus.publish(event);
    }

    pub async fn create_session(&self, session: Session) -> Result<Session> {
        self.store.write_session(&session).await?;
        self.publish(Event::SessionCreated {
            info: session.clone(),
        });
        self.publish(Event::SessionUpdated {
            info: session.clone(),
        });
        Ok(session)
    }

    pub async fn update_session(
        &self,
        id: &SessionId,
        edit: impl FnOnce(&mut Session) + Send + 'static,
    ) -> Result<Session> {
        let session = self.store.update_session(id, edit).await?;
        self.publish(Event::SessionUpdated {
            info: session.clone(),
        });
        Ok(session)
    }

    pub async fn put_message(&self, message: Message) -> Result<()> {
        self.store.journal_message(&message).await?;
        self.publish(Event::MessageUpdated { info: message });
        Ok(())
    }

    /// Writes the message to its file before this returns. Needed while the session is being
    /// released, because the next writer may be another process.
    pub async fn write_message_file(&self, message: Message) -> Result<()> {
        self.store.write_message(&message).await?;
        self.publish(Event::MessageUpdated { info: message });
        Ok(())
    }

    /// Stores a message that is complete from the start. Its parts are written first, so that
    /// a crash never leaves the message without them.
    pub async fn put_complete_message(&self, message: &MessageWithParts) -> Result<()> {
        for part in &message.parts {
            self.store.write_part(part).await?;
        }
        self.put_message(message.info.clone()).await?;
        for part in message.parts.iter().cloned() {
            self.publish(Event::MessagePartUpdated(MessagePartUpdated {
                part,
                delta: None,
            }));
        }
        Ok(self.store.barrier(message.info.session_id()).await?)
    }

    pub async fn put_part(&self, part: Part) -> Result<()> {
        self.store.journal_part(&part).await?;
        self.streaming.lock().remove(part.id());
        if let Some(parts) = self.followed.lock().get_mut(part.message_id()) {
            match parts.iter_mut().find(|known| known.id() == part.id()) {
                Some(known) => known.clone_from(&part),
                None => parts.push(part.clone()),
            }
        }
        self.publish(Event::MessagePartUpdated(MessagePartUpdated {
            part,
            delta: None,
        }));
        Ok(())
    }

    pub async fn remove_part(&self, part: &Part) -> Result<()> {
        self.store.remove_part(part.message_id(), part.id()).await?;
        self.streaming.lock().remove(part.id());
        if let Some(parts) = self.followed.lock().get_mut(part.message_id()) {
            parts.retain(|known| known.id() != part.id());
        }
        self.publish(Event::MessagePartRemoved {
            session_id: part.session_id().clone(),
            message_id: part.message_id().clone(),
            part_id: part.id().clone(),
        });
        Ok(())
    }

    /// Removes the message with all its parts.
    pub async fn remove_message(&self, session: &SessionId, message: &MessageId) -> Result<()> {
        self.store.remove_message(session, message).await?;
        self.publish(Event::MessageRemoved {
            session_id: session.clone(),
            message_id: message.clone(),
        });
        Ok(())
    }

    /// Stores a part that text will stream into.
    pub async fn open_stream(&self, part: Part) -> Result<()> {
        self.put_part(part.clone()).await?;
        self.streaming.lock().insert(part.id().clone(), part);
        Ok(())
    }

    /// Publishes more text of a part; [`Records::save_stream`] writes it.
    pub fn append(&self, part: &PartId, text: &str) {
        let mut streaming = self.streaming.lock();
        let Some(part) = streaming.get_mut(part) else {
            return;
        };
        let Some(whole) = text_mut(part) else { return };
        let at = whole.len();
        whole.push_str(text);
        // Published under the lock: a copy of the part has exactly the text that was published.
        self.bus.publish_delta(Delta {
            session_id: part.session_id().clone(),
            message_id: part.message_id().clone(),
            part_id: part.id().clone(),
            at,
            text: text.to_owned(),
        });
    }

    /// A streaming part as it is now.
    pub fn streaming(&self, part: &PartId) -> Option<Part> {
        self.streaming.lock().get(part).cloned()
    }

    /// Returns how many bytes of text were written.
    pub async fn save_stream(&self, part: &PartId) -> Result<usize> {
        let Some(mut part) = self.streaming(part) else {
            return Ok(0);
        };
        self.store.write_part(&part).await?;
        Ok(text_mut(&mut part).map_or(0, |text| text.len()))
    }

    /// Stores the streaming text of a session whose turn has failed.
    pub async fn close_streams(&self, session: &SessionId) -> Result<()> {
        let of_session = |part: &&Part| part.session_id() == session;
        let parts: Vec<_> = self
            .streaming
            .lock()
            .values()
            .filter(of_session)
            .cloned()
            .collect();
        for part in parts {
            self.put_part(part).await?;
        }
        Ok(())
    }

    /// The newest messages before `before`, with streaming text as it was last published.
    pub async fn messages(
        &self,
        session: &SessionId,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Page> {
        let mut page = self.store.messages(session, before, limit).await?;
        self.overlay_streaming(&mut page.messages);
        Ok(page)
    }

    /// The newest prompt of a session.
    pub async fn newest_user_message(&self, session: &SessionId) -> Result<Option<UserMessage>> {
        const PAGE: usize = 20;
        let mut before = None;
        loop {
            let page = self.messages(session, before.as_ref(), PAGE).await?;
            let mut users = page
                .messages
                .iter()
                .rev()
                .filter_map(|one| one.info.as_user());
            if let Some(newest) = users.next() {
                return Ok(Some(newest.clone()));
            }
            if !page.has_older {
                return Ok(None);
            }
            before = page.messages.first().map(|oldest| oldest.info.id().clone());
        }
    }

    /// Messages around some place in a session, with streaming text as it was last published.
    pub async fn window(
        &self,
        session: &SessionId,
        anchor: &WindowAnchor,
        limit: usize,
    ) -> Result<Window> {
        let mut window = self.store.window(session, anchor, limit).await?;
        self.overlay_streaming(&mut window.page.messages);
        Ok(window)
    }

    fn overlay_streaming(&self, messages: &mut [MessageWithParts]) {
        let streaming = self.streaming.lock();
        if streaming.is_empty() {
            return;
        }
        for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
            if let Some(newer) = streaming.get(part.id()) {
                *part = newer.clone();
            }
        }
    }
}

fn text_mut(part: &mut Part) -> Option<&mut String> {
    match part {
        Part::Text(part) => Some(&mut part.text),
        Part::Reasoning(part) => Some(&mut part.text),
        _ => None,
    }
}
