//! A journaled record reaches its file within the flush interval; until then reads see it all
//! the same.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::Part;
use lathe_store::{Key, Options, Store};
use serde_json::Value;

use crate::support::faulty::{ENOSPC, Fault, Faulty};
use crate::support::*;

fn part(words: &str) -> Part {
    text(1, 0, 0, words)
}

fn key() -> Key {
    Key::part(&message_id(0), &part_id(0, 0)).unwrap()
}

fn file(home: &Home, number: i64) -> PathBuf {
    home.file(&format!(
        "part/{}/{}.json",
        message_id(0),
        part_id(0, number)
    ))
}

/// The text of the first part in its file.
fn on_file(home: &Home) -> Option<Value> {
    let bytes = std::fs::read(file(home, 0)).ok()?;
    Some(value(&bytes)["text"].clone())
}

async fn read(home: &Home) -> Option<Part> {
    home.store
        .part(&message_id(0), &part_id(0, 0))
        .await
        .unwrap()
}

async fn open_on_a_faulty_disk() -> (Home, Arc<Faulty>) {
    let folder = tempfile::tempdir().unwrap();
    let fs = Arc::new(Faulty::new(Fault::None));
    let options = Options {
        fs: fs.clone(),
        ..Options::default()
    };
    let store = Store::open(folder.path(), options).await.unwrap();
    (Home { folder, store }, fs)
}

/// Lets the flush task and its blocking thread run, in test time.
async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

#[tokio::test(start_paused = true)]
async fn a_journaled_part_reaches_its_file_within_the_interval_and_not_before() {
    let home = Home::new().await;
    for word in 1..=50 {
        home.store
            .keep_part(&part(&word.to_string()))
            .await
            .unwrap();
    }
    pass(Duration::from_millis(90)).await;
    home.store.keep_part(&part("late")).await.unwrap();
    assert_eq!(on_file(&home), None);
    pass(Duration::from_millis(11)).await;
    assert_eq!(on_file(&home), Some("late".into()));

    home.store.keep_part(&part("next")).await.unwrap();
    pass(Duration::from_millis(90)).await;
    assert_eq!(on_file(&home), Some("late".into()));
    pass(Duration::from_millis(11)).await;
    assert_eq!(on_file(&home), Some("next".into()));
}

#[tokio::test(start_paused = true)]
async fn a_pending_part_is_read_replaced_updated_and_removed_like_any_other() {
    let home = Home::new().await;
    home.store.keep_part(&part("1")).await.unwrap();
    assert_eq!(read(&home).await, Some(part("1")));
    home.store.keep_part(&part("2")).await.unwrap();
    // A list is made of files, so it writes them first.
    let listed = home.store.list(&Key::new(["part"]).unwrap()).await.unwrap();
    assert_eq!(listed, [key()]);
    assert_eq!(on_file(&home), Some("2".into()));
    home.store.keep_part(&part("3")).await.unwrap();
    home.store.write_part(&part("4")).await.unwrap();
    assert_eq!(on_file(&home), Some("4".into()));
    home.store.keep_part(&part("5")).await.unwrap();
    home.store
        .update::<Value, _>(&key(), |value| value["mood"] = "6".into())
        .await
        .unwrap();
    let updated = value(&std::fs::read(file(&home, 0)).unwrap());
    assert_eq!(
        (&updated["text"], &updated["mood"]),
        (&"5".into(), &"6".into())
    );
    home.store.keep_part(&part("7")).await.unwrap();
    home.store.remove(&key()).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(on_file(&home), None);
}

#[tokio::test]
async fn a_barrier_and_the_end_of_the_store_write_what_is_pending() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 0).await;
    home.store.keep_part(&part("first")).await.unwrap();
    home.store.barrier(&session_id(1)).await.unwrap();
    assert_eq!(on_file(&home), Some("first".into()));
    home.store.keep_part(&part("last")).await.unwrap();
    let page = home.store.messages(&session_id(1), None, 1).await.unwrap();
    assert_eq!(page.messages[0].parts, [part("last")]);
    home.store.keep_part(&part("very last")).await.unwrap();
    let path = file(&home, 0);
    let Home { folder, store } = home;
    drop(store);
    // The flush task may hold the storage for a moment longer.
    while value(&std::fs::read(&path).unwrap())["text"] != "very last" {
        tokio::task::yield_now().await;
    }
    drop(folder);
}

#[tokio::test(start_paused = true)]
async fn a_read_sees_pending_parts_without_writing_them() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 2).await;
    let before = std::fs::read(file(&home, 0)).unwrap();
    home.store.keep_part(&part("newer")).await.unwrap();
    home.store.keep_part(&text(1, 0, 2, "new")).await.unwrap();
    let expected = [
        part("newer"),
        text(1, 0, 1, "part 1 of message 0"),
        text(1, 0, 2, "new"),
    ];

    let message = home.store.message(&session_id(1), &message_id(0)).await;
    assert_eq!(message.unwrap().unwrap().parts, expected);
    let parts = home.store.parts(&message_id(0)).await.unwrap();
    assert_eq!(parts.items, expected);
    let one = home.store.part(&message_id(0), &part_id(0, 2)).await;
    assert_eq!(one.unwrap(), Some(text(1, 0, 2, "new")));

    assert_eq!(std::fs::read(file(&home, 0)).unwrap(), before);
    assert!(!file(&home, 2).exists());
    pass(Duration::from_millis(101)).await;
    assert!(file(&home, 2).exists());
    let parts = home.store.parts(&message_id(0)).await.unwrap();
    assert_eq!(parts.items, expected);
}

#[tokio::test(start_paused = true)]
async fn a_part_whose_file_cannot_be_written_is_still_read() {
    let (home, fs) = open_on_a_faulty_disk().await;
    home.store.write_part(&part("old")).await.unwrap();
    home.store.keep_part(&part("new")).await.unwrap();
    fs.set(Fault::From {
        at: 0,
        with: ENOSPC,
    });
    pass(Duration::from_secs(1)).await;
    assert_eq!(on_file(&home), Some("old".into()));
    assert_eq!(read(&home).await, Some(part("new")));
}

#[tokio::test(start_paused = true)]
async fn a_failed_flush_shows_in_the_health_and_is_tried_again() {
    let (home, fs) = open_on_a_faulty_disk().await;
    let store = &home.store;
    store.write_part(&part("good")).await.unwrap();
    let mut health = store.health();
    assert!(health.borrow_and_update().is_good());

    store.keep_part(&part("wanted")).await.unwrap();
    fs.set(Fault::From {
        at: 0,
        with: ENOSPC,
    });
    health.changed().await.unwrap();
    assert!(!health.borrow_and_update().is_good());
    let refused = store.keep_part(&part("refused")).await.unwrap_err();
    assert!(refused.is_disk_full(), "{refused}");
    assert_eq!(on_file(&home), Some("good".into()));
    assert_eq!(read(&home).await, Some(part("wanted")));

    fs.set(Fault::None);
    let is_good = store
        .health()
        .wait_for(|health| health.is_good())
        .await
        .is_ok();
    assert!(is_good);
    assert_eq!(on_file(&home), Some("wanted".into()));
    store.keep_part(&part("on we go")).await.unwrap();
}
