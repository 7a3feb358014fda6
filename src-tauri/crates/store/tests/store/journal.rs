//! What is in the journal survives a kill, and the journal never undoes a newer write.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::Part;
use lathe_store::{Key, Options, Store};
use serde_json::Value;

use crate::support::faulty_disk::{ENOSPC, Fault, FaultyDisk};
use crate::support::test_fs::options_with;
use crate::support::*;

/// A store whose process can be killed: no later change reaches the disk, not even the ones of
/// closing it. It never flushes by itself.
struct KillableStore {
    store: Store,
    disk: Arc<FaultyDisk>,
}

impl KillableStore {
    async fn open(root: &Path) -> Self {
        let disk = Arc::new(FaultyDisk::new(Fault::None));
        let options = Options {
            flush_interval: Duration::from_secs(3600),
            ..options_with(&disk)
        };
        let store = Store::open(root, options).await.unwrap();
        KillableStore { store, disk }
    }

    fn kill(self) {
        self.disk.set(Fault::Kill { at: 0 });
    }
}

fn part(number: i64, words: &str) -> Part {
    text(1, 0, number, words)
}

async fn parts(store: &Store) -> Vec<Part> {
    store.parts(&message_id(0)).await.unwrap().items
}

fn journals(root: &Path) -> Vec<String> {
    let names = tree(&root.join("locks")).into_iter();
    let journals = names.filter(|(name, bytes)| name.starts_with("journal-") && !bytes.is_empty());
    journals.map(|(name, _)| name).collect()
}

#[tokio::test]
async fn a_journaled_part_survives_a_kill_before_it_has_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    first.store.journal_message(&user(1, 0)).await.unwrap();
    first.store.journal_part(&part(0, "pending")).await.unwrap();
    first.store.journal_part(&part(0, "running")).await.unwrap();
    assert!(tree(&folder.path().join("storage/part")).is_empty());
    first.kill();

    let second = open(folder.path()).await;
    assert_eq!(parts(&second).await, [part(0, "running")]);
    let page = second.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!(page.messages.len(), 1);
    assert_eq!(journals(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_journaled_part_is_read_written_and_removed_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let KillableStore { store, .. } = KillableStore::open(folder.path()).await;
    store.journal_part(&part(0, "journaled")).await.unwrap();
    assert_eq!(parts(&store).await, [part(0, "journaled")]);
    store
        .journal_part(&part(0, "journaled again"))
        .await
        .unwrap();
    store.barrier(&session_id(1)).await.unwrap();
    assert_eq!(journals(folder.path()), Vec::<String>::new());
    assert_eq!(parts(&store).await, [part(0, "journaled again")]);
    store.journal_part(&part(0, "once more")).await.unwrap();
    let removed = store.remove_part(&message_id(0), &part_id(0, 0)).await;
    assert!(removed.unwrap());
    assert_eq!(parts(&store).await, []);
    drop(store);
    assert_eq!(parts(&open(folder.path()).await).await, []);
}

#[tokio::test]
async fn a_replay_does_not_undo_what_was_written_after_the_journal_entry() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    let store = &first.store;
    for number in 0..4 {
        store
            .journal_part(&part(number, "journaled"))
            .await
            .unwrap();
    }
    store.write_part(&part(0, "written")).await.unwrap();
    let updated = Key::part(&message_id(0), &part_id(0, 1)).unwrap();
    store
        .update::<Value, _>(&updated, |part| part["text"] = "updated".into())
        .await
        .unwrap();
    store
        .remove_part(&message_id(0), &part_id(0, 2))
        .await
        .unwrap();
    first.kill();

    let second = open(folder.path()).await;
    let expected = [part(0, "written"), part(1, "updated"), part(3, "journaled")];
    assert_eq!(parts(&second).await, expected);
}

#[tokio::test]
async fn removing_a_message_removes_its_journaled_parts() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    first.store.journal_message(&user(1, 0)).await.unwrap();
    first
        .store
        .journal_part(&part(0, "journaled"))
        .await
        .unwrap();
    let removed = first
        .store
        .remove_message(&session_id(1), &message_id(0))
        .await;
    assert!(removed.unwrap());
    first.kill();

    let second = open(folder.path()).await;
    assert_eq!(parts(&second).await, []);
    let files = tree(&folder.path().join("storage"));
    assert_eq!(files.keys().filter(|name| name.contains("msg_")).count(), 0);
}

#[tokio::test]
async fn a_replay_does_not_bring_back_parts_of_a_removed_session() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    fill(&first.store, 1, 1, 1).await;
    fill(&first.store, 2, 0, 0).await;
    first
        .store
        .journal_part(&text(2, 9, 0, "of the second session"))
        .await
        .unwrap();
    first
        .store
        .journal_part(&part(0, "journaled"))
        .await
        .unwrap();
    first.store.remove_session(&session_id(1)).await.unwrap();
    first.kill();

    let second = open(folder.path()).await;
    assert_eq!(parts(&second).await, []);
    let others = second.parts(&message_id(9)).await.unwrap().items;
    assert_eq!(others, [text(2, 9, 0, "of the second session")]);
}

#[tokio::test]
async fn locking_a_session_replays_what_its_killed_writer_journaled() {
    let folder = tempfile::tempdir().unwrap();
    let beside = open(folder.path()).await;
    let first = KillableStore::open(folder.path()).await;
    let writer = first.store.lock_session(&session_id(1)).await.unwrap();
    first
        .store
        .journal_part(&part(0, "journaled last"))
        .await
        .unwrap();
    drop(writer);
    first.kill();
    assert_eq!(parts(&beside).await, []);

    let _writer = beside.lock_session(&session_id(1)).await.unwrap();
    assert_eq!(parts(&beside).await, [part(0, "journaled last")]);
}

#[tokio::test]
async fn a_session_after_a_barrier_is_not_set_back_when_its_writer_is_killed_later() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    first
        .store
        .journal_part(&text(2, 9, 0, "under way"))
        .await
        .unwrap();
    first.store.journal_part(&part(0, "old")).await.unwrap();
    first.store.barrier(&session_id(1)).await.unwrap();
    let second = open(folder.path()).await;
    second.write_part(&part(0, "new")).await.unwrap();
    first.kill();

    let third = open(folder.path()).await;
    assert_eq!(parts(&third).await, [part(0, "new")]);
    let others = third.parts(&message_id(9)).await.unwrap().items;
    assert_eq!(others, [text(2, 9, 0, "under way")]);
}

#[tokio::test]
async fn a_journal_entry_cut_off_by_a_full_disk_hides_no_later_entry() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    first.store.journal_part(&part(0, "before")).await.unwrap();
    let with = ENOSPC;
    first.disk.set(Fault::Once { at: 0, with });
    let refused = first.store.journal_part(&part(1, "cut off")).await;
    assert!(refused.unwrap_err().is_disk_full());
    assert!(!first.store.health().borrow().is_good());
    first.store.journal_part(&part(2, "after")).await.unwrap();
    assert!(first.store.health().borrow().is_good());
    first.kill();

    let second = open(folder.path()).await;
    assert_eq!(parts(&second).await, [part(0, "before"), part(2, "after")]);
}

#[tokio::test]
async fn a_failed_replay_blocks_only_its_own_session() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    first
        .store
        .journal_part(&part(0, "of the first session"))
        .await
        .unwrap();
    let other = text(2, 7, 0, "of the second session");
    first.store.journal_part(&other).await.unwrap();
    first.kill();
    // A file has the name of the folder that the first session's parts need.
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
    assert_eq!(parts(&second).await, [part(0, "of the first session")]);
    let others = second.parts(&message_id(7)).await.unwrap().items;
    assert_eq!(others, [newer]);
    assert!(journals(folder.path()).is_empty());
}

#[tokio::test]
async fn a_write_fails_if_the_journal_cannot_record_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = KillableStore::open(folder.path()).await;
    first
        .store
        .journal_part(&part(0, "journaled"))
        .await
        .unwrap();
    first.store.make_durable(&session_id(1)).await.unwrap();
    first.disk.set(Fault::Once {
        at: 0,
        with: ENOSPC,
    });
    assert!(first.store.write_part(&part(0, "lost")).await.is_err());
    first.store.make_durable(&session_id(1)).await.unwrap();
    assert_eq!(parts(&first.store).await, [part(0, "journaled")]);
    first.kill();
    assert_eq!(
        parts(&open(folder.path()).await).await,
        [part(0, "journaled")]
    );
}

#[tokio::test]
async fn the_journal_of_a_session_that_never_pauses_is_compacted() {
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
    store.journal_part(&part(0, "the first")).await.unwrap();
    let (mut before, mut compactions, mut round) = (0, 0, 0);
    while compactions < 2 {
        store
            .journal_part(&part(1, &format!("{round} {long}")))
            .await
            .unwrap();
        let now = size();
        compactions += usize::from(now < before);
        (before, round) = (now, round + 1);
    }
    drop(store);
    let last = part(1, &format!("{} {long}", round - 1));
    let reopened = open(folder.path()).await;
    assert_eq!(parts(&reopened).await, [part(0, "the first"), last]);
}
