//! Converts rows to the JSON records that the same program wrote earlier, and still exports.
//!
//! Versions differ in their columns: all columns are read, and one that is not known here becomes
//! a field of the same name.

use std::collections::HashMap;

use lathe_protocol::SessionId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params};
use serde_json::{Map, Value, json};

use super::database_error;
use crate::error::Result;
use crate::import::bundle::Raw;
use crate::import::{Unreadable, readable};
use crate::json_format;
use crate::storage::encode;

type Row = Map<String, Value>;

pub(super) struct Rows<'a>(pub(super) &'a Connection);

impl Rows<'_> {
    pub(super) fn all(&self, sql: &str, params: impl Params) -> Result<Vec<Row>> {
        let mut statement = self.0.prepare(sql).map_err(database_error)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query(params).map_err(database_error)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(database_error)? {
            let mut fields = Row::new();
            for (at, name) in names.iter().enumerate() {
                let value = value(row.get_ref(at).map_err(database_error)?);
                if !value.is_null() {
                    fields.insert(name.clone(), value);
                }
            }
            found.push(fields);
        }
        Ok(found)
    }

    pub(super) fn one(&self, sql: &str, id: &str) -> Result<Option<Row>> {
        Ok(self.all(sql, [id])?.into_iter().next())
    }

    pub(super) fn messages(&self, session: &SessionId) -> Result<Vec<(String, Raw)>> {
        let sql = "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id";
        let rows = self.all(sql, [session.as_str()])?;
        let messages = rows.into_iter().map(|row| {
            let id = text(&row, "id").to_owned();
            let owners = [("id", id.as_str()), ("sessionID", session.as_str())];
            let info = record(&row, &owners);
            (id, info)
        });
        Ok(messages.collect())
    }

    /// The parts of a session by message. If one query for all of them fails, the parts of each
    /// message are queried separately: a damaged page holds the parts of few messages.
    pub(super) fn parts(
        &self,
        session: &SessionId,
        messages: &[(String, Raw)],
        unreadable: &mut Vec<Unreadable>,
    ) -> HashMap<String, Vec<(String, Raw)>> {
        let sql = "SELECT id, message_id, data FROM part WHERE session_id = ?1 ORDER BY id";
        let rows = self.all(sql, [session.as_str()]).unwrap_or_else(|_| {
            // The `+` keeps the query planner from using the index that has just failed.
            let sql = "SELECT id, message_id, data FROM part WHERE message_id = ?2 AND +session_id = ?1 ORDER BY id";
            let by_message = messages.iter().flat_map(|(message, _)| {
                let rows = self.all(sql, [session.as_str(), message]);
                readable(format!("parts of {message}"), rows, unreadable).unwrap_or_default()
            });
            by_message.collect()
        });
        let mut parts: HashMap<String, Vec<_>> = HashMap::new();
        for row in rows {
            let (id, message) = (text(&row, "id").to_owned(), text(&row, "message_id"));
            let owners = [
                ("id", id.as_str()),
                ("sessionID", session.as_str()),
                ("messageID", message),
            ];
            let part = record(&row, &owners);
            parts
                .entry(message.to_owned())
                .or_default()
                .push((id, part));
        }
        parts
    }

    /// The number of messages in the table that the newest versions introduced.
    pub(super) fn count_newer_messages(&self, session: &SessionId) -> Result<i64> {
        if !self.has_table("session_message")? {
            return Ok(0);
        }
        let sql = "SELECT count(*) AS n FROM session_message WHERE session_id = ?1";
        let row = self.one(sql, session.as_str())?;
        Ok(row.and_then(|row| row.get("n")?.as_i64()).unwrap_or(0))
    }

    pub(super) fn todos(&self, session: &SessionId) -> Result<Option<Value>> {
        if !self.has_table("todo")? {
            return Ok(None);
        }
        let sql = "SELECT * FROM todo WHERE session_id = ?1 ORDER BY position";
        let mut rows = self.all(sql, [session.as_str()])?;
        for row in &mut rows {
            for column in ["session_id", "position", "time_created", "time_updated"] {
                row.shift_remove(column);
            }
        }
        Ok((!rows.is_empty()).then(|| rows.into_iter().map(Value::Object).collect()))
    }

    pub(super) fn has_table(&self, name: &str) -> Result<bool> {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?1";
        Ok(self.one(sql, name)?.is_some())
    }
}

/// A session as the same version exports it.
pub(super) fn session(row: &Row) -> Value {
    let mut columns = row.clone();
    let mut take = |name: &str| columns.shift_remove(name);
    let mut info = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            info.insert(name.to_owned(), value);
        }
    };
    for (field, column) in [
        ("id", "id"),
        ("slug", "slug"),
        ("projectID", "project_id"),
        ("workspaceID", "workspace_id"),
        ("directory", "directory"),
        ("path", "path"),
        ("parentID", "parent_id"),
        ("title", "title"),
        ("agent", "agent"),
    ] {
        put(field, take(column));
    }
    put("model", take("model").map(parse_json));
    put("version", take("version"));
    // The diffs become a record of their own.
    take("summary_diffs");
    let counts = ["additions", "deletions", "files"];
    let counts = counts.map(|count| (count, take(&format!("summary_{count}"))));
    if counts.iter().any(|(_, count)| count.is_some()) {
        let counts = counts.map(|(name, count)| (name.to_owned(), count.unwrap_or(0.into())));
        put("summary", Some(counts.into_iter().collect()));
    }
    put("cost", take("cost"));
    put("tokens", tokens(&mut take));
    put("share", take("share_url").map(|url| json!({ "url": url })));
    for column in ["metadata", "revert", "permission"] {
        put(column, take(column).map(parse_json));
    }
    put(
        "time",
        Some(times(
            &mut take,
            &["created", "updated", "compacting", "archived"],
        )),
    );
    info.extend(columns);
    Value::Object(info)
}

fn tokens(take: &mut impl FnMut(&str) -> Option<Value>) -> Option<Value> {
    let [input, output, reasoning, read, write] =
        ["input", "output", "reasoning", "cache_read", "cache_write"]
            .map(|kind| take(&format!("tokens_{kind}")));
    let cache = json!({ "read": read.unwrap_or(0.into()), "write": write.unwrap_or(0.into()) });
    Some(json!({
        "input": input?, "output": output?, "reasoning": reasoning.unwrap_or(0.into()),
        "cache": cache,
    }))
}

pub(super) fn project(row: &Row) -> Value {
    let mut columns = row.clone();
    let mut take = |name: &str| columns.shift_remove(name);
    let mut info = Map::new();
    for field in ["id", "worktree", "vcs", "name"] {
        info.extend(take(field).map(|value| (field.to_owned(), value)));
    }
    let icon = [
        ("url", "icon_url"),
        ("override", "icon_url_override"),
        ("color", "icon_color"),
    ];
    let icon: Map<_, _> = icon
        .into_iter()
        .filter_map(|(field, column)| Some((field.to_owned(), take(column)?)))
        .collect();
    if !icon.is_empty() {
        info.insert("icon".to_owned(), Value::Object(icon));
    }
    for field in ["sandboxes", "commands"] {
        info.extend(take(field).map(|value| (field.to_owned(), parse_json(value))));
    }
    let time = times(&mut take, &["created", "updated", "initialized"]);
    info.insert("time".to_owned(), time);
    info.extend(columns);
    Value::Object(info)
}

fn times(take: &mut impl FnMut(&str) -> Option<Value>, names: &[&str]) -> Value {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), take(&format!("time_{name}"))?)))
        .collect()
}

pub(super) fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).and_then(Value::as_str).unwrap_or_default()
}

/// A column that holds JSON.
pub(super) fn json_column(row: &Row, column: &str) -> Option<Value> {
    row.get(column).cloned().map(parse_json)
}

/// Text that is not JSON stays text.
fn parse_json(value: Value) -> Value {
    match value {
        Value::String(text) => {
            json_format::from_bytes(text.as_bytes()).unwrap_or(Value::String(text))
        }
        other => other,
    }
}

/// The record in the column `data`, with its ids, which are columns of their own.
fn record(row: &Row, ids: &[(&str, &str)]) -> Raw {
    let data: Map<String, Value> =
        json_format::from_bytes(text(row, "data").as_bytes()).map_err(|error| error.to_string())?;
    let mut record: Map<String, Value> = ids
        .iter()
        .map(|(name, id)| ((*name).to_owned(), (*id).into()))
        .collect();
    for (name, value) in data {
        record.entry(name).or_insert(value);
    }
    encode(&record).map_err(|error| error.to_string())
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        // No known column holds bytes.
        ValueRef::Blob(_) => Value::Null,
    }
}
