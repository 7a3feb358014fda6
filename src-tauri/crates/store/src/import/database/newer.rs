//! The tables of version 2.0: `session_v2` and `session_message`.
//!
//! The version before left its sessions in the older tables, and the migration to the new ones
//! may have missed messages. A session is read from the tables that have more of it.

use lathe_import::opencode::{MessageRow, SessionRow, import_session};
use lathe_import::{Control, Progress, Report};
use lathe_protocol::{Millis, SessionId};
use rusqlite::types::ValueRef;
use serde_json::Value;

use super::database_error;
use super::rows::{Rows, text};
use crate::error::Result;
use crate::import::foreign::{StoreWriter, add_report};
use crate::import::{Imported, Unreadable};
use crate::json_format;
use crate::storage::Storage;

const TABLES: [&str; 2] = ["session_v2", "session_message"];
/// Whether the newer tables have at least as many messages of the session `s`.
const HAS_MORE: &str = "(SELECT count(*) FROM session_message n WHERE n.session_id = s.id \
     AND n.type IN ('user', 'assistant')) >= \
     (SELECT count(*) FROM message o WHERE o.session_id = s.id)";

pub(super) fn count(rows: &Rows<'_>) -> Result<usize> {
    Ok(sessions(rows)?.len())
}

pub(super) fn has_tables(rows: &Rows<'_>) -> Result<bool> {
    Ok(rows.has_table(TABLES[0])? && rows.has_table(TABLES[1])?)
}

/// The sessions of the older table that are not read here.
pub(super) fn older_ids() -> String {
    format!(
        "SELECT id FROM session s WHERE NOT (id IN (SELECT id FROM session_v2) AND {HAS_MORE}) \
         ORDER BY id"
    )
}

fn sessions(rows: &Rows<'_>) -> Result<Vec<serde_json::Map<String, Value>>> {
    if !has_tables(rows)? {
        return Ok(Vec::new());
    }
    let chosen = match rows.has_table("message")? {
        true => format!(" WHERE {HAS_MORE}"),
        false => String::new(),
    };
    let sql = format!("SELECT * FROM session_v2 s{chosen} ORDER BY time_created, id");
    rows.all(&sql, [])
}

pub(super) fn import(
    rows: &Rows<'_>,
    storage: &Storage,
    control: &Control,
    imported: &mut Imported,
) -> Result<()> {
    let found = sessions(rows)?;
    let mut progress = Progress {
        files: found.len(),
        ..Progress::default()
    };
    let mut writer = StoreWriter::new(storage);
    let mut report = Report::default();
    for row in found {
        match session(&row) {
            Ok(session) => {
                let messages = messages(rows, &session.id)?;
                import_session(
                    session,
                    messages.into_iter(),
                    &mut writer,
                    &mut report,
                    control,
                    &mut progress,
                )?;
            }
            Err(why) => imported.unreadable.push(Unreadable::new("session", why)),
        }
        progress.done += 1;
        control.report(progress);
        if report.stopped {
            break;
        }
    }
    writer.finish(imported)?;
    add_report(imported, report);
    Ok(())
}

fn session(row: &serde_json::Map<String, Value>) -> Result<SessionRow, String> {
    let id = |column: &str| match text(row, column) {
        "" => Ok(None),
        id => SessionId::parse(id)
            .map(Some)
            .map_err(|error| error.to_string()),
    };
    let time = |column: &str| row.get(column).and_then(Value::as_i64);
    let title = Some(text(row, "title")).filter(|title| !title.is_empty());
    Ok(SessionRow {
        id: id("id")?.ok_or("it has no id")?,
        parent: id("parent_id")?,
        forked_from: id("fork_session_id")?,
        directory: text(row, "directory").to_owned(),
        title: title.map(str::to_owned),
        version: text(row, "version").to_owned(),
        created: Millis(time("time_created").unwrap_or(1)),
        updated: Millis(time("time_updated").unwrap_or(1)),
        is_archived: time("time_archived").is_some(),
    })
}

fn messages(rows: &Rows<'_>, session: &SessionId) -> Result<Vec<MessageRow>> {
    let sql = "SELECT id, type, time_created, data FROM session_message \
               WHERE session_id = ?1 ORDER BY seq, id";
    let mut statement = rows.0.prepare(sql).map_err(database_error)?;
    let read = statement.query_map([session.as_str()], |row| {
        // A column of another type is damage of this row only.
        let bytes = |column: usize| match row.get_ref(column)? {
            ValueRef::Text(text) => Ok::<_, rusqlite::Error>(text),
            _ => Ok(&b""[..]),
        };
        let words = |column| bytes(column).map(|text| String::from_utf8_lossy(text).into_owned());
        Ok(MessageRow {
            id: words(0)?,
            kind: words(1)?,
            created: row.get_ref(2)?.as_i64().ok().map(Millis),
            data: json_format::from_bytes(bytes(3)?).map_err(|error| error.to_string()),
        })
    });
    let mut found = Vec::new();
    for row in read.map_err(database_error)? {
        found.push(row.map_err(database_error)?);
    }
    Ok(found)
}
