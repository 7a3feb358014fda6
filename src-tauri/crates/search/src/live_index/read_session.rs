//! One session read from its newest message back, until nothing is new.

use std::collections::{HashMap, HashSet};

use lathe_protocol::{Millis, Session};

use super::LiveIndex;
use super::error::Result;
use crate::index::{Known, MessageWords, SessionMark};

/// Messages read at once.
const PAGE: usize = 100;

impl LiveIndex {
    /// Every session whose mark is not that of its record, and none that is gone.
    pub(super) async fn look_once(&self) -> Result<()> {
        let mut marks = self.on_index(|index| index.marks()).await?;
        let sessions = self.records.store().all_sessions().await?.items;
        for session in &sessions {
            let level = SessionMark::Known(session.time.updated);
            if marks.remove(&session.id) == Some(level) {
                self.level.lock().insert(session.id.clone());
            } else if !self.is_followed(session) {
                self.read_again(session).await?;
            }
        }
        for id in marks.into_keys() {
            self.on_index(move |index| index.remove_session(&id))
                .await?;
        }
        Ok(())
    }

    /// Reads the session if it changed while nobody listened.
    pub(super) async fn make_level(&self, session: &Session) -> Result<()> {
        let id = session.id.clone();
        let mark = self.on_index(move |index| index.mark(&id)).await?;
        if mark == Some(SessionMark::Known(session.time.updated)) || self.is_followed(session) {
            return Ok(());
        }
        self.read_again(session).await
    }

    /// We hear of what its turn does.
    fn is_followed(&self, session: &Session) -> bool {
        self.changes.lock().busy.contains(&session.id) && self.level.lock().contains(&session.id)
    }

    /// What is said last changes most: a page without news ends the reading.
    pub(super) async fn read_again(&self, session: &Session) -> Result<()> {
        let id = session.id.clone();
        let known = self.on_index(move |index| index.known(&id)).await?;
        let noted = session.clone();
        self.on_index(move |index| index.note_session(&noted, SessionMark::Changing))
            .await?;

        let mut seen = HashSet::new();
        let mut before = None;
        let whole = loop {
            let page = self
                .records
                .messages(&session.id, before.as_ref(), PAGE)
                .await?;
            let words: Vec<_> = page.messages.iter().map(MessageWords::of).collect();
            seen.extend(words.iter().map(|one| one.message.clone()));
            before = words.first().map(|one| one.message.clone());
            let oldest = words.first().map(|one| one.at);
            let all = words.len();
            let news: Vec<_> = words
                .into_iter()
                .filter(|one| known.get(&one.message).map(|known| known.stamp) != Some(one.stamp()))
                .collect();
            let nothing_new = news.is_empty() && all > 0;
            self.on_index(move |index| index.put_messages(&news))
                .await?;
            if !page.has_older || before.is_none() {
                break None;
            }
            if nothing_new {
                break oldest;
            }
        };
        let gone: Vec<_> = stale(&known, whole)
            .filter(|id| !seen.contains(*id))
            .cloned()
            .collect();
        let (noted, mark) = (session.clone(), SessionMark::Known(session.time.updated));
        self.on_index(move |index| {
            index.remove_messages(&gone)?;
            index.note_session(&noted, mark)
        })
        .await?;
        self.level.lock().insert(session.id.clone());
        Ok(())
    }
}

/// What the reading would have seen if it were still there: all of it, or what is as new.
fn stale(
    known: &HashMap<lathe_protocol::MessageId, Known>,
    since: Option<Millis>,
) -> impl Iterator<Item = &lathe_protocol::MessageId> {
    let reached = move |at: Millis| since.is_none_or(|since| at.0 > since.0);
    known
        .iter()
        .filter(move |(_, known)| reached(known.at))
        .map(|(id, _)| id)
}
