//! Records that are safe in the journal before they are in their files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::Part;
use lathe_store::{Key, Options, Store};
use serde_json::Value;

use crate::support::faulty::{ENOSPC, Fault, Faulty};
use crate::support::*;

/// A store that can die: nothing more reaches the disk, and nothing is tidied up.
struct Mortal {
    store: Store,
    fs: Arc<Faulty>,
}

impl Mortal {
    async fn born(root: &Path) -> Self {
        let fs = Arc::new(Faulty::new(Fault::None));
        let options = Options {
            fs: fs.clone(),
            soon: Duration::from_secs(3600),
            ..Options::default()
        };
        let store = Store::open(root, options).await.unwrap();
        Mortal { store, fs }
    }

    fn die(self) {
        self.fs.set(Fault::Death { at: 0 });
    }
}

fn words(number: i64, words: &str) -> Part {
    text(1, 0, number, words)
}

async fn found(store: &Store) -> Vec<Part> {
    store.parts(&message_id(0)).await.unwrap().items
}

fn journals(root: &Path) -> Vec<String> {
    let names = tree(&root.join("locks")).into_iter();
    let journals = names.filter(|(name, bytes)| name.starts_with("journal-") && !bytes.is_empty());
    journals.map(|(name, _)| name).collect()
}

#[tokio::test]
async fn a_kept_part_outlives_its_process_without_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    first.store.keep_message(&user(1, 0)).await.unwrap();
    first.store.keep_part(&words(0, "pending")).await.unwrap();
    first.store.keep_part(&words(0, "running")).await.unwrap();
    assert!(tree(&folder.path().join("storage/part")).is_empty());
    first.die();

    let second = open(folder.path()).await;
    assert_eq!(found(&second).await, [words(0, "running")]);
    let page = second.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!(page.messages.len(), 1);
    assert_eq!(journals(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_kept_part_is_read_written_and_removed_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let Mortal { store, .. } = Mortal::born(folder.path()).await;
    store.keep_part(&words(0, "kept")).await.unwrap();
    assert_eq!(found(&store).await, [words(0, "kept")]);
    store.keep_part(&words(0, "kept again")).await.unwrap();
    store.barrier(&session_id(1)).await.unwrap();
    assert_eq!(journals(folder.path()), Vec::<String>::new());
    assert_eq!(found(&store).await, [words(0, "kept again")]);
    store.keep_part(&words(0, "once more")).await.unwrap();
    let removed = store.remove_part(&message_id(0), &part_id(0, 0)).await;
    assert!(removed.unwrap());
    assert_eq!(found(&store).await, []);
    drop(store);
    assert_eq!(found(&open(folder.path()).await).await, []);
}

#[tokio::test]
async fn what_came_after_is_not_undone_by_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    let store = &first.store;
    for number in 0..4 {
        store.keep_part(&words(number, "kept")).await.unwrap();
    }
    store.write_part(&words(0, "written")).await.unwrap();
    let updated = Key::part(&message_id(0), &part_id(0, 1)).unwrap();
    store
        .update::<Value, _>(&updated, |part| part["text"] = "updated".into())
        .await
        .unwrap();
    store
        .remove_part(&message_id(0), &part_id(0, 2))
        .await
        .unwrap();
    first.die();

    let second = open(folder.path()).await;
    let left = [words(0, "written"), words(1, "updated"), words(3, "kept")];
    assert_eq!(found(&second).await, left);
}

#[tokio::test]
async fn a_removed_message_takes_along_what_was_only_kept() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    first.store.keep_message(&user(1, 0)).await.unwrap();
    first.store.keep_part(&words(0, "kept")).await.unwrap();
    let removed = first
        .store
        .remove_message(&session_id(1), &message_id(0))
        .await;
    assert!(removed.unwrap());
    first.die();

    let second = open(folder.path()).await;
    assert_eq!(found(&second).await, []);
    let files = tree(&folder.path().join("storage"));
    assert_eq!(files.keys().filter(|name| name.contains("msg_")).count(), 0);
}

#[tokio::test]
async fn a_removed_session_does_not_come_back_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    fill(&first.store, 1, 1, 1).await;
    fill(&first.store, 2, 0, 0).await;
    first
        .store
        .keep_part(&text(2, 9, 0, "another's"))
        .await
        .unwrap();
    first.store.keep_part(&words(0, "kept")).await.unwrap();
    first.store.remove_session(&session_id(1)).await.unwrap();
    first.die();

    let second = open(folder.path()).await;
    assert_eq!(found(&second).await, []);
    let others = second.parts(&message_id(9)).await.unwrap().items;
    assert_eq!(others, [text(2, 9, 0, "another's")]);
}

#[tokio::test]
async fn whoever_takes_a_session_over_sees_what_its_dead_writer_kept() {
    let folder = tempfile::tempdir().unwrap();
    let beside = open(folder.path()).await;
    let first = Mortal::born(folder.path()).await;
    let writer = first.store.lock_session(&session_id(1)).await.unwrap();
    first
        .store
        .keep_part(&words(0, "last words"))
        .await
        .unwrap();
    drop(writer);
    first.die();
    assert_eq!(found(&beside).await, []);

    let _writer = beside.lock_session(&session_id(1)).await.unwrap();
    assert_eq!(found(&beside).await, [words(0, "last words")]);
}

#[tokio::test]
async fn a_settled_session_is_not_set_back_by_a_process_that_dies_later() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    first
        .store
        .keep_part(&text(2, 9, 0, "under way"))
        .await
        .unwrap();
    first.store.keep_part(&words(0, "old")).await.unwrap();
    first.store.barrier(&session_id(1)).await.unwrap();
    let second = open(folder.path()).await;
    second.write_part(&words(0, "new")).await.unwrap();
    first.die();

    let third = open(folder.path()).await;
    assert_eq!(found(&third).await, [words(0, "new")]);
    let others = third.parts(&message_id(9)).await.unwrap().items;
    assert_eq!(others, [text(2, 9, 0, "under way")]);
}

#[tokio::test]
async fn what_a_full_disk_cut_off_hides_nothing_that_comes_after() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    first.store.keep_part(&words(0, "before")).await.unwrap();
    let with = ENOSPC;
    first.fs.set(Fault::Once { at: 0, with });
    let refused = first.store.keep_part(&words(1, "cut off")).await;
    assert!(refused.unwrap_err().is_disk_full());
    assert!(!first.store.health().borrow().is_good());
    first.store.keep_part(&words(2, "after")).await.unwrap();
    assert!(first.store.health().borrow().is_good());
    first.die();

    let second = open(folder.path()).await;
    assert_eq!(
        found(&second).await,
        [words(0, "before"), words(2, "after")]
    );
}

#[tokio::test]
async fn what_cannot_be_played_back_keeps_only_its_own_session_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    first.store.keep_part(&words(0, "of one")).await.unwrap();
    let other = text(2, 7, 0, "of another");
    first.store.keep_part(&other).await.unwrap();
    first.die();
    // Something stands where the first session's parts would lie.
    let blocked = folder
        .path()
        .join("storage/part")
        .join(message_id(0).as_str());
    std::fs::create_dir_all(blocked.parent().unwrap()).unwrap();
    std::fs::write(&blocked, "in the way").unwrap();

    let second = open(folder.path()).await;
    assert!(second.lock_session(&session_id(1)).await.is_err());
    let writer = second.lock_session(&session_id(2)).await.unwrap();
    let newer = text(2, 7, 0, "newer");
    second.write_part(&newer).await.unwrap();
    drop(writer);

    std::fs::remove_file(&blocked).unwrap();
    second.lock_session(&session_id(1)).await.unwrap();
    assert_eq!(found(&second).await, [words(0, "of one")]);
    let others = second.parts(&message_id(7)).await.unwrap().items;
    assert_eq!(others, [newer]);
    assert!(journals(folder.path()).is_empty());
}

#[tokio::test]
async fn a_record_whose_journal_could_not_be_told_is_not_written_either() {
    let folder = tempfile::tempdir().unwrap();
    let first = Mortal::born(folder.path()).await;
    first.store.keep_part(&words(0, "kept")).await.unwrap();
    first.store.secure(&session_id(1)).await.unwrap();
    first.fs.set(Fault::Once {
        at: 0,
        with: ENOSPC,
    });
    assert!(first.store.write_part(&words(0, "lost")).await.is_err());
    first.store.secure(&session_id(1)).await.unwrap();
    assert_eq!(found(&first.store).await, [words(0, "kept")]);
    first.die();
    assert_eq!(found(&open(folder.path()).await).await, [words(0, "kept")]);
}

#[tokio::test]
async fn the_journal_of_a_session_that_is_never_quiet_does_not_grow_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let size = || {
        let locks = std::fs::read_dir(folder.path().join("locks")).unwrap();
        let files = locks.map(|entry| entry.unwrap());
        let journal = files.filter(|one| one.file_name().to_string_lossy().starts_with("journal-"));
        journal
            .map(|one| one.metadata().unwrap().len())
            .sum::<u64>()
    };
    let long = "x".repeat(256 << 10);
    store.keep_part(&words(0, "the first")).await.unwrap();
    let (mut before, mut shortened, mut round) = (0, 0, 0);
    while shortened < 2 {
        store
            .keep_part(&words(1, &format!("{round} {long}")))
            .await
            .unwrap();
        let now = size();
        shortened += usize::from(now < before);
        (before, round) = (now, round + 1);
    }
    drop(store);
    let left = found(&open(folder.path()).await).await;
    let last = words(1, &format!("{} {long}", round - 1));
    assert_eq!(left, [words(0, "the first"), last]);
}
