//! Old layouts, as trees under `tests/fixtures/store`, become ours.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::{Message, ProjectId};
use lathe_store::{Options, Store, StoreError};
use serde_json::json;
use tempfile::TempDir;

use crate::support::faulty::{EIO, Fault, Faulty};
use crate::support::*;

/// A copy of a fixture that may be changed.
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
async fn trees_of_single_projects_become_one() {
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
    // The old trees are still there, as the copy that is kept.
    assert_eq!(tree(&folder.path().join("project")), old);
    assert_eq!(
        std::fs::read(folder.path().join("storage/migration")).unwrap(),
        b"2"
    );
}

#[tokio::test]
async fn diffs_leave_the_session_and_their_counts_stay() {
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
    // All else is as it was.
    for (name, bytes) in before
        .iter()
        .filter(|(name, _)| *name != file && *name != "migration")
    {
        assert_eq!(&after[name], bytes, "{name}");
    }
}

/// Every change of the migration fails once, and is the last once.
#[tokio::test]
async fn a_failed_migration_says_so_and_leaves_the_old_data() {
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
            for fault in [Fault::Once { at, with: EIO }, Fault::Death { at }] {
                let folder = fixture(name);
                let before = tree(&folder.path().join("storage"));
                let fs = Arc::new(Faulty::new(fault));
                let options = Options {
                    fs: fs.clone(),
                    ..Options::default()
                };
                let opened = Store::open(folder.path(), options).await;
                reached = fs.changes() > at;
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
                // The next start finds a way.
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
async fn data_of_a_newer_version_is_left_alone() {
    let home = Home::new().await;
    std::fs::write(home.file("migration"), "3").unwrap();
    let Home { folder, store } = home;
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
