//! Databases of later versions are imported without changing them.

use std::path::PathBuf;

use lathe_protocol::{SessionId, Todo};
use lathe_store::{Key, SourceKind};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::import::{import_fixture, part_types, state_of, unreadable_names};
use crate::support::*;

pub const SESSION: &str = "ses_46275e2c0ffeImportedAllPar";
pub const CHILD: &str = "ses_46275e2beffeImportedTheChi";

/// A database made from an SQL script. An open connection keeps the journal beside it, as in a
/// running program.
pub struct Source {
    pub folder: TempDir,
    open: Option<Connection>,
}

impl Source {
    pub fn new(script: &str, journal: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("opencode.db")).unwrap();
        if journal {
            connection
                .pragma_update(None, "journal_mode", "wal")
                .unwrap();
        }
        connection.execute_batch(&import_fixture(script)).unwrap();
        let open = journal.then_some(connection);
        Source { folder, open }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("opencode.db")
    }
}

#[tokio::test]
async fn a_database_of_any_version_is_imported_with_all_its_records() {
    for (script, journal) in [
        ("opencode-1.2.sql", false),
        ("opencode-1.2.sql", true),
        ("opencode-1.18.sql", false),
        ("opencode-1.18.sql", true),
    ] {
        let source = Source::new(script, journal);
        let before = state_of(source.folder.path());
        assert_eq!(before.contains_key("opencode.db-wal"), journal);
        let test = TestStore::new().await;
        let imported = test.store.import_from(source.folder.path()).await.unwrap();
        assert_eq!(state_of(source.folder.path()), before, "{script}");
        assert_eq!((imported.added.len(), imported.already), (2, 0), "{script}");

        let document: Value = serde_json::from_str(&import_fixture("exported.json")).unwrap();
        let id = SessionId::parse(SESSION).unwrap();
        let page = test.store.messages(&id, None, 9).await.unwrap();
        assert_eq!(
            serde_json::to_value(page.messages).unwrap(),
            document["messages"]
        );
        let todos: Vec<Todo> = test
            .store
            .read(&Key::todo(&id).unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            serde_json::to_value(todos).unwrap(),
            json!([
                { "content": "read it", "status": "completed", "priority": "high" },
                { "content": "mend it", "status": "pending", "priority": "high" },
            ])
        );
        let diffs: Value = test
            .store
            .read(&Key::session_diff(&id).unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(diffs, document["messages"][0]["info"]["summary"]["diffs"]);
        let again = test.store.import_from(&source.file()).await.unwrap();
        assert_eq!((again.added, again.already), (Vec::new(), 2));
        drop(source.open);
    }
}

#[tokio::test]
async fn all_columns_of_a_session_are_imported_and_unreadable_rows_are_listed() {
    let source = Source::new("opencode-1.18.sql", false);
    let test = TestStore::new().await;
    let imported = test.store.import_from(&source.file()).await.unwrap();
    let session = test
        .store
        .session(&SessionId::parse(SESSION).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        serde_json::to_value(&session).unwrap(),
        json!({
            "id": SESSION,
            "slug": "calm-harbour",
            "projectID": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "directory": "/home/user/app",
            "path": "",
            "title": "Every kind of part",
            "agent": "build",
            "model": { "id": "m", "providerID": "mock" },
            "version": "1.18.33",
            "summary": { "additions": 2, "deletions": 1, "files": 1 },
            "cost": 0.0125,
            "tokens": { "input": 100, "output": 20, "reasoning": 5, "cache": { "read": 0, "write": 0 } },
            "share": { "url": "https://example.com/s/1" },
            "time": { "created": 1_767_806_134_140_i64, "updated": 1_767_806_143_140_i64 },
            "horizon": "wide",
        })
    );
    let child = test
        .store
        .session(&SessionId::parse(CHILD).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(child.parent_id, Some(session.id));
    let projects = test.store.projects().await.unwrap().items;
    assert_eq!(
        serde_json::to_value(projects).unwrap(),
        json!([{
            "id": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "worktree": "/home/user/app",
            "vcs": "git",
            "time": { "created": 1_767_806_129_140_i64, "updated": 1_767_806_134_140_i64 },
            "sandboxes": [],
            "icon": { "color": "teal" },
        }])
    );
    let expected = [
        "session".to_owned(),
        "part prt_b996eae001a2PPPPPPPPPPPPPP of msg_b996eae00021IIIIIIIIIIIIII".to_owned(),
        "parts of msg_b996eae00091IIIIIIIIIIIIII".to_owned(),
        format!("permissions of {CHILD}"),
        CHILD.to_owned(),
    ];
    assert_eq!(unreadable_names(&imported.unreadable), expected.into());
    assert_eq!(part_types(&test, SESSION).await[0].len(), 5);
}

#[tokio::test]
async fn a_database_is_found_and_counted_without_touching_it() {
    let source = Source::new("opencode-1.18.sql", true);
    let before = state_of(source.folder.path());
    let test = TestStore::new().await;
    let found = test
        .store
        .find_sources(vec![source.folder.path().to_owned()])
        .await;
    let found: Vec<_> = found
        .into_iter()
        .map(|one| (one.path, one.kind, one.sessions))
        .collect();
    assert_eq!(found, [(source.file(), SourceKind::Sqlite, 2)]);
    assert_eq!(state_of(source.folder.path()), before);
    assert!(!test.root().join("staging").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_database_behind_a_symlink_is_read_with_its_journal() {
    let source = Source::new("opencode-1.18.sql", true);
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("opencode.db");
    std::os::unix::fs::symlink(source.file(), link).unwrap();
    let test = TestStore::new().await;
    let imported = test.store.import_from(elsewhere.path()).await.unwrap();
    assert_eq!(imported.added.len(), 2);
}

#[tokio::test]
async fn a_database_in_a_folder_of_any_name_is_read() {
    let test = TestStore::new().await;
    let folder = test.root().join("a:b %41?#");
    std::fs::create_dir(&folder).unwrap();
    let source = Source::new("opencode-1.18.sql", false);
    std::fs::copy(source.file(), folder.join("opencode.db")).unwrap();
    let imported = test.store.import_from(&folder).await.unwrap();
    assert_eq!(imported.added.len(), 2);
}

/// The journal grows all the time, as while an answer streams in.
#[tokio::test]
async fn a_database_that_is_being_written_to_is_read_consistently() {
    let source = Source::new("opencode-1.18.sql", true);
    let writer = Connection::open(source.file()).unwrap();
    writer
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 0; CREATE TABLE ballast (bytes BLOB);
             INSERT INTO ballast VALUES (zeroblob(60000000)); PRAGMA wal_checkpoint(FULL);",
        )
        .unwrap();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writing = std::thread::spawn(move || {
        let mut written = 0;
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            writer
                .execute("INSERT INTO ballast VALUES (zeroblob(10))", [])
                .unwrap();
            written += 1;
        }
        written
    });
    let test = TestStore::new().await;
    let imported = test.store.import_from(&source.file()).await.unwrap();
    stop.send(()).unwrap();
    assert!(writing.join().unwrap() > 0);
    assert_eq!(imported.added.len(), 2, "{:?}", imported.unreadable);
}
