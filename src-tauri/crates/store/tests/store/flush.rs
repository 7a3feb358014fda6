//! A journaled record reaches its file within the flush interval; until then reads see it all
//! the same.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lathe_protocol::Part;
use lathe_store::{Key, Store};
use serde_json::Value;

use crate::support::faulty_disk::{ENOSPC, Fault, FaultyDisk};
use crate::support::test_fs::{Change, ChangeHook, options_with};
use crate::support::*;

fn part(words: &str) -> Part {
    text(1, 0, 0, words)
}

fn key() -> Key {
    Key::part(&message_id(0), &part_id(0, 0)).unwrap()
}

fn file(test: &TestStore, number: i64) -> PathBuf {
    test.file(&format!(
        "part/{}/{}.json",
        message_id(0),
        part_id(0, number)
    ))
}

/// The text of the first part in its file.
fn on_file(test: &TestStore) -> Option<Value> {
    let bytes = std::fs::read(file(test, 0)).ok()?;
    Some(value(&bytes)["text"].clone())
}

async fn read(test: &TestStore) -> Option<Part> {
    test.store
        .part(&message_id(0), &part_id(0, 0))
        .await
        .unwrap()
}

async fn open_on_a_faulty_disk() -> (TestStore, Arc<FaultyDisk>) {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::new(Fault::None));
    let store = Store::open(folder.path(), options_with(&disk))
        .await
        .unwrap();
    (TestStore { folder, store }, disk)
}

/// A disk whose next change of a file panics, once it is told to.
#[derive(Default)]
struct PanickingDisk {
    panics: AtomicBool,
}

impl ChangeHook for PanickingDisk {
    fn change(&self, change: Change<'_>) -> std::io::Result<()> {
        let is_record = matches!(change, Change::Create { .. } | Change::Rename { .. });
        if is_record && self.panics.swap(false, Ordering::SeqCst) {
            panic!("a fault of the program");
        }
        change.apply()
    }
}

#[tokio::test(start_paused = true)]
async fn a_fault_while_records_are_written_does_not_end_the_writing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(PanickingDisk::default());
    let options = options_with(&disk);
    let store = Store::open(folder.path(), options).await.unwrap();
    let test = TestStore { folder, store };
    test.store.journal_part(&part("1")).await.unwrap();
    disk.panics.store(true, Ordering::SeqCst);
    pass(Duration::from_millis(101)).await;
    assert!(!disk.panics.load(Ordering::SeqCst), "nothing was written");
    assert_eq!(on_file(&test), None);
    pass(Duration::from_secs(2)).await;
    assert_eq!(on_file(&test), Some("1".into()));
}

/// Lets the flush task and its blocking thread run, in test time.
async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

#[tokio::test(start_paused = true)]
async fn a_journaled_part_reaches_its_file_within_the_interval_and_not_before() {
    let test = TestStore::new().await;
    for word in 1..=50 {
        test.store
            .journal_part(&part(&word.to_string()))
            .await
            .unwrap();
    }
    pass(Duration::from_millis(90)).await;
    test.store.journal_part(&part("late")).await.unwrap();
    assert_eq!(on_file(&test), None);
    pass(Duration::from_millis(11)).await;
    assert_eq!(on_file(&test), Some("late".into()));

    test.store.journal_part(&part("next")).await.unwrap();
    pass(Duration::from_millis(90)).await;
    assert_eq!(on_file(&test), Some("late".into()));
    pass(Duration::from_millis(11)).await;
    assert_eq!(on_file(&test), Some("next".into()));
}

#[tokio::test(start_paused = true)]
async fn a_pending_part_is_read_replaced_updated_and_removed_like_any_other() {
    let test = TestStore::new().await;
    test.store.journal_part(&part("1")).await.unwrap();
    assert_eq!(read(&test).await, Some(part("1")));
    test.store.journal_part(&part("2")).await.unwrap();
    // A list is made of files, so it writes them first.
    let listed = test.store.list(&Key::new(["part"]).unwrap()).await.unwrap();
    assert_eq!(listed, [key()]);
    assert_eq!(on_file(&test), Some("2".into()));
    test.store.journal_part(&part("3")).await.unwrap();
    test.store.write_part(&part("4")).await.unwrap();
    assert_eq!(on_file(&test), Some("4".into()));
    test.store.journal_part(&part("5")).await.unwrap();
    test.store
        .update::<Value, _>(&key(), |value| value["mood"] = "6".into())
        .await
        .unwrap();
    let updated = value(&std::fs::read(file(&test, 0)).unwrap());
    assert_eq!(
        (&updated["text"], &updated["mood"]),
        (&"5".into(), &"6".into())
    );
    test.store.journal_part(&part("7")).await.unwrap();
    test.store.remove(&key()).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(on_file(&test), None);
}

#[tokio::test]
async fn a_barrier_and_the_end_of_the_store_write_what_is_pending() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 1, 0).await;
    test.store.journal_part(&part("first")).await.unwrap();
    test.store.barrier(&session_id(1)).await.unwrap();
    assert_eq!(on_file(&test), Some("first".into()));
    test.store.journal_part(&part("last")).await.unwrap();
    let page = test.store.messages(&session_id(1), None, 1).await.unwrap();
    assert_eq!(page.messages[0].parts, [part("last")]);
    test.store.journal_part(&part("very last")).await.unwrap();
    let path = file(&test, 0);
    let TestStore { folder, store } = test;
    drop(store);
    // The flush task may hold the storage for a moment longer.
    while value(&std::fs::read(&path).unwrap())["text"] != "very last" {
        tokio::task::yield_now().await;
    }
    drop(folder);
}

#[tokio::test(start_paused = true)]
async fn a_read_sees_pending_parts_without_writing_them() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 1, 2).await;
    let before = std::fs::read(file(&test, 0)).unwrap();
    test.store.journal_part(&part("newer")).await.unwrap();
    test.store
        .journal_part(&text(1, 0, 2, "new"))
        .await
        .unwrap();
    let expected = [
        part("newer"),
        text(1, 0, 1, "part 1 of message 0"),
        text(1, 0, 2, "new"),
    ];

    let message = test.store.message(&session_id(1), &message_id(0)).await;
    assert_eq!(message.unwrap().unwrap().parts, expected);
    let parts = test.store.parts(&message_id(0)).await.unwrap();
    assert_eq!(parts.items, expected);
    let one = test.store.part(&message_id(0), &part_id(0, 2)).await;
    assert_eq!(one.unwrap(), Some(text(1, 0, 2, "new")));

    assert_eq!(std::fs::read(file(&test, 0)).unwrap(), before);
    assert!(!file(&test, 2).exists());
    pass(Duration::from_millis(101)).await;
    assert!(file(&test, 2).exists());
    let parts = test.store.parts(&message_id(0)).await.unwrap();
    assert_eq!(parts.items, expected);
}

#[tokio::test(start_paused = true)]
async fn a_part_whose_file_cannot_be_written_is_still_read() {
    let (test, disk) = open_on_a_faulty_disk().await;
    test.store.write_part(&part("old")).await.unwrap();
    test.store.journal_part(&part("new")).await.unwrap();
    disk.set(Fault::From {
        at: 0,
        with: ENOSPC,
    });
    pass(Duration::from_secs(1)).await;
    assert_eq!(on_file(&test), Some("old".into()));
    assert_eq!(read(&test).await, Some(part("new")));
}

#[tokio::test(start_paused = true)]
async fn a_failed_flush_shows_in_the_health_and_is_tried_again() {
    let (test, disk) = open_on_a_faulty_disk().await;
    let store = &test.store;
    store.write_part(&part("good")).await.unwrap();
    let mut health = store.health();
    assert!(health.borrow_and_update().is_good());

    store.journal_part(&part("wanted")).await.unwrap();
    disk.set(Fault::From {
        at: 0,
        with: ENOSPC,
    });
    health.changed().await.unwrap();
    assert!(!health.borrow_and_update().is_good());
    let refused = store.journal_part(&part("refused")).await.unwrap_err();
    assert!(refused.is_disk_full(), "{refused}");
    assert_eq!(on_file(&test), Some("good".into()));
    assert_eq!(read(&test).await, Some(part("wanted")));

    disk.set(Fault::None);
    let is_good = store
        .health()
        .wait_for(|health| health.is_good())
        .await
        .is_ok();
    assert!(is_good);
    assert_eq!(on_file(&test), Some("wanted".into()));
    store.journal_part(&part("on we go")).await.unwrap();
}
