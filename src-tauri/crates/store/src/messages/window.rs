//! A stretch of a session that need not reach its end: what one jumps to.

use lathe_protocol::{MessageId, SessionId};

use super::Page;
use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::order::{Order, Place};
use crate::storage::Storage;

/// Which messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stretch {
    /// The oldest ones that come after this one.
    After(MessageId),
    /// This one, with as many before it as after it.
    Around(MessageId),
}

/// Some messages of a session, and whether newer ones follow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    pub page: Page,
    pub has_newer: bool,
}

impl Storage {
    pub(crate) fn window(
        &self,
        session: &SessionId,
        stretch: &Stretch,
        limit: usize,
    ) -> Result<Window> {
        self.flush_session(session).ok();
        let (window, misplaced) = self.stretch(session, &self.order(session)?, stretch, limit)?;
        if !misplaced {
            return Ok(window);
        }
        let (window, _) = self.stretch(session, &self.rebuild_order(session)?, stretch, limit)?;
        Ok(window)
    }

    fn stretch(
        &self,
        session: &SessionId,
        order: &Order,
        stretch: &Stretch,
        limit: usize,
    ) -> Result<(Window, bool)> {
        let (Stretch::After(anchor) | Stretch::Around(anchor)) = stretch;
        let mut older = order.newest_first();
        let mut newer: Vec<Place> = Vec::new();
        let found = older.by_ref().find(|place| {
            let here = place.id == *anchor;
            if !here {
                newer.push(place.clone());
            }
            here
        });
        let Some(found) = found else {
            return Err(StoreError::Missing(Key::message(session, anchor)?));
        };
        let (ahead, mut places, has_older) = match stretch {
            Stretch::After(_) => (limit, Vec::new(), true),
            Stretch::Around(_) => {
                let behind: Vec<Place> = older.by_ref().take(limit / 2).collect();
                let ahead = limit.saturating_sub(1 + behind.len());
                let places: Vec<Place> = behind.into_iter().rev().chain([found]).collect();
                (ahead, places, older.next().is_some())
            }
        };
        let has_newer = newer.len() > ahead;
        places.extend(newer.into_iter().rev().take(ahead));
        let (mut page, misplaced) = self.load_all(session, &places)?;
        page.has_older = has_older;
        Ok((Window { page, has_newer }, misplaced))
    }
}
