//! Removing a session is a move that can be undone, and a kill cannot tear it in two.

use std::sync::Arc;
use std::time::Duration;

use lathe_store::{Key, Options, Store, StoreError};
use serde_json::json;

use crate::support::faulty::{Fault, Faulty};
use crate::support::moves::Moves;
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
async fn a_removed_session_leaves_nothing_behind_and_comes_back_whole() {
    let home = Home::new().await;
    home.store.write_session(&session(2)).await.unwrap();
    home.store.write_message(&user(2, 100)).await.unwrap();
    home.store
        .write_part(&text(2, 100, 0, "another"))
        .await
        .unwrap();
    let others = tree(&home.root().join("storage"));
    fill_with_all_kinds(&home.store).await;
    home.store
        .keep_part(&text(1, 0, 5, "still streaming"))
        .await
        .unwrap();
    home.store.messages(&session_id(1), None, 9).await.unwrap();
    let before = tree(&home.root().join("storage"));

    home.store.remove_session(&session_id(1)).await.unwrap();
    assert_eq!(tree(&home.root().join("storage")), others);
    assert_eq!(home.store.session(&session_id(1)).await.unwrap(), None);
    assert!(tree(&home.root().join("index")).is_empty());
    let again = home.store.remove_session(&session_id(1)).await.unwrap_err();
    assert!(matches!(again, StoreError::Missing(_)));

    let home = home.again().await;
    home.store.restore_session(&session_id(1)).await.unwrap();
    assert_eq!(tree(&home.root().join("storage")), before);
    assert!(tree(&home.root().join("trash")).is_empty());
    assert!(matches!(
        home.store.restore_session(&session_id(1)).await,
        Err(StoreError::Missing(_))
    ));
}

#[tokio::test]
async fn the_trash_is_emptied_by_age() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 1).await;
    home.store.remove_session(&session_id(1)).await.unwrap();
    assert_eq!(
        home.store
            .empty_trash(Duration::from_secs(3600))
            .await
            .unwrap(),
        0
    );
    assert_eq!(home.store.empty_trash(Duration::ZERO).await.unwrap(), 1);
    assert!(home.store.restore_session(&session_id(1)).await.is_err());
}

/// Dies at each change of a removal or a restore; the next start finishes it.
#[tokio::test]
async fn a_kill_in_the_middle_is_finished_by_the_next_start() {
    for restoring in [false, true] {
        for at in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let fs = Arc::new(Faulty::new(Fault::None));
            let options = Options {
                fs: fs.clone(),
                ..Options::default()
            };
            let store = Store::open(folder.path(), options).await.unwrap();
            fill_with_all_kinds(&store).await;
            let whole = tree(&folder.path().join("storage"));
            if restoring {
                store.remove_session(&session_id(1)).await.unwrap();
            }
            fs.set(Fault::Death { at });
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
                whole,
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
async fn a_session_that_came_back_can_be_removed_again() {
    let home = Home::new().await;
    let id = session_id(1);
    for title in ["first", "second", "third"] {
        let mut session = session(1);
        session.title = title.to_owned();
        home.store.write_session(&session).await.unwrap();
        home.store.write_message(&user(1, 1)).await.unwrap();
        home.store.remove_session(&id).await.unwrap();
    }
    home.store.restore_session(&id).await.unwrap();
    let restored = home.store.session(&id).await.unwrap().unwrap();
    assert_eq!(restored.title, "third");
    let emptied = home.store.empty_trash(std::time::Duration::ZERO).await;
    assert_eq!(emptied.unwrap(), 2);
}

/// Otherwise a power cut could leave half a session where nobody looks for the other half.
#[tokio::test]
async fn a_move_is_on_the_disk_before_it_is_said_to_be_done() {
    let folder = tempfile::tempdir().unwrap();
    let fs = Arc::new(Moves::default());
    let options = Options {
        fs: fs.clone(),
        ..Options::default()
    };
    let store = Store::open(folder.path(), options).await.unwrap();
    fill_with_all_kinds(&store).await;
    fs.begin();
    store.remove_session(&session_id(1)).await.unwrap();
    assert_eq!(fs.too_early(), [], "removing");
    fs.begin();
    store.restore_session(&session_id(1)).await.unwrap();
    assert_eq!(fs.too_early(), [], "restoring");
}

#[tokio::test]
async fn a_session_that_came_back_is_not_overwritten_by_the_one_in_the_trash() {
    let home = Home::new().await;
    let id = session_id(1);
    fill_with_all_kinds(&home.store).await;
    home.store.remove_session(&id).await.unwrap();
    // As an import brings it.
    fill_with_all_kinds(&home.store).await;
    let before = tree(&home.root().join("storage"));

    let refused = home.store.restore_session(&id).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("there is a session/{id} already")
    );
    assert_eq!(tree(&home.root().join("storage")), before);
    let home = home.again().await;
    assert_eq!(tree(&home.root().join("storage")), before);
}

/// What stands in the way of a move is there at the next start, too.
#[tokio::test]
async fn a_move_that_cannot_be_finished_does_not_keep_the_store_from_opening() {
    let home = Home::new().await;
    let id = session_id(1);
    fill(&home.store, 1, 1, 1).await;
    fill(&home.store, 2, 1, 1).await;
    home.store.remove_session(&id).await.unwrap();
    let manifest = home.root().join(format!("trash/{id}/manifest.json"));
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(
        &manifest,
        text.replace("\"state\": \"removed\"", "\"state\": \"restoring\""),
    )
    .unwrap();
    let in_the_way = home.file(&format!("message/{id}"));
    std::fs::create_dir_all(&in_the_way).unwrap();
    std::fs::write(in_the_way.join("note.txt"), "mine").unwrap();

    let home = home.again().await;
    assert!(home.store.session(&session_id(2)).await.unwrap().is_some());
    assert!(home.store.session(&id).await.unwrap().is_none());
    std::fs::remove_dir_all(&in_the_way).unwrap();
    let home = home.again().await;
    assert!(home.store.session(&id).await.unwrap().is_some());
}
