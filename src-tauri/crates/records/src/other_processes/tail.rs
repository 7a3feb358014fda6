//! The newest messages of a session that another process writes.

use lathe_protocol::{Event, MessagePartUpdated, MessageWithParts, SessionId};

use crate::{Records, Result};

/// The steps that can change between two reads, and their prompt.
const MESSAGES: usize = 6;
/// After so many reads without a change, most of the following ones are left out.
const PATIENCE: u32 = 240;
const RARELY: u32 = 20;

#[derive(Default)]
pub struct Tail {
    published: Vec<MessageWithParts>,
    reads_without_change: u32,
}

impl Tail {
    /// Whether to read now. A command that runs for an hour is not asked about 14,400 times.
    pub fn is_due(&mut self) -> bool {
        self.reads_without_change += 1;
        self.reads_without_change < PATIENCE || self.reads_without_change.is_multiple_of(RARELY)
    }

    /// Publishes what has changed since the last call; the first one publishes everything.
    pub async fn publish_changes(&mut self, records: &Records, session: &SessionId) -> Result<()> {
        let newest = records
            .store()
            .messages(session, None, MESSAGES)
            .await?
            .messages;
        for message in &newest {
            self.publish_message(records, message);
        }
        for gone in removed(&self.published, &newest) {
            records.publish(Event::MessageRemoved {
                session_id: session.clone(),
                message_id: gone.info.id().clone(),
            });
        }
        if self.published != newest {
            self.reads_without_change = 0;
        }
        self.published = newest;
        Ok(())
    }

    fn publish_message(&self, records: &Records, message: &MessageWithParts) {
        let before = self
            .published
            .iter()
            .find(|old| old.info.id() == message.info.id());
        if before.is_none_or(|before| before.info != message.info) {
            let info = message.info.clone();
            records.publish(Event::MessageUpdated { info });
        }
        let parts_before = before
            .map(|before| before.parts.as_slice())
            .unwrap_or_default();
        for part in message
            .parts
            .iter()
            .filter(|part| !parts_before.contains(part))
        {
            let (part, delta) = (part.clone(), None);
            records.publish(Event::MessagePartUpdated(MessagePartUpdated {
                part,
                delta,
            }));
        }
        let is_gone = |old: &&lathe_protocol::Part| {
            let mut parts = message.parts.iter();
            !parts.any(|part| part.id() == old.id())
        };
        for gone in parts_before.iter().filter(is_gone) {
            records.publish(Event::MessagePartRemoved {
                session_id: gone.session_id().clone(),
                message_id: gone.message_id().clone(),
                part_id: gone.id().clone(),
            });
        }
    }
}

/// Messages that are gone, and not only beyond the oldest one that was read now.
fn removed<'a>(
    before: &'a [MessageWithParts],
    now: &[MessageWithParts],
) -> impl Iterator<Item = &'a MessageWithParts> {
    let ids: Vec<_> = now
        .iter()
        .map(|message| message.info.id().clone())
        .collect();
    let first = before.iter().position(|old| ids.contains(old.info.id()));
    let from = first.unwrap_or(0);
    let comparable = if now.is_empty() || first.is_some() {
        &before[from..]
    } else {
        &[]
    };
    comparable
        .iter()
        .filter(move |old| !ids.contains(old.info.id()))
}
