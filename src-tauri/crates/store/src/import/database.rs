//! An SQLite database of the later versions.
//!
//! SQLite writes next to a database with a journal even to read it, so such a database is copied
//! together with its journal. One without a journal is opened as immutable.

mod newer;
mod rows;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lathe_import::Control;
use lathe_protocol::SessionId;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

use super::bundle::Bundle;
use super::staging::Staging;
use super::{Imported, Source, Unreadable, read_file, readable};
use crate::error::{IoContext, Result, StoreError, optional};
use crate::key::Key;
use crate::storage::{Storage, encode};
use rows::Rows;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// How often the copy of a database that changes meanwhile is repeated.
const COPY_ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(100);
/// Orphans: what they are, what their missing owner is, and the query that finds the owner's ids.
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
/// Far larger than any message.
const MAX_VALUE_BYTES: i32 = 256 * 1024 * 1024;

pub(super) struct Database {
    connection: Connection,
    /// The folder of the database, which may also have files that belong to it.
    folder: PathBuf,
}

pub(super) fn is_database(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    let opened = lathe_files::open(path).map_err(io::Error::from);
    let (file, _) = opened.doing("opening", path)?;
    file.take(MAGIC.len() as u64)
        .read_to_end(&mut start)
        .doing("reading", path)?;
    Ok(start == MAGIC)
}

impl Database {
    pub(super) fn open(path: &Path, staging: &Staging) -> Result<Database> {
        let folder = path.parent().unwrap_or(path).to_owned();
        // Behind a symlink, the journal lies next to the file itself.
        let path = &dunce::canonicalize(path).doing("looking at", path)?;
        let journal = with_suffix(path, "-wal");
        let journal_len = optional(fs::metadata(&journal)).doing("looking at", &journal)?;
        let connection = match journal_len.is_some_and(|file| file.len() > 0) {
            true => {
                let copy = copy_with_journal(path, &journal, staging.folder()?)?;
                Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)
            }
            false => Connection::open_with_flags(
                immutable_uri(path),
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
            ),
        };
        let connection = connection.map_err(database_error)?;
        connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
            .map_err(database_error)?;
        // A schema from outside must not be able to call functions.
        connection
            .execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
            .map_err(database_error)?;
        Ok(Database { connection, folder })
    }

    fn rows(&self) -> Rows<'_> {
        Rows(&self.connection)
    }

    /// The number of sessions that [`Database::import_newer`] would look at.
    pub(super) fn count_newer(&self) -> Result<usize> {
        newer::count(&self.rows())
    }

    /// Some of the later versions still store a session's diffs in a file.
    fn diffs(&self, id: &SessionId, row: &Map<String, Value>) -> Result<Option<Vec<u8>>> {
        if let Some(diffs) = rows::json_column(row, "summary_diffs") {
            return Ok(Some(encode(&diffs)?));
        }
        let path = Key::session_diff(id)?.file(&self.folder.join("storage"));
        let mut bytes = Vec::new();
        let found = optional(read_file(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.map(|()| bytes))
    }
}

impl Source for Database {
    fn list_sessions(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<Vec<SessionId>> {
        let rows = self.rows();
        let mut ids = Vec::new();
        // A database that version 2.0 began has no table of the older ones.
        let older = match (newer::has_tables(&rows)?, rows.has_table("message")?) {
            (true, true) => rows.all(&newer::older_ids(), [])?,
            (true, false) => Vec::new(),
            (false, _) => rows.all("SELECT id FROM session ORDER BY id", [])?,
        };
        for row in older {
            let text = rows::text(&row, "id");
            match SessionId::parse(text) {
                Ok(id) => ids.push(id),
                Err(bad) => unreadable.push(Unreadable::new("session", bad)),
            }
        }
        for (which, owner, sql) in ORPHANS {
            if !rows.has_table("message")? {
                break;
            }
            // A damaged page must not fail the import of the rest.
            let found = readable(which, rows.all(sql, []), unreadable);
            for row in found.unwrap_or_default() {
                let what = format!("{which} of {}", rows::text(&row, "id"));
                let why = format!("their {owner} is not there");
                unreadable.push(Unreadable::new(what, why));
            }
        }
        Ok(ids)
    }

    fn load_session(&mut self, id: &SessionId, unreadable: &mut Vec<Unreadable>) -> Result<Bundle> {
        let rows = self.rows();
        let Some(row) = rows.one("SELECT * FROM session WHERE id = ?1", id.as_str())? else {
            return Err(StoreError::Database("the session is gone".into()));
        };
        let session = rows::session(&row);
        let project = rows::text(&row, "project_id").to_owned();
        let key = Key::new(["session", &project, id.as_str()])?;
        let mut bundle = Bundle::new(&key, encode(&session)?, unreadable)?;
        let project_row = rows.one("SELECT * FROM project WHERE id = ?1", &project);
        let what = format!("project of {id}");
        if let Some(row) = readable(what, project_row, unreadable).flatten() {
            bundle.set_project(encode(&rows::project(&row))?, unreadable);
        }
        let messages = rows.messages(id)?;
        let mut parts = rows.parts(id, &messages, unreadable);
        for (message, info) in messages {
            let message_parts = parts.remove(&message).unwrap_or_default();
            bundle.add_message(&message, info, message_parts, unreadable);
        }
        let newer =
            readable(id.as_str(), rows.count_newer_messages(id), unreadable).unwrap_or_default();
        if bundle.messages.is_empty() && newer > 0 && !rows.has_table("session_v2")? {
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

    fn import_newer(
        &self,
        storage: &Storage,
        control: &Control,
        imported: &mut Imported,
    ) -> Result<()> {
        newer::import(&self.rows(), storage, control, imported)
    }
}

/// Copies both files in a consistent state. A journal that has only grown meanwhile is fine: SQLite
/// ignores an incomplete end.
fn copy_with_journal(path: &Path, journal: &Path, into: &Path) -> Result<PathBuf> {
    let target = into.join("source.db");
    for _ in 0..COPY_ATTEMPTS {
        let before = (size_and_time(path)?, journal_header(journal)?);
        fs::copy(path, &target).doing("copying", path)?;
        // The journal of an earlier attempt does not belong to this copy.
        let journal_copy = with_suffix(&target, "-wal");
        optional(fs::remove_file(&journal_copy)).doing("removing", &journal_copy)?;
        optional(fs::copy(journal, &journal_copy)).doing("copying", journal)?;
        if before == (size_and_time(path)?, journal_header(journal)?) {
            return Ok(target);
        }
        std::thread::sleep(PAUSE);
    }
    Err(StoreError::Busy {
        what: "the database".to_owned(),
        pid: None,
    })
}

/// It changes whenever SQLite starts to write the journal from its beginning again.
fn journal_header(journal: &Path) -> Result<Option<Vec<u8>>> {
    const HEADER_BYTES: u64 = 32;
    let opened = lathe_files::open(journal).map_err(io::Error::from);
    let Some((file, _)) = optional(opened).doing("opening", journal)? else {
        return Ok(None);
    };
    let mut header = Vec::new();
    let read = file.take(HEADER_BYTES).read_to_end(&mut header);
    read.doing("reading", journal)?;
    Ok(Some(header))
}

fn size_and_time(path: &Path) -> Result<Option<(u64, SystemTime)>> {
    let metadata = optional(fs::metadata(path)).doing("looking at", path)?;
    metadata
        .map(|file| Ok((file.len(), file.modified().doing("looking at", path)?)))
        .transpose()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A URI that makes SQLite use no lock, no journal and no shared memory.
fn immutable_uri(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from("file:");
    if !path.starts_with('/') {
        // An absolute path on Windows begins with a drive.
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

fn database_error(error: rusqlite::Error) -> StoreError {
    StoreError::Database(error.to_string())
}
