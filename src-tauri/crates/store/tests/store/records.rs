//! Reading, writing, updating and listing single records.

use lathe_protocol::{MessageId, ProjectId, SessionId};
use lathe_store::{Key, Store, StoreError};
use serde_json::{Value, json};

use crate::support::*;

#[tokio::test]
async fn a_record_is_a_file_formatted_as_other_programs_format_it() {
    let test = TestStore::new().await;
    let key = Key::new(["todo", "ses_1"]).unwrap();
    test.store
        .write(&key, &json!([{ "content": "a", "cost": 1.0 }]))
        .await
        .unwrap();

    let files = tree(&test.root().join("storage"));
    let expected = "[\n  {\n    \"content\": \"a\",\n    \"cost\": 1\n  }\n]";
    assert_eq!(
        files,
        [
            ("migration".into(), b"2".to_vec()),
            ("todo/ses_1.json".into(), expected.into())
        ]
        .into(),
    );
    assert_eq!(
        test.store.read::<Value>(&key).await.unwrap(),
        Some(json!([{ "content": "a", "cost": 1 }]))
    );
    assert!(test.store.remove(&key).await.unwrap());
    assert!(!test.store.remove(&key).await.unwrap());
    assert_eq!(test.store.read::<Value>(&key).await.unwrap(), None);
}

#[tokio::test]
async fn an_update_changes_what_is_there_and_refuses_what_is_not() {
    let test = TestStore::new().await;
    let key = Key::new(["todo", "ses_1"]).unwrap();
    let missing = test
        .store
        .update::<Value, _>(&key, |_| {})
        .await
        .unwrap_err();
    assert!(matches!(missing, StoreError::Missing(found) if found == key));
    test.store
        .write_durable(&key, &json!({ "n": 1 }))
        .await
        .unwrap();
    let updated = test
        .store
        .update::<Value, _>(&key, |value| value["n"] = json!(2))
        .await
        .unwrap();
    assert_eq!(updated, json!({ "n": 2 }));
    assert_eq!(test.store.read::<Value>(&key).await.unwrap(), Some(updated));
}

#[tokio::test]
async fn concurrent_updates_of_a_record_that_may_be_new_lose_nothing() {
    let test = TestStore::new().await;
    let key = Key::new(["permission", "prj_1"]).unwrap();
    let mut adding = tokio::task::JoinSet::new();
    for n in 0..20 {
        let (store, key) = (test.store.clone(), key.clone());
        let add = move |all: &mut Vec<u32>| all.push(n);
        adding.spawn(async move { store.update_or_default(&key, add).await });
    }
    while let Some(added) = adding.join_next().await {
        added.unwrap().unwrap();
    }
    let mut all: Vec<u32> = test.store.read(&key).await.unwrap().unwrap();
    all.sort_unstable();
    assert_eq!(all, (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_list_holds_every_record_below_a_folder() {
    let test = TestStore::new().await;
    for path in [
        ["session", "p1", "ses_1"],
        ["session", "p2", "ses_2"],
        ["message", "ses_1", "msg_1"],
    ] {
        test.store
            .write(&Key::new(path).unwrap(), &json!({}))
            .await
            .unwrap();
    }
    std::fs::write(test.file("session/p1/.x-1.tmp"), "").unwrap();
    std::fs::write(test.file("session/p1/notes.txt"), "").unwrap();
    let mut listed = test
        .store
        .list(&Key::new(["session"]).unwrap())
        .await
        .unwrap();
    listed.sort();
    let expected = [["session", "p1", "ses_1"], ["session", "p2", "ses_2"]]
        .map(|path| Key::new(path).unwrap());
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn ids_from_outside_are_refused_before_they_touch_a_path() {
    let test = TestStore::new().await;
    std::fs::write(test.root().join("victim.json"), "{}").unwrap();
    let before = tree(test.root());
    // Deserializing an id does not check it, so an import may hold any text.
    let hostile = |text: &str| serde_json::from_value::<SessionId>(json!(text)).unwrap();
    for text in [
        "../../victim",
        "..",
        "a/b",
        "a\\b",
        "nul",
        "a\0b",
        "",
        ".x",
        &"x".repeat(300),
    ] {
        let id = hostile(text);
        let refused =
            |error: StoreError| assert!(matches!(error, StoreError::BadKey(_)), "{error}");
        refused(test.store.session(&id).await.unwrap_err());
        refused(test.store.messages(&id, None, 10).await.unwrap_err());
        refused(test.store.remove_session(&id).await.unwrap_err());
        refused(test.store.lock_session(&id).await.unwrap_err());
        let mut record = session(1);
        record.id = id;
        refused(test.store.write_session(&record).await.unwrap_err());
        let mut record = session(1);
        record.project_id = serde_json::from_value::<ProjectId>(json!(text)).unwrap();
        refused(test.store.write_session(&record).await.unwrap_err());
        let message = serde_json::from_value::<MessageId>(json!(text)).unwrap();
        refused(test.store.parts(&message).await.unwrap_err());
        refused(
            test.store
                .remove_message(&session_id(1), &message)
                .await
                .unwrap_err(),
        );
    }
    assert_eq!(tree(test.root()), before);
}

#[tokio::test]
async fn a_session_is_found_and_moved_under_any_project() {
    let test = TestStore::new().await;
    test.store.write_session(&session(1)).await.unwrap();
    let test = test.reopen().await;
    assert_eq!(
        test.store.session(&session_id(1)).await.unwrap(),
        Some(session(1))
    );

    let moved = test
        .store
        .update_session(&session_id(1), |session| {
            session.project_id = ProjectId::parse("abc").unwrap();
        })
        .await
        .unwrap();
    assert_eq!(
        test.store.session(&session_id(1)).await.unwrap(),
        Some(moved.clone())
    );
    assert_eq!(test.store.all_sessions().await.unwrap().items, [moved]);
    assert!(
        test.store
            .sessions(&ProjectId::parse("global").unwrap())
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test]
async fn a_read_only_store_changes_nothing() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 3, 2).await;
    std::fs::write(test.file("todo.txt"), "").unwrap();
    std::fs::create_dir_all(test.file("todo")).unwrap();
    std::fs::write(test.file("todo/ses_x.json"), "{").unwrap();
    let TestStore { folder, store } = test;
    drop(store);
    let before = tree(folder.path());

    let store = Store::open_read_only(folder.path()).await.unwrap();
    assert_eq!(store.all_sessions().await.unwrap().items.len(), 1);
    assert_eq!(
        store
            .messages(&session_id(1), None, 2)
            .await
            .unwrap()
            .messages
            .len(),
        2
    );
    let damaged = store
        .read::<Value>(&Key::new(["todo", "ses_x"]).unwrap())
        .await
        .unwrap_err();
    assert!(matches!(damaged, StoreError::Damaged(_)));
    assert!(matches!(
        store.write_session(&session(2)).await.unwrap_err(),
        StoreError::ReadOnly
    ));
    assert!(matches!(
        store.barrier(&session_id(1)).await.unwrap_err(),
        StoreError::ReadOnly
    ));
    assert!(matches!(
        store.remove_session(&session_id(1)).await.unwrap_err(),
        StoreError::ReadOnly
    ));
    drop(store);
    assert_eq!(tree(folder.path()), before);
    assert!(
        Store::open_read_only(&folder.path().join("nowhere"))
            .await
            .is_err()
    );
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_folders_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("new/data");
    let store = open(&root).await;
    fill(&store, 1, 1, 1).await;
    store.messages(&session_id(1), None, 1).await.unwrap();
    store.lock_session(&session_id(1)).await.unwrap();
    std::fs::write(
        root.join("storage/part")
            .join(message_id(0).as_str())
            .join("prt_x.json"),
        "{",
    )
    .unwrap();
    store.messages(&session_id(1), None, 1).await.unwrap();
    fill(&store, 2, 1, 1).await;
    store.remove_session(&session_id(2)).await.unwrap();

    let mut folders = vec![root.clone()];
    while let Some(next) = folders.pop() {
        assert_eq!(
            next.metadata().unwrap().permissions().mode() & 0o777,
            0o700,
            "{next:?}"
        );
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap() != "prt_x.json" {
                assert_eq!(
                    path.metadata().unwrap().permissions().mode() & 0o777,
                    0o600,
                    "{path:?}"
                );
            }
        }
    }
}
