//! The one way to change what is stored: write it, then tell.
//!
//! Streaming text is the exception: it is told at once and written at most every 100 ms.
//! Until then its newest form lives here, so that a snapshot of a session is never older
//! than what was told.

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::{
    Event, IdSource, Message, MessageId, MessagePartUpdated, MessageWithParts, Millis, Part,
    PartId, Session, SessionId, serial_cmp,
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
    live: Arc<Mutex<HashMap<PartId, Part>>>,
    followed: Arc<Mutex<HashMap<MessageId, Vec<Part>>>>,
}

/// Collects the parts of a message while it is written, so that the writer need not read
/// them back.
pub struct FollowedMessage {
    id: MessageId,
    followed: Arc<Mutex<HashMap<MessageId, Vec<Part>>>>,
}

impl FollowedMessage {
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
            live: Arc::default(),
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

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// For what is told without being stored here.
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

    /// In its file when this returns: for what is said of a message while its session is given
    /// up, when the next to write it may be another process.
    pub async fn file_message(&self, message: Message) -> Result<()> {
        self.store.write_message(&message).await?;
        self.publish(Event::MessageUpdated { info: message });
        Ok(())
    }

    /// A message that is complete from the start: on disk its parts come first, so that a
    /// crash never leaves it without them.
    pub async fn put_whole(&self, message: &MessageWithParts) -> Result<()> {
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
        self.live.lock().remove(part.id());
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
        self.live.lock().remove(part.id());
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

    /// With everything it is made of.
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
        self.live.lock().insert(part.id().clone(), part);
        Ok(())
    }

    /// Tells of more text; [`Records::save_stream`] writes it.
    pub fn append(&self, part: &PartId, text: &str) {
        let mut live = self.live.lock();
        let Some(part) = live.get_mut(part) else {
            return;
        };
        let Some(whole) = text_of(part) else { return };
        let at = whole.len();
        whole.push_str(text);
        // Told under the lock: whoever copies the live part sees exactly what was told.
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
        self.live.lock().get(part).cloned()
    }

    pub async fn save_stream(&self, part: &PartId) -> Result<()> {
        if let Some(part) = self.streaming(part) {
            self.store.write_part(&part).await?;
        }
        Ok(())
    }

    /// The newest messages before `before`, with streaming text as new as it was told.
    pub async fn messages(
        &self,
        session: &SessionId,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Page> {
        let mut page = self.store.messages(session, before, limit).await?;
        self.freshen(&mut page.messages);
        Ok(page)
    }

    /// Messages somewhere inside a session, with streaming text as new as it was told.
    pub async fn window(
        &self,
        session: &SessionId,
        anchor: &WindowAnchor,
        limit: usize,
    ) -> Result<Window> {
        let mut window = self.store.window(session, anchor, limit).await?;
        self.freshen(&mut window.page.messages);
        Ok(window)
    }

    fn freshen(&self, messages: &mut [MessageWithParts]) {
        let live = self.live.lock();
        if live.is_empty() {
            return;
        }
        for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
            if let Some(newer) = live.get(part.id()) {
                *part = newer.clone();
            }
        }
    }
}

fn text_of(part: &mut Part) -> Option<&mut String> {
    match part {
        Part::Text(part) => Some(&mut part.text),
        Part::Reasoning(part) => Some(&mut part.text),
        _ => None,
    }
}
