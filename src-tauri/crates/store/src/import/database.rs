//! An SQLite database of the later versions.
//!
//! Reading a database that has a journal writes beside it. Such a one is copied together with
//! its journal; one without is opened as what it is, unchanging.

mod rows;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lathe_protocol::SessionId;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

use super::bundle::Bundle;
use super::staging::Staging;
use super::{Source, Unreadable, read_file, readable};
use crate::error::{IoContext, Result, StoreError, optional};
use crate::key::Key;
use crate::storage::encode;
use rows::Rows;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// How often a database that changes under our hands is copied anew.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(100);
/// What belongs to nobody: its kind, what it would belong to, and where it is found.
const ORPHANS: [(&str, &str, &str); 2] = [
    (
        "messages",
        "session",
        "SELECT DISTINCT session_id AS id FROM message WHERE session_id NOT IN (SELECT id FROM session)",
    ),
    (
        "parts",
        "message",
        "SELECT DISTINCT message_id AS id FROM part WHERE message_id NOT IN (SELECT id FROM message)",
    ),
];
/// No message comes near this; a value that does is no message.
const LARGEST_VALUE: i32 = 256 * 1024 * 1024;

pub(super) struct Database {
    connection: Connection,
    /// Where the files lie that the database's program keeps beside it.
    folder: PathBuf,
}

pub(super) fn is_database(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    let file = fs::File::open(path).doing("opening", path)?;
    file.take(MAGIC.len() as u64)
        .read_to_end(&mut start)
        .doing("reading", path)?;
    Ok(start == MAGIC)
}

impl Database {
    pub(super) fn open(path: &Path, staging: &Staging) -> Result<Database> {
        let folder = path.parent().unwrap_or(path).to_owned();
        // A link may lead to it, and its journal lies where the file itself is.
        let path = &dunce::canonicalize(path).doing("looking at", path)?;
        let journal = beside(path, "-wal");
        let journal_len = optional(fs::metadata(&journal)).doing("looking at", &journal)?;
        let connection = match journal_len.is_some_and(|file| file.len() > 0) {
            true => {
                let copy = copy(path, &journal, staging.folder()?)?;
                Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)
            }
            false => Connection::open_with_flags(
                unchanging(path),
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
            ),
        };
        let connection = connection.map_err(failed)?;
        connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
            .map_err(failed)?;
        // A schema from outside must not be able to call anything.
        connection
            .execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
            .map_err(failed)?;
        Ok(Database { connection, folder })
    }

    fn rows(&self) -> Rows<'_> {
        Rows(&self.connection)
    }

    /// Some of the later versions still keep a session's diffs in a file.
    fn diffs(&self, id: &SessionId, row: &Map<String, Value>) -> Result<Option<Vec<u8>>> {
        if let Some(diffs) = rows::json(row, "summary_diffs") {
            return Ok(Some(encode(&diffs)?));
        }
        let path = Key::session_diff(id)?.file(&self.folder.join("storage"));
        let mut bytes = Vec::new();
        let found = optional(read_file(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.map(|()| bytes))
    }
}

impl Source for Database {
    fn sessions(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<Vec<SessionId>> {
        let rows = self.rows();
        let mut ids = Vec::new();
        for row in rows.all("SELECT id FROM session ORDER BY id", [])? {
            let text = rows::text(&row, "id");
            match SessionId::parse(text) {
                Ok(id) => ids.push(id),
                Err(bad) => unreadable.push(Unreadable::new("session", bad)),
            }
        }
        for (which, owner, sql) in ORPHANS {
            // Only a list of what is nobody's: a page that is bad must not hide the rest.
            let found = readable(which, rows.all(sql, []), unreadable);
            for row in found.unwrap_or_default() {
                let what = format!("{which} of {}", rows::text(&row, "id"));
                let why = format!("their {owner} is not there");
                unreadable.push(Unreadable::new(what, why));
            }
        }
        Ok(ids)
    }

    fn bundle(&mut self, id: &SessionId, unreadable: &mut Vec<Unreadable>) -> Result<Bundle> {
        let rows = self.rows();
        let Some(row) = rows.one("SELECT * FROM session WHERE id = ?1", id.as_str())? else {
            return Err(StoreError::Database("the session is gone".into()));
        };
        let session = rows::session(&row);
        let project = rows::text(&row, "project_id").to_owned();
        let key = Key::new(["session", &project, id.as_str()])?;
        let mut bundle = Bundle::new(&key, encode(&session)?, unreadable)?;
        let row_of_project = rows.one("SELECT * FROM project WHERE id = ?1", &project);
        let what = format!("project of {id}");
        if let Some(row) = readable(what, row_of_project, unreadable).flatten() {
            bundle.set_project(encode(&rows::project(&row))?, unreadable);
        }
        let messages = rows.messages(id)?;
        let mut parts = rows.parts(id, &messages, unreadable);
        for (message, info) in messages {
            let of_message = parts.remove(&message).unwrap_or_default();
            bundle.add_message(&message, info, of_message, unreadable);
        }
        let newer = readable(id.as_str(), rows.newer_messages(id), unreadable).unwrap_or_default();
        if bundle.messages.is_empty() && newer > 0 {
            let why = format!("its {newer} messages are of a form that is not known here");
            unreadable.push(Unreadable::new(id.as_str(), why));
        }
        let todos = readable(format!("todos of {id}"), rows.todos(id), unreadable);
        if let Some(todos) = todos.flatten() {
            bundle.add_todos(encode(&todos)?, unreadable);
        }
        let diffs = self.diffs(id, &row);
        if let Some(diffs) = readable(format!("diffs of {id}"), diffs, unreadable).flatten() {
            bundle.add_diffs(diffs, unreadable);
        }
        Ok(bundle)
    }
}

/// Both files as they are at one moment. A journal that has only grown since is as good: its
/// tail is complete or does not count.
fn copy(path: &Path, journal: &Path, into: &Path) -> Result<PathBuf> {
    let target = into.join("source.db");
    for _ in 0..TRIES {
        let before = (stamp(path)?, round(journal)?);
        fs::copy(path, &target).doing("copying", path)?;
        // That of an earlier try is no journal of this one.
        let journal_copy = beside(&target, "-wal");
        optional(fs::remove_file(&journal_copy)).doing("removing", &journal_copy)?;
        optional(fs::copy(journal, &journal_copy)).doing("copying", journal)?;
        if before == (stamp(path)?, round(journal)?) {
            return Ok(target);
        }
        std::thread::sleep(PAUSE);
    }
    Err(StoreError::Busy {
        what: "the database".to_owned(),
        pid: None,
    })
}

/// What a journal begins with: it changes whenever the journal is written from its start again.
fn round(journal: &Path) -> Result<Option<Vec<u8>>> {
    const HEADER: u64 = 32;
    let Some(file) = optional(fs::File::open(journal)).doing("opening", journal)? else {
        return Ok(None);
    };
    let mut header = Vec::new();
    let read = file.take(HEADER).read_to_end(&mut header);
    read.doing("reading", journal)?;
    Ok(Some(header))
}

fn stamp(path: &Path) -> Result<Option<(u64, SystemTime)>> {
    let metadata = optional(fs::metadata(path)).doing("looking at", path)?;
    metadata
        .map(|file| Ok((file.len(), file.modified().doing("looking at", path)?)))
        .transpose()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The path as SQLite takes it with options: no lock, no journal, no shared memory.
fn unchanging(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from("file:");
    if !path.starts_with('/') {
        // A Windows drive: the path is a whole one.
        uri.push('/');
    }
    for c in path.chars() {
        match c {
            '%' | '?' | '#' => uri.push_str(&format!("%{:02x}", u32::from(c))),
            c => uri.push(c),
        }
    }
    uri + "?immutable=1"
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Database(error.to_string())
}
