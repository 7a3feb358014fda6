//! Messages from the middle of a session, for a jump to one of them.

use lathe_protocol::{MessageId, SessionId};

use super::Page;
use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::message_order::{MessageOrder, OrderEntry};
use crate::storage::Storage;

/// Which messages a window holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowAnchor {
    /// The oldest messages after this one.
    After(MessageId),
    /// This message, with as many before it as after it.
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
        anchor: &WindowAnchor,
        limit: usize,
    ) -> Result<Window> {
        self.flush_session(session).ok();
        let (window, is_order_wrong) =
            self.read_window(session, &self.message_order(session)?, anchor, limit)?;
        if !is_order_wrong {
            return Ok(window);
        }
        let (window, _) =
            self.read_window(session, &self.rebuild_order(session)?, anchor, limit)?;
        Ok(window)
    }

    /// Also returns whether the order turned out to be wrong.
    fn read_window(
        &self,
        session: &SessionId,
        order: &MessageOrder,
        anchor: &WindowAnchor,
        limit: usize,
    ) -> Result<(Window, bool)> {
        let (WindowAnchor::After(message) | WindowAnchor::Around(message)) = anchor;
        let mut older = order.newest_first();
        let mut newer: Vec<OrderEntry> = Vec::new();
        let found = older.by_ref().find(|entry| {
            let is_anchor = entry.id == *message;
            if !is_anchor {
                newer.push(entry.clone());
            }
            is_anchor
        });
        let Some(found) = found else {
            return Err(StoreError::Missing(Key::message(session, message)?));
        };
        let (newer_count, mut entries, has_older) = match anchor {
            WindowAnchor::After(_) => (limit, Vec::new(), true),
            WindowAnchor::Around(_) => {
                let older_entries: Vec<OrderEntry> = older.by_ref().take(limit / 2).collect();
                let newer_count = limit.saturating_sub(1 + older_entries.len());
                let entries: Vec<OrderEntry> =
                    older_entries.into_iter().rev().chain([found]).collect();
                (newer_count, entries, older.next().is_some())
            }
        };
        let has_newer = newer.len() > newer_count;
        entries.extend(newer.into_iter().rev().take(newer_count));
        let (mut page, is_order_wrong) = self.load_messages(session, &entries)?;
        page.has_older = has_older;
        Ok((Window { page, has_newer }, is_order_wrong))
    }
}
