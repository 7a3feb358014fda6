//! Messages and their parts, from the tail of a session.

mod window;

pub use window::{Stretch, Window};

use lathe_protocol::{
    Message, MessageId, MessageWithParts, Part, PartId, SessionId, sort_serially,
};

use crate::damage;
use crate::error::{Damaged, Result, StoreError};
use crate::key::Key;
use crate::listing::{Listing, placeholder};
use crate::order::{Order, Place};
use crate::parallel;
use crate::storage::Storage;

/// Some messages of a session, oldest first.
///
/// What could not be read stands in `damaged`, under the key where it lies: a damaged part of
/// a message that is in this page, or a damaged message between them.
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
        /// The order has it at another time than the message itself.
        misplaced: bool,
    },
    Damaged(Damaged),
    /// Removed since the order was made.
    Gone,
}

impl Storage {
    pub(crate) fn messages(
        &self,
        session: &SessionId,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Page> {
        // A value that cannot be written now is no reason to show nothing.
        self.flush_session(session).ok();
        let (page, misplaced) = self.page(session, &self.order(session)?, before, limit)?;
        if !misplaced {
            return Ok(page);
        }
        // Someone who changes times while we look can make it wrong once more; what is shown
        // is complete all the same.
        let (page, _) = self.page(session, &self.rebuild_order(session)?, before, limit)?;
        Ok(page)
    }

    /// Also whether the order turned out to be wrong.
    fn page(
        &self,
        session: &SessionId,
        order: &Order,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<(Page, bool)> {
        let mut newest_first = order.newest_first();
        if let Some(before) = before
            && !newest_first.any(|place| place.id == *before)
        {
            return Err(StoreError::Missing(Key::message(session, before)?));
        }
        let mut places: Vec<Place> = newest_first.by_ref().take(limit).collect();
        let has_older = newest_first.next().is_some();
        places.reverse();
        let (mut page, misplaced) = self.load_all(session, &places)?;
        page.has_older = has_older;
        Ok((page, misplaced))
    }

    fn load_all(&self, session: &SessionId, places: &[Place]) -> Result<(Page, bool)> {
        let mut page = Page::default();
        let mut any_misplaced = false;
        for loaded in parallel::map(places, |place, buffer| self.load(session, place, buffer)) {
            match loaded? {
                Loaded::Message {
                    message,
                    damaged,
                    misplaced,
                } => {
                    any_misplaced |= misplaced;
                    page.messages.push(*message);
                    page.damaged.extend(damaged);
                }
                Loaded::Damaged(damaged) => page.damaged.push(damaged),
                Loaded::Gone => {}
            }
        }
        self.name_prompts(session, page.messages.iter_mut().map(|one| &mut one.info))?;
        Ok((page, any_misplaced))
    }

    /// An answer that does not say what it answers belongs to the prompt before it. `infos`
    /// follow each other, oldest first.
    fn name_prompts<'a>(
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
                        prompt = self.prompt_before(session, &answer.id)?;
                    }
                    answer.parent_id = prompt.clone().unwrap_or(answer.parent_id.clone());
                }
                Message::Assistant(_) => {}
            }
        }
        Ok(())
    }

    fn prompt_before(&self, session: &SessionId, id: &MessageId) -> Result<Option<MessageId>> {
        let order = self.order(session)?;
        let mut older = order.newest_first().skip_while(|place| place.id != *id);
        let is_prompt = |place: &Place| {
            let key = Key::message(session, &place.id).ok()?;
            let read = self.read(&key, &mut Vec::new(), |info| damage::message_of(&key, info));
            read.ok().flatten()?.as_user().map(drop)
        };
        let prompt = older.find(|place| is_prompt(place).is_some());
        Ok(prompt.map(|place| place.id))
    }

    fn load(&self, session: &SessionId, place: &Place, buffer: &mut Vec<u8>) -> Result<Loaded> {
        let key = Key::message(session, &place.id)?;
        let info = match self.read(&key, buffer, |message| damage::message_of(&key, message)) {
            Ok(Some(info)) => info,
            Ok(None) => return Ok(Loaded::Gone),
            Err(error) => return placeholder(&key, error).map(Loaded::Damaged),
        };
        let misplaced = info.created() != place.created;
        let parts = self.parts(&place.id, buffer)?;
        let message = Box::new(MessageWithParts {
            info,
            parts: parts.items,
        });
        Ok(Loaded::Message {
            message,
            damaged: parts.damaged,
            misplaced,
        })
    }

    pub(crate) fn message(&self, session: &SessionId, id: &MessageId) -> Result<Option<Message>> {
        let key = Key::message(session, id)?;
        let mut info = self.read(&key, &mut Vec::new(), |message| {
            damage::message_of(&key, message)
        })?;
        self.name_prompts(session, info.iter_mut())?;
        Ok(info)
    }

    /// What is said of the messages that are asked for, newest first, without their parts.
    /// One that cannot be read is left out: whoever needs to know of it asks for its page.
    pub(crate) fn infos(
        &self,
        session: &SessionId,
        wanted: &(dyn Fn(&MessageId) -> bool + Sync),
    ) -> Result<Vec<Message>> {
        self.flush_session(session).ok();
        let order = self.order(session)?;
        let places: Vec<Place> = order
            .newest_first()
            .filter(|place| wanted(&place.id))
            .collect();
        let read = parallel::map(&places, |place, buffer| {
            let key = Key::message(session, &place.id)?;
            self.read(&key, buffer, |message| damage::message_of(&key, message))
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
        // Those that wait come first: one that is filed meanwhile is then found here or there.
        let waiting = self.waiting_in(&folder);
        let mut keys = waiting.clone();
        for name in self.names(&folder.folder(&self.places.tree))? {
            let key = folder.child(&name)?;
            if !waiting.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            listing.add(
                &key,
                self.read(&key, buffer, |part| damage::part_of(&key, part)),
            )?;
        }
        sort_serially(&mut listing.items, message.as_str(), |part: &Part| {
            part.id().as_str()
        });
        Ok(listing)
    }

    pub(crate) fn part(&self, message: &MessageId, id: &PartId) -> Result<Option<Part>> {
        let key = Key::part(message, id)?;
        self.read(&key, &mut Vec::new(), |part| damage::part_of(&key, part))
    }

    /// The parts go first: a kill in between leaves a message that still says it was there.
    pub(crate) fn remove_message(&self, session: &SessionId, id: &MessageId) -> Result<bool> {
        self.flush_session(session).ok();
        for part in self.list(&Key::new(["part", id.as_str()])?)? {
            self.remove(&part)?;
        }
        self.remove(&Key::message(session, id)?)
    }
}
