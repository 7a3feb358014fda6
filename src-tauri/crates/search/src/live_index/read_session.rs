//! Reads a session for the index, from its newest message back until nothing is new.

use std::collections::{HashMap, HashSet};

use lathe_protocol::{MessageId, Millis, Session};

use super::LiveIndex;
use super::error::Result;
use crate::index::{IndexState, IndexedMessage, MessageText};

/// Messages read at once.
const PAGE: usize = 100;

impl LiveIndex {
    /// Indexes every session whose record is newer than the index, and drops those that are
    /// no longer stored.
    pub(super) async fn update_once(&self) -> Result<()> {
        let mut states = self.on_index(|index| index.session_states()).await?;
        let sessions = self.records.store().all_sessions().await?.items;
        for session in &sessions {
            let complete = IndexState::Complete(session.time.updated);
            if states.remove(&session.id) == Some(complete) {
                self.up_to_date.lock().insert(session.id.clone());
            } else if !self.is_tracked(session) {
                self.reindex(session).await?;
            }
        }
        for id in states.into_keys() {
            self.on_index(move |index| index.remove_session(&id))
                .await?;
        }
        Ok(())
    }

    /// Reads the session if it changed without a notification to this process.
    pub(super) async fn update_session(&self, session: &Session) -> Result<()> {
        let id = session.id.clone();
        let mark = self.on_index(move |index| index.session_state(&id)).await?;
        if mark == Some(IndexState::Complete(session.time.updated)) || self.is_tracked(session) {
            return Ok(());
        }
        self.reindex(session).await
    }

    /// Whether every change of the session reaches us on the bus.
    fn is_tracked(&self, session: &Session) -> bool {
        self.changes.lock().busy.contains(&session.id)
            && self.up_to_date.lock().contains(&session.id)
    }

    /// The newest messages change most: a page without a change ends the reading, unless an
    /// earlier one was interrupted before it reached the oldest message.
    pub(super) async fn reindex(&self, session: &Session) -> Result<()> {
        let id = session.id.clone();
        let (state, known) = self
            .on_index(move |index| Ok((index.session_state(&id)?, index.indexed_messages(&id)?)))
            .await?;
        let was_whole = matches!(state, Some(IndexState::Complete(_) | IndexState::Changing));
        let record = session.clone();
        self.on_index(move |index| index.set_session(&record, IndexState::Partial))
            .await?;

        let mut seen = HashSet::new();
        let mut before = None;
        let reached = loop {
            let page = self
                .records
                .messages(&session.id, before.as_ref(), PAGE)
                .await?;
            let texts: Vec<_> = page.messages.iter().map(MessageText::new).collect();
            seen.extend(texts.iter().map(|one| one.message.clone()));
            before = texts.first().map(|one| one.message.clone());
            let oldest = texts.first().map(|one| one.at);
            let all = texts.len();
            let changed: Vec<_> = texts
                .into_iter()
                .filter(|one| {
                    known.get(&one.message).map(|known| known.content_hash)
                        != Some(one.content_hash())
                })
                .collect();
            let nothing_new = changed.is_empty() && all > 0;
            self.on_index(move |index| index.put_messages(&changed))
                .await?;
            if !page.has_older || before.is_none() {
                break None;
            }
            if nothing_new && was_whole {
                break oldest;
            }
        };
        let removed: Vec<_> = expected(&known, reached)
            .filter(|id| !seen.contains(*id))
            .cloned()
            .collect();
        let (record, state) = (session.clone(), IndexState::Complete(session.time.updated));
        self.on_index(move |index| {
            index.remove_messages(&removed)?;
            index.set_session(&record, state)
        })
        .await?;
        self.up_to_date.lock().insert(session.id.clone());
        Ok(())
    }
}

/// The indexed messages that the reading would have met if they were still stored: all of
/// them, or those after the time at which it stopped.
fn expected(
    known: &HashMap<MessageId, IndexedMessage>,
    since: Option<Millis>,
) -> impl Iterator<Item = &MessageId> {
    let reached = move |at: Millis| since.is_none_or(|since| at.0 > since.0);
    known
        .iter()
        .filter(move |(_, known)| reached(known.at))
        .map(|(id, _)| id)
}
