//! Trees and exported sessions of another program are imported without changing them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use lathe_protocol::{MessageId, SessionId};
use lathe_store::{FoundSource, SourceKind, StoreError, Unreadable};
use serde_json::{Value, json};

use crate::migrations::fixture;
use crate::support::*;

pub fn import_fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../tests/fixtures/import")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Bytes and modification times of every file below a folder, to see that none was touched.
pub fn state_of(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let with_time = |(name, bytes): (String, Vec<u8>)| {
        let modified = folder.join(&name).metadata().unwrap().modified().unwrap();
        (name, (bytes, modified))
    };
    tree(folder).into_iter().map(with_time).collect()
}

pub fn unreadable_names(unreadable: &[Unreadable]) -> BTreeSet<String> {
    unreadable.iter().map(|one| one.what.clone()).collect()
}

/// The part types of each message of a session.
pub async fn part_types(test: &TestStore, session: &str) -> Vec<Vec<String>> {
    let id = SessionId::parse(session).unwrap();
    let page = test.store.messages(&id, None, usize::MAX).await.unwrap();
    let kind = |part| {
        serde_json::to_value(part).unwrap()["type"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    page.messages
        .into_iter()
        .map(|message| message.parts.into_iter().map(kind).collect())
        .collect()
}

#[tokio::test]
async fn a_tree_is_imported_unchanged_and_its_source_is_not_touched() {
    let source = fixture("opencode-1.1");
    let before = state_of(source.path());
    let test = TestStore::new().await;

    let imported = test.store.import_from(source.path()).await.unwrap();
    assert_eq!((imported.added.len(), imported.already), (3, 0));
    let expected = [
        "messages of ses_46275e2c1ffeORPHANORPHANOR",
        "part prt_b996eaf2d001TRUNCATEDTRUN of msg_b996eae8d001AAAAAAAAAAAAAA",
        "parts of msg_b996eaf0d001ORPHANORPHANOR",
        "permissions of ses_46275e2c6ffeAAAAAAAAAAAAAA",
        "session/4b825dc642cb6eb9a060e54bf8d69288fbee4904/ses_46275e2c3ffeDDDDDDDDDDDDDD",
    ];
    assert_eq!(
        unreadable_names(&imported.unreadable),
        expected.map(str::to_owned).into()
    );

    // Every record is there, byte for byte, except damaged ones, orphans, kinds that are not
    // imported, and the rules with which a session allowed something.
    let mut ours = tree(&test.root().join("storage"));
    let mut theirs = tree(&source.path().join("storage"));
    let restricted =
        "session/4b825dc642cb6eb9a060e54bf8d69288fbee4904/ses_46275e2c6ffeAAAAAAAAAAAAAA.json";
    let mut session = value(&theirs.remove(restricted).unwrap());
    let rules = session["permission"].as_array_mut().unwrap();
    rules.retain(|rule| rule["action"] != "allow");
    assert_eq!(rules.len(), 1);
    assert_eq!(value(&ours.remove(restricted).unwrap()), session);
    let left_out = |name: &str| {
        ["DDDDDD", "TRUNCATED", "ORPHAN", "ZZZZZZ", "permission/", "share/", "session_share/"]
            .iter()
            .any(|mark| name.contains(mark))
            // A project at the root of the file system is not imported.
            || name == "project/global.json"
    };
    let expected: BTreeMap<_, _> = theirs
        .into_iter()
        .filter(|(name, _)| !left_out(name))
        .collect();
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    assert_eq!(ours, expected);
    assert_eq!(state_of(source.path()), before);
    assert!(!test.root().join("staging").exists());
}

#[tokio::test]
async fn a_second_import_adds_nothing_and_changes_nothing() {
    let source = fixture("opencode-1.1");
    let test = TestStore::new().await;
    test.store.import_from(source.path()).await.unwrap();
    let id = SessionId::parse("ses_46275e2c6ffeAAAAAAAAAAAAAA").unwrap();
    test.store
        .update_session(&id, |session| session.title = "Mine now".into())
        .await
        .unwrap();
    let before = tree(&test.root().join("storage"));

    let again = test.store.import_from(&source.path().join("storage")).await;
    let again = again.unwrap();
    assert_eq!((again.added, again.already), (Vec::new(), 3));
    assert_eq!(tree(&test.root().join("storage")), before);
}

#[tokio::test]
async fn an_interrupted_import_is_completed_by_the_next() {
    let source = fixture("opencode-1.1");
    let test = TestStore::new().await;
    test.store.import_from(source.path()).await.unwrap();
    let complete = tree(&test.root().join("storage"));
    // As a kill leaves it: some records, but not the session's own yet.
    let session = "session/global/ses_46275e2c5ffeBBBBBBBBBBBBBB.json";
    let message = "message/ses_46275e2c5ffeBBBBBBBBBBBBBB/msg_b98e55c9d001BBBBBBBBBBBBBB.json";
    for name in [session, message] {
        std::fs::remove_file(test.file(name)).unwrap();
    }
    let test = test.reopen().await;

    let again = test.store.import_from(source.path()).await.unwrap();
    assert_eq!((again.added.len(), again.already), (1, 2));
    assert_eq!(tree(&test.root().join("storage")), complete);
}

#[tokio::test]
async fn the_oldest_layouts_are_migrated_in_a_copy() {
    for (name, id, messages) in [
        ("version-0", "ses_6f1d2c3b4affeQwErTyUiOpAsD", 2),
        ("version-1", "ses_46275e2c6ffeAbCdEfGhIjKlMn", 0),
    ] {
        let source = fixture(name);
        let before = state_of(source.path());
        let test = TestStore::new().await;
        let imported = test.store.import_from(source.path()).await.unwrap();
        assert_eq!(imported.unreadable.len(), 1, "{:?}", imported.unreadable);
        let id = SessionId::parse(id).unwrap();
        assert!(imported.added.iter().any(|session| session.id == id));
        let page = test.store.messages(&id, None, 9).await.unwrap();
        assert_eq!(page.messages.len(), messages, "{name}");
        assert_eq!(state_of(source.path()), before, "{name}");
        assert!(!test.root().join("staging").exists());
        let found = test.store.find_sources(vec![source.path().into()]).await;
        let sessions = found[0].sessions;
        assert_eq!(sessions, imported.added.len() + imported.unreadable.len());
    }
}

#[tokio::test]
async fn import_sources_are_found_and_their_sessions_counted() {
    let source = fixture("opencode-1.1");
    let test = TestStore::new().await;
    let nowhere = test.root().join("nowhere");
    let places = vec![
        nowhere.clone(),
        source.path().to_owned(),
        test.root().to_owned(),
    ];
    let expected = FoundSource {
        path: source.path().to_owned(),
        kind: SourceKind::Json,
        sessions: 4,
    };
    assert_eq!(test.store.find_sources(places).await, [expected]);
    let error = test.store.import_from(&nowhere).await.unwrap_err();
    assert!(matches!(error, StoreError::NoSource(path) if path == nowhere));
}

fn exported() -> Value {
    serde_json::from_str(&import_fixture("exported.json")).unwrap()
}

async fn import(test: &TestStore, document: &Value) -> lathe_store::Imported {
    let file = test.root().join("session.json");
    std::fs::write(&file, document.to_string()).unwrap();
    test.store.import_from(&file).await.unwrap()
}

#[tokio::test]
async fn every_kind_of_part_of_an_exported_session_is_imported_unchanged() {
    let test = TestStore::new().await;
    let document = exported();
    let imported = import(&test, &document).await;
    assert_eq!(imported.unreadable, []);
    let session = &imported.added[0];
    assert_eq!(serde_json::to_value(session).unwrap(), document["info"]);
    let page = test.store.messages(&session.id, None, 9).await.unwrap();
    assert_eq!(
        serde_json::to_value(page.messages).unwrap(),
        document["messages"]
    );
    assert_eq!(
        part_types(&test, session.id.as_str()).await[1],
        [
            "step-start",
            "reasoning",
            "text",
            "tool",
            "tool",
            "snapshot",
            "patch",
            "retry",
            "step-finish",
            "hologram"
        ]
    );
}

#[tokio::test]
async fn ids_that_leave_the_store_are_refused_and_no_file_is_written_outside() {
    let outside = tempfile::tempdir().unwrap();
    let hostile = [
        "../../x",
        "ses_/../../x",
        "..",
        "/etc/x",
        "C:\\x",
        "ses_a\u{0}",
        "nul",
        "",
    ];
    for id in hostile {
        let root = outside.path().join("deep").join("home");
        let store = open(&root).await;
        let before = tree(outside.path()).len();
        for place in [
            "/info/id",
            "/info/projectID",
            "/messages/0/info/id",
            "/messages/0/parts/0/id",
        ] {
            let mut document = exported();
            *document.pointer_mut(place).unwrap() = json!(id);
            let file = root.join("session.json");
            std::fs::write(&file, document.to_string()).unwrap();
            // An empty project id is allowed: the session is found by its directory.
            if place == "/info/projectID" && id.is_empty() {
                continue;
            }
            let imported = store.import_from(&file).await.unwrap();
            assert!(!imported.unreadable.is_empty(), "{place} {id:?}");
            let names = tree(outside.path());
            assert!(
                names.keys().all(|name| name.starts_with("deep/home/")),
                "{place} {id:?} wrote {names:?}"
            );
            std::fs::remove_file(&file).unwrap();
            for session in imported.added {
                store.remove_session(&session.id).await.unwrap();
            }
        }
        assert!(before < 20);
        drop(store);
        std::fs::remove_dir_all(&root).unwrap();
    }
}

#[tokio::test]
async fn an_imported_session_cannot_overwrite_the_messages_of_another() {
    let test = TestStore::new().await;
    import(&test, &exported()).await;
    let before = tree(&test.root().join("storage"));
    let mut thief = exported();
    let text = thief.to_string();
    let id = thief["info"]["id"].as_str().unwrap().to_owned();
    thief = serde_json::from_str(&text.replace(&id, "ses_46275e2c0ffeThief")).unwrap();
    let imported = import(&test, &thief).await;
    assert_eq!(imported.added, []);
    assert_eq!(imported.unreadable[0].what, "ses_46275e2c0ffeThief");
    assert_eq!(tree(&test.root().join("storage")), before);
}

#[tokio::test]
async fn an_imported_session_may_restrict_permissions_but_not_grant_them() {
    let test = TestStore::new().await;
    let mut document = exported();
    let rule = |action| json!({ "permission": "bash", "pattern": "*", "action": action });
    document["info"]["permission"] = json!([rule("allow"), rule("deny"), rule("ask")]);
    let imported = import(&test, &document).await;
    let rules = serde_json::to_value(&imported.added[0].permission).unwrap();
    assert_eq!(rules, json!([rule("deny"), rule("ask")]));
    assert_eq!(imported.unreadable.len(), 1);
}

#[tokio::test]
async fn an_imported_prompt_is_no_command() {
    let test = TestStore::new().await;
    let mut document = exported();
    let prompt = &mut document["messages"][0]["parts"][0];
    assert_eq!(prompt["type"], "text");
    prompt["metadata"] = json!({ "shellCommand": "make", "source": "paste" });
    let imported = import(&test, &document).await;
    let id = &imported.added[0].id;
    let page = test.store.messages(id, None, 9).await.unwrap();
    document["messages"][0]["parts"][0]["metadata"] = json!({ "source": "paste" });
    assert_eq!(
        serde_json::to_value(page.messages).unwrap(),
        document["messages"]
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_a_tree_does_not_block_the_import() {
    let source = fixture("opencode-1.1");
    let message = MessageId::parse("msg_b996eaebd001AAAAAAAAAAAAAA").unwrap();
    let pipe = source.path().join(format!(
        "storage/part/{message}/prt_b996eaff0001PPPPPPPPPPPPPP.json"
    ));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let test = TestStore::new().await;
    let imported = test.store.import_from(source.path()).await.unwrap();
    assert_eq!(imported.added.len(), 3);
    assert!(
        imported
            .unreadable
            .iter()
            .any(|one| one.why.contains("regular file"))
    );
}

#[tokio::test]
async fn a_file_that_is_not_a_session_is_reported() {
    let test = TestStore::new().await;
    for text in ["", "hello", "[]", "{\"info\":3}"] {
        let file = test.root().join("x.json");
        std::fs::write(&file, text).unwrap();
        let imported = test.store.import_from(&file).await.unwrap();
        assert_eq!(imported.added, []);
        assert_eq!(imported.unreadable[0].what, file.display().to_string());
    }
}
