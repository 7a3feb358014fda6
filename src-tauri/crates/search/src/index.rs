//! The index: one SQLite file.
//!
//! Every method blocks. Two processes may use one file. A damaged file is replaced by an empty
//! one as soon as the damage is noticed, and [`SearchError::Emptied`] asks the caller to fill it.

mod schema;
mod search;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{FindHit, HitKind};
use lathe_protocol::{MessageId, MessageWithParts, Millis, PartId, Session, SessionId};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::error::{Result, SearchError, is_damage};
use crate::part_text::PartText;
use crate::text_match;

pub struct Index {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// How much of a session is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// All of it, up to the update of this time.
    Complete(Millis),
    /// All that was stored before the session began to change. What is new may be missing.
    Changing,
    /// Some of it: the session is being read, or the reading was interrupted.
    Partial,
}

/// How [`IndexState::Partial`] is stored: no time is before the epoch.
const PARTIAL: i64 = -1;

/// An indexed message without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedMessage {
    pub at: Millis,
    pub content_hash: i64,
}

/// The searchable text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageText {
    pub session: SessionId,
    pub message: MessageId,
    pub at: Millis,
    pub parts: Vec<(PartId, PartText)>,
}

impl MessageText {
    pub fn new(message: &MessageWithParts) -> Self {
        let parts = message.parts.iter();
        MessageText {
            session: message.info.session_id().clone(),
            message: message.info.id().clone(),
            at: message.info.created(),
            parts: parts
                .filter_map(|part| Some((part.id().clone(), PartText::extract(part)?)))
                .collect(),
        }
    }

    /// A hash that changes with the text.
    pub fn content_hash(&self) -> i64 {
        let mut hasher = DefaultHasher::new();
        self.at.0.hash(&mut hasher);
        for (id, part) in &self.parts {
            id.as_str().hash(&mut hasher);
            part.text.hash(&mut hasher);
        }
        hasher.finish() as i64
    }
}

impl Index {
    /// Opens the index at `path`, or creates an empty one.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| unusable(&path, error))?;
        }
        let connection = match schema::connect(&path) {
            Ok(connection) => connection,
            Err(error) => {
                tracing::info!(%error, "the search index is rebuilt");
                recreate(&path)?
            }
        };
        Ok(Index {
            path,
            connection: Mutex::new(connection),
        })
    }

    pub fn session_states(&self) -> Result<HashMap<SessionId, IndexState>> {
        self.run(|connection| {
            let mut rows = connection.prepare_cached("SELECT id, mark FROM session")?;
            let rows = rows.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?))
            })?;
            let mut states = HashMap::new();
            for row in rows {
                let (id, mark) = row?;
                if let Ok(id) = SessionId::parse(&id) {
                    states.insert(id, decode_state(mark));
                }
            }
            Ok(states)
        })
    }

    pub fn session_state(&self, id: &SessionId) -> Result<Option<IndexState>> {
        self.run(|connection| {
            let mut found = connection.prepare_cached("SELECT mark FROM session WHERE id = ?1")?;
            let mark = found
                .query_row([id.as_str()], |row| row.get(0))
                .optional()?;
            Ok(mark.map(decode_state))
        })
    }

    /// Stores the session's title and project, and how much of it is indexed.
    pub fn set_session(&self, session: &Session, state: IndexState) -> Result<()> {
        let mark = match state {
            IndexState::Complete(at) => Some(at.0),
            IndexState::Changing => None,
            IndexState::Partial => Some(PARTIAL),
        };
        self.run(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO session (id, project, title, mark) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (id) DO UPDATE SET project = ?2, title = ?3, mark = ?4",
                )?
                .execute(params![
                    session.id.as_str(),
                    session.project_id.as_str(),
                    session.title,
                    mark
                ])?;
            Ok(())
        })
    }

    /// The indexed messages of a session.
    pub fn indexed_messages(
        &self,
        session: &SessionId,
    ) -> Result<HashMap<MessageId, IndexedMessage>> {
        self.run(|connection| {
            let mut rows = connection
                .prepare_cached("SELECT id, at, stamp FROM message WHERE session = ?1")?;
            let message = |row: &Row<'_>| {
                let (at, content_hash) = (Millis(row.get(1)?), row.get(2)?);
                Ok((
                    row.get::<_, String>(0)?,
                    IndexedMessage { at, content_hash },
                ))
            };
            let rows = rows.query_map([session.as_str()], message)?;
            let mut messages = HashMap::new();
            for row in rows {
                let (id, message) = row?;
                if let Ok(id) = MessageId::parse(&id) {
                    messages.insert(id, message);
                }
            }
            Ok(messages)
        })
    }

    /// Replaces the text of these messages, in one transaction.
    pub fn put_messages(&self, messages: &[MessageText]) -> Result<()> {
        self.change(|transaction| {
            for message in messages {
                delete_message(transaction, &message.message)?;
                insert_message(transaction, message)?;
            }
            Ok(())
        })
    }

    pub fn remove_messages<'a>(&self, ids: impl IntoIterator<Item = &'a MessageId>) -> Result<()> {
        self.change(|transaction| {
            for id in ids {
                delete_message(transaction, id)?;
            }
            Ok(())
        })
    }

    pub fn remove_session(&self, id: &SessionId) -> Result<()> {
        self.change(|transaction| {
            transaction.execute("DELETE FROM entry WHERE session = ?1", [id.as_str()])?;
            transaction.execute("DELETE FROM message WHERE session = ?1", [id.as_str()])?;
            transaction.execute("DELETE FROM session WHERE id = ?1", [id.as_str()])?;
            Ok(())
        })
    }

    /// Removes everything.
    pub fn clear(&self) -> Result<()> {
        let mut connection = self.connection.lock();
        *connection = recreate(&self.path)?;
        Ok(())
    }

    /// The first `limit` occurrences of the text in one session, in reading order.
    pub fn find(&self, session: &SessionId, text: &str, limit: usize) -> Result<Vec<FindHit>> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        self.run(|connection| {
            let mut rows = connection.prepare_cached(
                "SELECT message, part, kind, text FROM entry WHERE session = ?1
                 ORDER BY at, message, place",
            )?;
            let mut rows = rows.query([session.as_str()])?;
            let mut hits = Vec::new();
            while let Some(row) = rows.next()? {
                let count = text_match::count(row.get_ref(3)?.as_str()?, text);
                let ids = (
                    MessageId::parse(row.get_ref(0)?.as_str()?),
                    PartId::parse(row.get_ref(1)?.as_str()?),
                );
                let (Ok(message_id), Ok(part_id)) = ids else {
                    continue;
                };
                let kind = decode_kind(row.get(2)?);
                for nth in 0..count {
                    if hits.len() == limit {
                        return Ok(hits);
                    }
                    hits.push(FindHit {
                        message_id: message_id.clone(),
                        part_id: part_id.clone(),
                        kind,
                        nth: u32::try_from(nth).unwrap_or(u32::MAX),
                    });
                }
            }
            Ok(hits)
        })
    }

    fn change(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction()?;
            work(&transaction)?;
            transaction.commit()
        })
    }

    /// On damage, replaces the index by an empty one.
    fn run<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        let mut connection = self.connection.lock();
        match work(&mut connection) {
            Ok(value) => Ok(value),
            Err(error) if is_damage(&error) => {
                tracing::warn!(%error, "the search index is damaged and is rebuilt");
                *connection = recreate(&self.path)?;
                Err(SearchError::Emptied)
            }
            Err(error) => Err(SearchError::Sqlite(error)),
        }
    }
}

fn decode_state(stored: Option<i64>) -> IndexState {
    match stored {
        None => IndexState::Changing,
        Some(PARTIAL) => IndexState::Partial,
        Some(at) => IndexState::Complete(Millis(at)),
    }
}

fn insert_message(transaction: &Transaction<'_>, message: &MessageText) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("INSERT INTO message (id, session, at, stamp) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            message.message.as_str(),
            message.session.as_str(),
            message.at.0,
            message.content_hash()
        ])?;
    let mut entry = transaction.prepare_cached(
        "INSERT INTO entry (session, message, part, kind, at, place, text)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (place, (id, part)) in message.parts.iter().enumerate() {
        entry.execute(params![
            message.session.as_str(),
            message.message.as_str(),
            id.as_str(),
            encode_kind(part.kind),
            message.at.0,
            i64::try_from(place).unwrap_or(i64::MAX),
            part.text,
        ])?;
    }
    Ok(())
}

fn delete_message(transaction: &Transaction<'_>, id: &MessageId) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("DELETE FROM entry WHERE message = ?1")?
        .execute([id.as_str()])?;
    transaction
        .prepare_cached("DELETE FROM message WHERE id = ?1")?
        .execute([id.as_str()])?;
    Ok(())
}

/// Stored as the position in this list: only append to it.
const KINDS: [HitKind; 5] = [
    HitKind::Text,
    HitKind::Reasoning,
    HitKind::Tool,
    HitKind::File,
    HitKind::Subtask,
];

fn encode_kind(kind: HitKind) -> i64 {
    KINDS
        .iter()
        .position(|known| *known == kind)
        .map_or(0, |at| at as i64)
}

fn decode_kind(number: i64) -> HitKind {
    let at = usize::try_from(number).unwrap_or(0);
    KINDS.get(at).copied().unwrap_or(HitKind::Text)
}

fn recreate(path: &Path) -> Result<Connection> {
    schema::remove(path).map_err(|error| unusable(path, error))?;
    schema::connect(path).map_err(|error| unusable(path, error))
}

fn unusable(path: &Path, error: impl ToString) -> SearchError {
    SearchError::Unusable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
