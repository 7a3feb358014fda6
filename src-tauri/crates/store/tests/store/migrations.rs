//! Data directories of older layouts are migrated to the current one.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::{Message, ProjectId};
use lathe_store::{Options, Store, StoreError};
use serde_json::json;
use tempfile::TempDir;

use crate::support::faulty_disk::{EIO, Fault, FaultyDisk};
use crate::support::test_fs::options_with;
use crate::support::*;

/// A writable copy of a data directory below `tests/fixtures/store`.
pub fn fixture(name: &str) -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../tests/fixtures/store")
        .join(name);
    let folder = tempfile::tempdir().unwrap();
    for (inside, bytes) in tree(&from) {
        let path = folder.path().join(inside);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

#[tokio::test]
async fn one_tree_per_project_becomes_one_tree() {
    let folder = fixture("version-0");
    let old = tree(&folder.path().join("project"));
    let store = open(folder.path()).await;

    let sessions = store.all_sessions().await.unwrap();
    let session = &sessions.items[0];
    assert_eq!((sessions.items.len(), sessions.damaged.len()), (1, 1));
    assert_eq!(
        session.project_id,
        ProjectId::parse("home-user-app").unwrap()
    );
    assert_eq!(session.directory, "/home/user/app");
    assert_eq!(session.extra.0["mood"], json!("kept"));
    let project = store.project(&session.project_id).await.unwrap().unwrap();
    assert_eq!(project.worktree, "/home/user/app");
    let page = store.messages(&session.id, None, 9).await.unwrap();
    let parts: Vec<_> = page
        .messages
        .iter()
        .map(|message| message.parts.len())
        .collect();
    assert_eq!(parts, [1, 3]);
    let [prompt, answer] = &page.messages[..] else {
        panic!("{:?}", page.messages)
    };
    let answers = |info: &Message| info.as_assistant().map(|answer| answer.parent_id.clone());
    assert_eq!(answers(&answer.info), Some(prompt.info.id().clone()));
    // The old trees are unchanged and serve as the backup.
    assert_eq!(tree(&folder.path().join("project")), old);
    assert_eq!(
        std::fs::read(folder.path().join("storage/migration")).unwrap(),
        b"2"
    );
}

#[tokio::test]
async fn diffs_move_out_of_the_session_and_their_counts_stay() {
    let folder = fixture("version-1");
    let before = tree(&folder.path().join("storage"));
    let store = open(folder.path()).await;
    drop(store);
    let after = tree(&folder.path().join("storage"));

    let file =
        "session/4b825dc642cb6eb9a060e54bf8d69288fbee4904/ses_46275e2c6ffeAbCdEfGhIjKlMn.json";
    let old = value(&before[file]);
    let mut expected = old.clone();
    expected["summary"] = json!({ "additions": 5, "deletions": 2, "files": 2 });
    assert_eq!(value(&after[file]), expected);
    assert_eq!(
        value(&after["session_diff/ses_46275e2c6ffeAbCdEfGhIjKlMn.json"]),
        old["summary"]["diffs"]
    );
    assert_eq!(after["migration"], b"2");
    let copies = tree(&folder.path().join("migrated/1"));
    assert_eq!(copies, [(file.to_owned(), before[file].clone())].into());
    // Every other file is unchanged.
    for (name, bytes) in before
        .iter()
        .filter(|(name, _)| *name != file && *name != "migration")
    {
        assert_eq!(&after[name], bytes, "{name}");
    }
}

/// Each change of the migration fails once, and is once the last before a kill.
#[tokio::test]
async fn a_failed_migration_is_reported_and_leaves_the_old_data() {
    for (name, from) in [("version-0", "0"), ("version-1", "1")] {
        let done = {
            let folder = fixture(name);
            drop(open(folder.path()).await);
            tree(&folder.path().join("storage"))
        };
        let mut failed = 0;
        let mut at = 0;
        loop {
            let mut reached = false;
            for fault in [Fault::Once { at, with: EIO }, Fault::Kill { at }] {
                let folder = fixture(name);
                let before = tree(&folder.path().join("storage"));
                let disk = Arc::new(FaultyDisk::new(fault));
                let opened = Store::open(folder.path(), options_with(&disk)).await;
                reached = disk.changes() > at;
                match opened.err() {
                    Some(error @ StoreError::Migration { .. }) => {
                        failed += 1;
                        assert!(
                            error.to_string().contains("the old data is as it was"),
                            "{error}"
                        );
                        let version = folder.path().join("storage/migration");
                        let version = std::fs::read_to_string(version).unwrap_or("0".into());
                        if matches!(fault, Fault::Once { .. }) && version == from {
                            assert_eq!(
                                tree(&folder.path().join("storage")),
                                before,
                                "{name} at {at}"
                            );
                        }
                    }
                    Some(other) => assert!(other.is_io(), "{other}"),
                    None => {}
                }
                // The next start completes the migration.
                drop(open(folder.path()).await);
                assert_eq!(tree(&folder.path().join("storage")), done, "{name} at {at}");
            }
            if !reached {
                break;
            }
            at += count(2, 1);
        }
        assert!(
            failed > 10,
            "{name}: only {failed} faults hit the migration"
        );
    }
}

#[tokio::test]
async fn data_of_a_newer_version_is_refused() {
    let test = TestStore::new().await;
    std::fs::write(test.file("migration"), "3").unwrap();
    let TestStore { folder, store } = test;
    drop(store);
    let refused = Store::open(folder.path(), Options::default())
        .await
        .err()
        .unwrap();
    assert!(
        matches!(refused, StoreError::Newer { found: 3, known: 2 }),
        "{refused}"
    );
}
