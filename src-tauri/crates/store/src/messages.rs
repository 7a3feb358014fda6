//! Reads messages and their parts, from the newest backwards.

mod window;

pub use window::{Window, WindowAnchor};

use lathe_protocol::{
    Message, MessageId, MessageWithParts, Part, PartId, SessionId, sort_serially,
};

use crate::error::{Damaged, Result, StoreError};
use crate::key::Key;
use crate::listing::{Listing, as_damage};
use crate::message_order::{MessageOrder, OrderEntry};
use crate::parallel;
use crate::storage::Storage;
use crate::validate;

/// Some messages of a session, oldest first.
///
/// `damaged` lists what could not be read: parts of messages in this page, or whole messages
/// between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    pub messages: Vec<MessageWithParts>,
    pub damaged: Vec<Damaged>,
    pub has_older: bool,
}

enum Loaded {
    Message {
        message: Box<MessageWithParts>,
        damaged: Vec<Damaged>,
        /// The time in the order is not the time in the message.
        is_misplaced: bool,
    },
    Damaged(Damaged),
    /// Removed since the order was built.
    Removed,
}

impl Storage {
    pub(crate) fn messages(
        &self,
        session: &SessionId,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Page> {
        // What cannot be written now is still read, from the pending values.
        self.flush_session(session).ok();
        let (page, is_order_wrong) =
            self.read_page(session, &self.message_order(session)?, before, limit)?;
        if !is_order_wrong {
            return Ok(page);
        }
        // Another program that changes times meanwhile can make it wrong once more; the page is
        // complete all the same.
        let (page, _) = self.read_page(session, &self.rebuild_order(session)?, before, limit)?;
        Ok(page)
    }

    /// Also returns whether the order turned out to be wrong.
    fn read_page(
        &self,
        session: &SessionId,
        order: &MessageOrder,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<(Page, bool)> {
        let mut newest_first = order.newest_first();
        if let Some(before) = before
            && !newest_first.any(|entry| entry.id == *before)
        {
            return Err(StoreError::Missing(Key::message(session, before)?));
        }
        let mut entries: Vec<OrderEntry> = newest_first.by_ref().take(limit).collect();
        let has_older = newest_first.next().is_some();
        entries.reverse();
        let (mut page, is_order_wrong) = self.load_messages(session, &entries)?;
        page.has_older = has_older;
        Ok((page, is_order_wrong))
    }

    pub(super) fn load_messages(
        &self,
        session: &SessionId,
        entries: &[OrderEntry],
    ) -> Result<(Page, bool)> {
        let mut page = Page::default();
        let mut is_order_wrong = false;
        for loaded in parallel::map(entries, |entry, buffer| {
            self.load_message(session, entry, buffer)
        }) {
            match loaded? {
                Loaded::Message {
                    message,
                    damaged,
                    is_misplaced,
                } => {
                    is_order_wrong |= is_misplaced;
                    page.messages.push(*message);
                    page.damaged.extend(damaged);
                }
                Loaded::Damaged(damaged) => page.damaged.push(damaged),
                Loaded::Removed => {}
            }
        }
        self.set_missing_parents(session, page.messages.iter_mut().map(|one| &mut one.info))?;
        Ok((page, is_order_wrong))
    }

    /// Gives an answer without a parent the prompt before it, as the oldest versions meant it.
    /// `infos` are consecutive messages, oldest first.
    fn set_missing_parents<'a>(
        &self,
        session: &SessionId,
        infos: impl Iterator<Item = &'a mut Message>,
    ) -> Result<()> {
        let mut prompt = None;
        for info in infos {
            match info {
                Message::User(user) => prompt = Some(user.id.clone()),
                Message::Assistant(answer) if answer.parent_id.is_missing() => {
                    if prompt.is_none() {
                        prompt = self.find_prompt_before(session, &answer.id)?;
                    }
                    answer.parent_id = prompt.clone().unwrap_or(answer.parent_id.clone());
                }
                Message::Assistant(_) => {}
            }
        }
        Ok(())
    }

    fn find_prompt_before(&self, session: &SessionId, id: &MessageId) -> Result<Option<MessageId>> {
        let order = self.message_order(session)?;
        let mut older = order.newest_first().skip_while(|entry| entry.id != *id);
        let is_prompt = |entry: &OrderEntry| {
            let key = Key::message(session, &entry.id).ok()?;
            let read = self.read(&key, &mut Vec::new(), |info| {
                validate::check_message(&key, info)
            });
            read.ok().flatten()?.as_user().map(drop)
        };
        let prompt = older.find(|entry| is_prompt(entry).is_some());
        Ok(prompt.map(|entry| entry.id))
    }

    fn load_message(
        &self,
        session: &SessionId,
        entry: &OrderEntry,
        buffer: &mut Vec<u8>,
    ) -> Result<Loaded> {
        let key = Key::message(session, &entry.id)?;
        let info = match self.read(&key, buffer, |message| {
            validate::check_message(&key, message)
        }) {
            Ok(Some(info)) => info,
            Ok(None) => return Ok(Loaded::Removed),
            Err(error) => return as_damage(&key, error).map(Loaded::Damaged),
        };
        let is_misplaced = info.created() != entry.created;
        let parts = self.parts(&entry.id, buffer)?;
        let message = Box::new(MessageWithParts {
            info,
            parts: parts.items,
        });
        Ok(Loaded::Message {
            message,
            damaged: parts.damaged,
            is_misplaced,
        })
    }

    pub(crate) fn message(&self, session: &SessionId, id: &MessageId) -> Result<Option<Message>> {
        let key = Key::message(session, id)?;
        let mut info = self.read(&key, &mut Vec::new(), |message| {
            validate::check_message(&key, message)
        })?;
        self.set_missing_parents(session, info.iter_mut())?;
        Ok(info)
    }

    /// The messages with the wanted ids, newest first, without their parts. One that cannot be read
    /// is left out; its page lists it as damaged.
    pub(crate) fn message_infos(
        &self,
        session: &SessionId,
        wanted: &(dyn Fn(&MessageId) -> bool + Sync),
    ) -> Result<Vec<Message>> {
        self.flush_session(session).ok();
        let order = self.message_order(session)?;
        let entries: Vec<OrderEntry> = order
            .newest_first()
            .filter(|entry| wanted(&entry.id))
            .collect();
        let read = parallel::map(&entries, |entry, buffer| {
            let key = Key::message(session, &entry.id)?;
            self.read(&key, buffer, |message| {
                validate::check_message(&key, message)
            })
        });
        Ok(read.into_iter().filter_map(Result::ok).flatten().collect())
    }

    pub(crate) fn message_with_parts(
        &self,
        session: &SessionId,
        id: &MessageId,
    ) -> Result<Option<MessageWithParts>> {
        let Some(info) = self.message(session, id)? else {
            return Ok(None);
        };
        let parts = self.parts(id, &mut Vec::new())?.items;
        Ok(Some(MessageWithParts { info, parts }))
    }

    pub(crate) fn parts(&self, message: &MessageId, buffer: &mut Vec<u8>) -> Result<Listing<Part>> {
        let folder = Key::new(["part", message.as_str()])?;
        let mut listing = Listing::default();
        // Pending keys first: one that is flushed meanwhile is then found among the files.
        let pending = self.pending_in(&folder);
        let mut keys = pending.clone();
        for name in self.record_names(&folder.folder(&self.dirs.tree))? {
            let key = folder.child(&name)?;
            if !pending.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            listing.add(
                &key,
                self.read(&key, buffer, |part| validate::check_part(&key, part)),
            )?;
        }
        sort_serially(&mut listing.items, message.as_str(), |part: &Part| {
            part.id().as_str()
        });
        Ok(listing)
    }

    pub(crate) fn part(&self, message: &MessageId, id: &PartId) -> Result<Option<Part>> {
        let key = Key::part(message, id)?;
        self.read(&key, &mut Vec::new(), |part| {
            validate::check_part(&key, part)
        })
    }

    /// Removes the parts first, so that a kill in between leaves no parts without a message.
    pub(crate) fn remove_message(&self, session: &SessionId, id: &MessageId) -> Result<bool> {
        self.flush_session(session).ok();
        for part in self.list(&Key::new(["part", id.as_str()])?)? {
            self.remove(&part)?;
        }
        self.remove(&Key::message(session, id)?)
    }
}
