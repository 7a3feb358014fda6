//! Removing a session is a move that can be undone, and a kill cannot leave it half done.

use std::sync::Arc;
use std::time::Duration;

use lathe_store::{Key, Store, StoreError};
use serde_json::json;

use crate::support::faulty_disk::{Fault, FaultyDisk};
use crate::support::move_watcher::MoveWatcher;
use crate::support::test_fs::options_with;
use crate::support::*;

async fn fill_with_all_kinds(store: &Store) {
    fill(store, 1, 3, 2).await;
    let session = session_id(1);
    store
        .write(&Key::todo(&session).unwrap(), &json!([]))
        .await
        .unwrap();
    store
        .write(&Key::session_diff(&session).unwrap(), &json!([]))
        .await
        .unwrap();
    store
        .write(
            &Key::session_share(&session).unwrap(),
            &json!({ "url": "u" }),
        )
        .await
        .unwrap();
    store
        .write(&Key::new(["share", session.as_str()]).unwrap(), &json!({}))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_removed_session_leaves_nothing_behind_and_is_restored_completely() {
    let test = TestStore::new().await;
    test.store.write_session(&session(2)).await.unwrap();
    test.store.write_message(&user(2, 100)).await.unwrap();
    test.store
        .write_part(&text(2, 100, 0, "another"))
        .await
        .unwrap();
    let others = tree(&test.root().join("storage"));
    fill_with_all_kinds(&test.store).await;
    test.store
        .journal_part(&text(1, 0, 5, "still streaming"))
        .await
        .unwrap();
    test.store.messages(&session_id(1), None, 9).await.unwrap();
    let before = tree(&test.root().join("storage"));

    test.store.remove_session(&session_id(1)).await.unwrap();
    assert_eq!(tree(&test.root().join("storage")), others);
    assert_eq!(test.store.session(&session_id(1)).await.unwrap(), None);
    assert!(tree(&test.root().join("index")).is_empty());
    let again = test.store.remove_session(&session_id(1)).await.unwrap_err();
    assert!(matches!(again, StoreError::Missing(_)));

    let test = test.reopen().await;
    test.store.restore_session(&session_id(1)).await.unwrap();
    assert_eq!(tree(&test.root().join("storage")), before);
    assert!(tree(&test.root().join("trash")).is_empty());
    assert!(matches!(
        test.store.restore_session(&session_id(1)).await,
        Err(StoreError::Missing(_))
    ));
}

#[tokio::test]
async fn the_trash_is_emptied_by_age() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 1, 1).await;
    test.store.remove_session(&session_id(1)).await.unwrap();
    assert_eq!(
        test.store
            .empty_trash(Duration::from_secs(3600))
            .await
            .unwrap(),
        0
    );
    assert_eq!(test.store.empty_trash(Duration::ZERO).await.unwrap(), 1);
    assert!(test.store.restore_session(&session_id(1)).await.is_err());
}

/// Kills the process at each change of a removal and of a restore.
#[tokio::test]
async fn a_move_interrupted_by_a_kill_is_finished_by_the_next_start() {
    for restoring in [false, true] {
        for at in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let disk = Arc::new(FaultyDisk::new(Fault::None));
            let store = Store::open(folder.path(), options_with(&disk))
                .await
                .unwrap();
            fill_with_all_kinds(&store).await;
            let complete = tree(&folder.path().join("storage"));
            if restoring {
                store.remove_session(&session_id(1)).await.unwrap();
            }
            disk.set(Fault::Kill { at });
            let id = session_id(1);
            let outcome = match restoring {
                false => store.remove_session(&id).await,
                true => store.restore_session(&id).await,
            };
            drop(store);

            let store = open(folder.path()).await;
            let listed = store.session(&id).await.unwrap().is_some();
            if !listed {
                let left = tree(&folder.path().join("storage"));
                assert_eq!(
                    left.into_keys().collect::<Vec<_>>(),
                    ["migration"],
                    "removal cut at {at}"
                );
                store.restore_session(&id).await.unwrap();
            }
            assert_eq!(
                tree(&folder.path().join("storage")),
                complete,
                "{restoring} cut at {at}"
            );
            if outcome.is_ok() {
                assert_eq!(listed, restoring);
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_session_that_was_imported_again_can_be_removed_again() {
    let test = TestStore::new().await;
    let id = session_id(1);
    for title in ["first", "second", "third"] {
        let mut session = session(1);
        session.title = title.to_owned();
        test.store.write_session(&session).await.unwrap();
        test.store.write_message(&user(1, 1)).await.unwrap();
        test.store.remove_session(&id).await.unwrap();
    }
    test.store.restore_session(&id).await.unwrap();
    let restored = test.store.session(&id).await.unwrap().unwrap();
    assert_eq!(restored.title, "third");
    let emptied = test.store.empty_trash(std::time::Duration::ZERO).await;
    assert_eq!(emptied.unwrap(), 2);
}

/// Otherwise a power cut could leave half of a session in the trash and half in the store.
#[tokio::test]
async fn a_move_is_synced_before_the_manifest_says_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(MoveWatcher::default());
    let store = Store::open(folder.path(), options_with(&disk))
        .await
        .unwrap();
    fill_with_all_kinds(&store).await;
    disk.reset();
    store.remove_session(&session_id(1)).await.unwrap();
    assert_eq!(disk.violations(), [], "removing");
    disk.reset();
    store.restore_session(&session_id(1)).await.unwrap();
    assert_eq!(disk.violations(), [], "restoring");
}

#[tokio::test]
async fn a_session_that_was_imported_again_is_not_overwritten_by_the_one_in_the_trash() {
    let test = TestStore::new().await;
    let id = session_id(1);
    fill_with_all_kinds(&test.store).await;
    test.store.remove_session(&id).await.unwrap();
    // As an import would write it.
    fill_with_all_kinds(&test.store).await;
    let before = tree(&test.root().join("storage"));

    let refused = test.store.restore_session(&id).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("there is a session/{id} already")
    );
    assert_eq!(tree(&test.root().join("storage")), before);
    let test = test.reopen().await;
    assert_eq!(tree(&test.root().join("storage")), before);
}

/// A file that blocks a move still blocks it at the next start.
#[tokio::test]
async fn a_store_opens_even_if_an_interrupted_move_cannot_be_finished() {
    let test = TestStore::new().await;
    let id = session_id(1);
    fill(&test.store, 1, 1, 1).await;
    fill(&test.store, 2, 1, 1).await;
    test.store.remove_session(&id).await.unwrap();
    let manifest = test.root().join(format!("trash/{id}/manifest.json"));
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(
        &manifest,
        text.replace("\"state\": \"removed\"", "\"state\": \"restoring\""),
    )
    .unwrap();
    let blocker = test.file(&format!("message/{id}"));
    std::fs::create_dir_all(&blocker).unwrap();
    std::fs::write(blocker.join("note.txt"), "mine").unwrap();

    let test = test.reopen().await;
    assert!(test.store.session(&session_id(2)).await.unwrap().is_some());
    assert!(test.store.session(&id).await.unwrap().is_none());
    std::fs::remove_dir_all(&blocker).unwrap();
    let test = test.reopen().await;
    assert!(test.store.session(&id).await.unwrap().is_some());
}
