//! Over every session. The index says where long words stand; short ones are looked for in the
//! texts themselves, in those that have the long ones or else in all, newest first.

use std::collections::HashSet;

use lathe_protocol::ipc::SearchHit;
use lathe_protocol::{MessageId, Millis, PartId, ProjectId, SessionId};
use rusqlite::{Connection, Row, named_params};

use super::{Index, kind_of};
use crate::error::Result;
use crate::query::Query;
use crate::{find, snippet};

/// As many letters as SQLite gives: it counts them by threes that overlap.
const SNIPPET: &str = "snippet(words, 0, char(2), char(3), '…', 64)";

impl Index {
    /// The best places for what was typed, over every session.
    pub fn search(&self, typed: &str, limit: usize) -> Result<Vec<SearchHit>> {
        let Some(query) = Query::new(typed) else {
            return Ok(Vec::new());
        };
        self.run(|connection| {
            let mut hits = Vec::new();
            // The order first, and the texts only of those that are shown.
            each_place(connection, &query, |id| {
                hits.extend(hit(connection, &query, id)?);
                Ok(hits.len() < limit)
            })?;
            Ok(hits)
        })
    }

    /// The sessions where what was typed stands somewhere.
    pub fn sessions_with(&self, typed: &str) -> Result<HashSet<SessionId>> {
        let Some(query) = Query::new(typed) else {
            return Ok(HashSet::new());
        };
        self.run(|connection| {
            let mut found = HashSet::new();
            let mut of = connection.prepare_cached("SELECT session FROM entry WHERE id = ?1")?;
            each_place(connection, &query, |id| {
                let session = |row: &Row<'_>| Ok(SessionId::parse(row.get_ref(0)?.as_str()?).ok());
                found.extend(of.query_row([id], session)?);
                Ok(true)
            })?;
            Ok(found)
        })
    }
}

/// Every entry that holds all of it, the best first, until nobody wants more.
fn each_place(
    connection: &Connection,
    query: &Query,
    mut tell: impl FnMut(i64) -> rusqlite::Result<bool>,
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
        let stands = |row: &Row<'_>| {
            let text = row.get_ref(0)?.as_str()?;
            let all = &mut query.short.iter();
            Ok(all.all(|word| find::word(text, word).is_some()))
        };
        let fits = query.short.is_empty() || text.query_row([id], stands)?;
        if fits && !tell(id)? {
            break;
        }
    }
    Ok(())
}

/// `None` for a row whose ids are none: nothing of ours wrote it.
fn hit(connection: &Connection, query: &Query, id: i64) -> rusqlite::Result<Option<SearchHit>> {
    const COLUMNS: &str = "entry.session, session.project, session.title, entry.message, \
        entry.part, entry.kind, entry.at";
    let (said, from) = match query.indexed {
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
    let mut found = connection.prepare_cached(&format!("SELECT {COLUMNS}, {said} FROM {from}"))?;
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
    let said = row.get_ref(7)?.as_str()?;
    let place = query.short.first().and_then(|word| find::word(said, word));
    Ok(Some(SearchHit {
        session_id,
        project_id,
        title: row.get(2)?,
        message_id,
        part_id,
        kind: kind_of(row.get(5)?),
        at: Millis(row.get(6)?),
        snippet: match (&query.indexed, place) {
            (None, Some(place)) => snippet::around(said, &place),
            _ => snippet::pieces(said),
        },
    }))
}
