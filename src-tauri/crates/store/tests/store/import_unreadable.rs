//! What cannot be read of a source is listed, and the rest is imported.

use std::path::Path;

use lathe_protocol::SessionId;
use lathe_store::Imported;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::import::{part_types, state_of, unreadable_names};
use crate::import_database::{CHILD, SESSION, Source};
use crate::migrations::fixture;
use crate::support::*;

fn added_ids(imported: &Imported) -> Vec<&str> {
    let sessions = imported.added.iter();
    sessions.map(|session| session.id.as_str()).collect()
}

fn damaged_database() -> Vec<u8> {
    let source = Source::new("opencode-1.18.sql", false);
    let mut bytes = std::fs::read(source.file()).unwrap();
    bytes.truncate(5000);
    bytes[100..2000].fill(0x5a);
    bytes
}

fn foreign_database() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.db");
    let connection = Connection::open(&file).unwrap();
    connection
        .execute_batch("CREATE TABLE song (name text);")
        .unwrap();
    drop(connection);
    std::fs::read(file).unwrap()
}

#[tokio::test]
async fn a_damaged_database_is_reported_and_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("opencode.db");
    let bytes = damaged_database();
    std::fs::write(&file, &bytes).unwrap();
    let test = TestStore::new().await;
    let imported = test.store.import_from(&file).await.unwrap();
    assert_eq!(added_ids(&imported), [""; 0]);
    let named = [file.display().to_string()];
    assert_eq!(unreadable_names(&imported.unreadable), named.into());
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[tokio::test]
async fn a_damaged_database_does_not_stop_the_import_of_the_sources_beside_it() {
    let good = Source::new("opencode-1.18.sql", false);
    let bad = [
        ("opencode-aaa.db", damaged_database()),
        ("opencode-dev.db", Vec::new()),
        ("opencode-zzz.db", foreign_database()),
        (
            "opencode-zzzz.db",
            b"SQLite format 3\0 and no more".to_vec(),
        ),
    ];
    let source = fixture("opencode-1.1");
    std::fs::copy(good.file(), source.path().join("opencode.db")).unwrap();
    for (name, bytes) in &bad {
        std::fs::write(source.path().join(name), bytes).unwrap();
    }
    let before = state_of(source.path());
    let test = TestStore::new().await;

    let imported = test.store.import_from(source.path()).await.unwrap();
    assert_eq!(imported.added.len(), 5, "{:?}", imported.unreadable);
    let named = unreadable_names(&imported.unreadable);
    for (name, _) in &bad {
        let path = source.path().join(name).display().to_string();
        assert!(named.contains(&path), "{name} is not in {named:?}");
    }
    assert_eq!(state_of(source.path()), before);
}

/// A database with one overwritten page in a table, as a failing disk leaves it.
struct BadPage {
    source: Source,
    lost_message: String,
    other_message: String,
}

impl BadPage {
    /// Many messages, each with a part that fills a page or two.
    fn new() -> Self {
        let source = Source::new("opencode-1.18.sql", false);
        let connection = Connection::open(source.file()).unwrap();
        connection
            .execute_batch(
                "CREATE INDEX part_message_idx ON part (message_id);
                 CREATE INDEX part_session_idx ON part (session_id);",
            )
            .unwrap();
        let message = |number| format!("msg_b996eaf00{number:03}WWWWWWWWWWWWWW");
        for number in 0..40 {
            let id = message(number);
            let info = json!({
                "role": "user", "time": { "created": number }, "agent": "build",
                "model": { "providerID": "mock", "modelID": "m" },
            });
            let words = format!("{}{number}", "word ".repeat(600));
            let part = json!({ "type": "text", "text": words });
            connection
                .execute(
                    "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                    (&id, CHILD, 1_767_806_200_000_i64 + number, info.to_string()),
                )
                .unwrap();
            connection
                .execute(
                    "INSERT INTO part VALUES (?1, ?2, ?3, 1, 1, ?4)",
                    (
                        format!("prt_b996eaf00{number:03}WWWWWWWWWWWWWW"),
                        &id,
                        CHILD,
                        part.to_string(),
                    ),
                )
                .unwrap();
        }
        drop(connection);
        // The text of this part leads to the page that holds it.
        let mut bytes = std::fs::read(source.file()).unwrap();
        let mark = b"word 17\"";
        let at = bytes.windows(mark.len()).position(|words| words == mark);
        let page = at.unwrap() / 4096 * 4096;
        bytes[page..page + 4096].fill(0xff);
        std::fs::write(source.file(), bytes).unwrap();
        BadPage {
            source,
            lost_message: message(17),
            other_message: message(30),
        }
    }
}

#[tokio::test]
async fn a_bad_page_of_a_database_loses_only_the_rows_on_it() {
    let BadPage {
        source,
        lost_message,
        other_message,
    } = BadPage::new();
    let test = TestStore::new().await;
    let imported = test.store.import_from(&source.file()).await.unwrap();

    let mut ids = added_ids(&imported);
    ids.sort_unstable();
    assert_eq!(ids, [CHILD, SESSION], "{:?}", imported.unreadable);
    let named = unreadable_names(&imported.unreadable);
    assert!(
        named.contains(&format!("parts of {lost_message}")),
        "{named:?}"
    );
    let child = SessionId::parse(CHILD).unwrap();
    let page = test.store.messages(&child, None, 99).await.unwrap();
    assert_eq!(page.messages.len(), 40);
    let parts_of = |id: &str| {
        let mut messages = page.messages.iter();
        let message = messages.find(|message| message.info.id().as_str() == id);
        message.unwrap().parts.len()
    };
    assert_eq!((parts_of(&lost_message), parts_of(&other_message)), (0, 1));
    assert_eq!(part_types(&test, SESSION).await[0].len(), 5);
}

fn rule(action: &str) -> Value {
    json!({ "permission": "bash", "pattern": "*", "action": action })
}

/// Asserts that the rules which allow something were left out and reported.
fn assert_restricted(imported: &Imported, id: &str) {
    let mut sessions = imported.added.iter();
    let session = sessions.find(|session| session.id.as_str() == id).unwrap();
    let rules = serde_json::to_value(&session.permission).unwrap();
    assert_eq!(rules, json!([rule("deny"), rule("ask")]));
    let named = unreadable_names(&imported.unreadable);
    assert!(named.contains(&format!("permissions of {id}")), "{named:?}");
}

#[tokio::test]
async fn a_tree_may_restrict_permissions_but_not_grant_them() {
    let source = fixture("opencode-1.1");
    let id = "ses_46275e2c5ffeBBBBBBBBBBBBBB";
    let file = source
        .path()
        .join(format!("storage/session/global/{id}.json"));
    let mut session = value(&std::fs::read(&file).unwrap());
    session["permission"] = json!([rule("allow"), rule("deny"), rule("ask")]);
    session["horizon"] = json!("wide");
    std::fs::write(&file, session.to_string()).unwrap();
    let test = TestStore::new().await;
    let imported = test.store.import_from(source.path()).await.unwrap();
    assert_restricted(&imported, id);
    let stored = std::fs::read(test.file(&format!("session/global/{id}.json"))).unwrap();
    session["permission"] = json!([rule("deny"), rule("ask")]);
    assert_eq!(value(&stored), session);
}

#[tokio::test]
async fn a_database_may_restrict_permissions_but_not_grant_them() {
    let source = Source::new("opencode-1.18.sql", false);
    let rules = json!([rule("allow"), rule("deny"), rule("ask")]);
    let connection = Connection::open(source.file()).unwrap();
    connection
        .execute(
            "UPDATE session SET permission = ?1 WHERE id = ?2",
            (rules.to_string(), SESSION),
        )
        .unwrap();
    drop(connection);
    let test = TestStore::new().await;
    let imported = test.store.import_from(&source.file()).await.unwrap();
    assert_restricted(&imported, SESSION);
}

/// Runs a test without root's right to read everything.
///
/// It changes the user of a new thread, which the threads of its runtime inherit. A child process
/// would, between fork and exec, hold the file locks of every store that other tests have open.
#[cfg(target_os = "linux")]
fn without_root<T: Future<Output = ()>>(test: impl FnOnce() -> T + Send + 'static) {
    let thread = std::thread::spawn(|| {
        if rustix::process::getuid().is_root() {
            rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65534)).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(test());
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// A path without any permission. Dropping this gives them back, so that the test folder can be
/// removed.
#[cfg(target_os = "linux")]
struct Inaccessible(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl Inaccessible {
    fn new(path: &Path) -> Self {
        set_mode(path, 0o000);
        Inaccessible(path.to_owned())
    }
}

#[cfg(target_os = "linux")]
impl Drop for Inaccessible {
    fn drop(&mut self) {
        set_mode(&self.0, 0o700);
    }
}

#[cfg(target_os = "linux")]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn unreadable_files_of_an_old_layout_are_listed_and_the_rest_is_imported() {
    without_root(async || {
        let id = "ses_6f1d2c3b4affeQwErTyUiOpAsD";
        let records = "project/home-user-app/storage/session";
        let parts = format!("{records}/part/{id}/msg_90e2d3c4b002bbbbbbbbbbbbbb");
        let message = format!("{records}/message/{id}/msg_90e2d3c4b001aaaaaaaaaaaaaa.json");
        let source = fixture("version-0");
        let link = format!("{records}/info/ses_6f1d2c3b4afflinked000000000.json");
        std::os::unix::fs::symlink("nowhere", source.path().join(&link)).unwrap();
        let other = source.path().join("project/other/storage");
        std::fs::create_dir_all(&other).unwrap();
        let closed = [parts.as_str(), &message, "project/other/storage"]
            .map(|path| Inaccessible::new(&source.path().join(path)));

        let test = TestStore::new().await;
        let imported = test.store.import_from(source.path()).await.unwrap();
        assert_eq!(added_ids(&imported), [id], "{:?}", imported.unreadable);
        assert_eq!(part_types(&test, id).await, [Vec::<String>::new()]);
        let named = unreadable_names(&imported.unreadable);
        for path in [parts.as_str(), &message, &link, "project/other/storage"] {
            let path = source.path().join(path).display().to_string();
            assert!(named.contains(&path), "{path} is not in {named:?}");
        }
        drop(closed);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn unreadable_files_of_a_tree_are_listed_and_the_rest_is_imported() {
    without_root(async || {
        let source = fixture("opencode-1.1");
        let storage = source.path().join("storage");
        let project = storage.join("session/closed");
        std::fs::create_dir(&project).unwrap();
        let todos = storage.join("todo/ses_46275e2c6ffeAAAAAAAAAAAAAA.json");
        std::fs::create_dir_all(todos.parent().unwrap()).unwrap();
        std::fs::write(&todos, "[]").unwrap();
        let parts = storage.join("part/msg_b996eaebd001AAAAAAAAAAAAAA");
        let closed = [&project, &todos, &parts].map(|path| Inaccessible::new(path));

        let test = TestStore::new().await;
        let imported = test.store.import_from(source.path()).await.unwrap();
        assert_eq!(imported.added.len(), 3, "{:?}", imported.unreadable);
        let named = unreadable_names(&imported.unreadable);
        for what in [
            "sessions of closed",
            "todo/ses_46275e2c6ffeAAAAAAAAAAAAAA",
            "parts of msg_b996eaebd001AAAAAAAAAAAAAA",
        ] {
            assert!(named.contains(what), "{what} is not in {named:?}");
        }
        drop(closed);
    });
}

#[cfg(unix)]
#[tokio::test]
async fn files_whose_names_are_not_ids_are_listed() {
    let source = fixture("opencode-1.1");
    let storage = source.path().join("storage");
    let odd = [
        "part/msg_b996eaebd001AAAAAAAAAAAAAA/prt_bad name.json",
        "message/ses_46275e2c6ffeAAAAAAAAAAAAAA/msg .json",
        "session/global/ses_?.json",
    ];
    for name in odd {
        std::fs::write(storage.join(name), "{}").unwrap();
    }
    let linked = storage.join("session/linked");
    std::os::unix::fs::symlink(storage.join("session/global"), linked).unwrap();
    let test = TestStore::new().await;
    let imported = test.store.import_from(source.path()).await.unwrap();
    assert_eq!(imported.added.len(), 3);
    let named = unreadable_names(&imported.unreadable);
    for what in odd.into_iter().chain(["session/linked"]) {
        assert!(named.contains(what), "{what} is not in {named:?}");
    }
}

#[tokio::test]
async fn a_record_that_does_not_match_its_schema_is_listed_with_the_place() {
    let exported = json!({
        "info": {
            "id": "ses_exported", "projectID": "global", "directory": "/p", "title": "t",
            "version": "1", "time": { "created": 1, "updated": 1 },
        },
        "messages": [
            {
                "info": {
                    "id": "msg_bad", "sessionID": "ses_exported", "role": "user",
                    "time": { "created": "today" },
                },
            },
            {
                "info": {
                    "id": "msg_good", "sessionID": "ses_exported", "role": "user",
                    "time": { "created": 1 },
                },
            },
        ],
        "todos": [{ "content": "a", "status": "pending" }, { "content": 1, "status": "pending" }],
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("exported.json");
    std::fs::write(&file, exported.to_string()).unwrap();
    let test = TestStore::new().await;
    let imported = test.store.import_from(&file).await.unwrap();
    assert_eq!(added_ids(&imported), ["ses_exported"]);
    let unreadable = imported.unreadable.iter();
    let unreadable: Vec<_> = unreadable
        .map(|one| (one.what.as_str(), one.why.as_str()))
        .collect();
    assert_eq!(
        unreadable,
        [
            ("message msg_bad", "/time/created: must be number"),
            ("todo/ses_exported", "/content: must be string"),
        ]
    );
}
