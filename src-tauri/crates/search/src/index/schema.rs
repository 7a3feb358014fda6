//! The tables, and the file that holds them.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rusqlite::Connection;

/// An index of another version is replaced by an empty one.
const VERSION: i64 = 3;

/// `words` holds no text of its own: it points into `entry`, and triggers keep the two in step.
/// `IF NOT EXISTS`, because a second process may create the tables at the same moment.
///
/// The tokens are trigrams, not words: code is full of words inside words (`createSession`), and
/// some scripts put no spaces between words. It takes twice the space and is as fast.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, project TEXT NOT NULL, title TEXT NOT NULL, mark INTEGER)
        WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session TEXT NOT NULL, at INTEGER NOT NULL, stamp INTEGER NOT NULL)
        WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS message_session ON message (session);
    CREATE TABLE IF NOT EXISTS entry (
        id INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        message TEXT NOT NULL,
        part TEXT NOT NULL,
        kind INTEGER NOT NULL,
        at INTEGER NOT NULL,
        place INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS entry_message ON entry (message);
    CREATE INDEX IF NOT EXISTS entry_order ON entry (session, at, message, place);
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
        text, content = 'entry', content_rowid = 'id',
        tokenize = 'trigram remove_diacritics 1'
    );
    CREATE TRIGGER IF NOT EXISTS entry_added AFTER INSERT ON entry BEGIN
        INSERT INTO words (rowid, text) VALUES (new.id, new.text);
    END;
    CREATE TRIGGER IF NOT EXISTS entry_removed AFTER DELETE ON entry BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.id, old.text);
    END;
";

pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(32);
    // The index can be rebuilt after a power cut, so it must not slow down a turn by syncing.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000;",
    )?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == 0 {
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
        ))?;
    } else if version != VERSION {
        return Err(rusqlite::Error::InvalidQuery);
    }
    // Reading one row of each table detects a database of another program.
    for table in ["session", "message", "entry", "words"] {
        connection.query_row(
            &format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)"),
            [],
            |_| Ok(()),
        )?;
    }
    Ok(connection)
}

/// Removes the file and the companions that SQLite creates next to it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
