//! Search over all sessions. The full-text index finds the long words. Short words are searched
//! in the texts themselves: in those that match the long words, or else in all, newest first.

use std::collections::HashSet;

use lathe_protocol::ipc::SearchHit;
use lathe_protocol::{MessageId, Millis, PartId, ProjectId, SessionId};
use rusqlite::{Connection, Row, named_params};

use super::{Index, decode_kind};
use crate::error::Result;
use crate::query::Query;
use crate::{snippet, text_match};

/// 64 tokens is SQLite's maximum; trigrams overlap, so that is about 64 letters.
const SNIPPET: &str = "snippet(words, 0, char(2), char(3), '…', 64)";

impl Index {
    /// The best matches over all sessions.
    pub fn search(&self, typed: &str, limit: usize) -> Result<Vec<SearchHit>> {
        let Some(query) = Query::new(typed) else {
            return Ok(Vec::new());
        };
        self.run(|connection| {
            let mut hits = Vec::new();
            // Ranked by id first: texts are read only for the hits that are returned.
            each_match(connection, &query, |id| {
                hits.extend(hit(connection, &query, id)?);
                Ok(hits.len() < limit)
            })?;
            Ok(hits)
        })
    }

    /// The sessions that have at least one match.
    pub fn sessions_with(&self, typed: &str) -> Result<HashSet<SessionId>> {
        let Some(query) = Query::new(typed) else {
            return Ok(HashSet::new());
        };
        self.run(|connection| {
            let mut found = HashSet::new();
            let mut session_of =
                connection.prepare_cached("SELECT session FROM entry WHERE id = ?1")?;
            each_match(connection, &query, |id| {
                let session = |row: &Row<'_>| Ok(SessionId::parse(row.get_ref(0)?.as_str()?).ok());
                found.extend(session_of.query_row([id], session)?);
                Ok(true)
            })?;
            Ok(found)
        })
    }
}

/// Calls `visit` for every entry that matches the whole query, the best first, until it
/// returns false.
fn each_match(
    connection: &Connection,
    query: &Query,
    mut visit: impl FnMut(i64) -> rusqlite::Result<bool>,
) -> rusqlite::Result<()> {
    let ordered = match query.indexed {
        Some(_) => {
            "SELECT words.rowid FROM words JOIN entry ON entry.id = words.rowid
             WHERE words MATCH ?1 ORDER BY rank, entry.at DESC"
        }
        None => "SELECT id FROM entry WHERE ?1 IS NULL ORDER BY id DESC",
    };
    let mut ordered = connection.prepare_cached(ordered)?;
    let mut text = connection.prepare_cached("SELECT text FROM entry WHERE id = ?1")?;
    let mut ids = ordered.query([&query.indexed])?;
    while let Some(row) = ids.next()? {
        let id: i64 = row.get(0)?;
        let has_short_words = |row: &Row<'_>| {
            let text = row.get_ref(0)?.as_str()?;
            let mut words = query.short.iter();
            Ok(words.all(|word| text_match::find_short_word(text, word).is_some()))
        };
        let matches = query.short.is_empty() || text.query_row([id], has_short_words)?;
        if matches && !visit(id)? {
            break;
        }
    }
    Ok(())
}

/// `None` for a row with invalid ids, which this program never writes.
fn hit(connection: &Connection, query: &Query, id: i64) -> rusqlite::Result<Option<SearchHit>> {
    const COLUMNS: &str = "entry.session, session.project, session.title, entry.message, \
        entry.part, entry.kind, entry.at";
    let (text, from) = match query.indexed {
        Some(_) => (
            SNIPPET,
            "words JOIN entry ON entry.id = words.rowid
             JOIN session ON session.id = entry.session
             WHERE words MATCH :wanted AND words.rowid = :id",
        ),
        None => (
            "entry.text",
            "entry JOIN session ON session.id = entry.session
             WHERE :wanted IS NULL AND entry.id = :id",
        ),
    };
    let mut found = connection.prepare_cached(&format!("SELECT {COLUMNS}, {text} FROM {from}"))?;
    let mut rows = found.query(named_params! { ":wanted": query.indexed, ":id": id })?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let ids = (
        SessionId::parse(row.get_ref(0)?.as_str()?),
        ProjectId::parse(row.get_ref(1)?.as_str()?),
        MessageId::parse(row.get_ref(3)?.as_str()?),
        PartId::parse(row.get_ref(4)?.as_str()?),
    );
    let (Ok(session_id), Ok(project_id), Ok(message_id), Ok(part_id)) = ids else {
        return Ok(None);
    };
    let text = row.get_ref(7)?.as_str()?;
    let short = query.short.first();
    let place = short.and_then(|word| text_match::find_short_word(text, word));
    Ok(Some(SearchHit {
        session_id,
        project_id,
        title: row.get(2)?,
        message_id,
        part_id,
        kind: decode_kind(row.get(5)?),
        at: Millis(row.get(6)?),
        snippet: match (&query.indexed, place) {
            (None, Some(place)) => snippet::around(text, &place),
            _ => snippet::pieces(text),
        },
    }))
}
