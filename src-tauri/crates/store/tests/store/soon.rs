//! Streaming text: coalesced, never stale, never lost quietly.

use std::sync::Arc;
use std::time::Duration;

use lathe_store::{Key, Options, Store};
use serde_json::{Value, json};

use crate::support::faulty::{ENOSPC, Fault, Faulty};
use crate::support::*;

fn key() -> Key {
    Key::new(["todo", "ses_1"]).unwrap()
}

fn on_file(home: &Home) -> Option<Value> {
    std::fs::read(home.file("todo/ses_1.json"))
        .ok()
        .map(|bytes| value(&bytes))
}

async fn on_a_disk_that_may_fail() -> (Home, Arc<Faulty>) {
    let folder = tempfile::tempdir().unwrap();
    let fs = Arc::new(Faulty::new(Fault::None));
    let options = Options {
        fs: fs.clone(),
        ..Options::default()
    };
    let store = Store::open(folder.path(), options).await.unwrap();
    (Home { folder, store }, fs)
}

/// Lets the writing task and its blocking thread come to rest, in test time.
async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

#[tokio::test(start_paused = true)]
async fn text_reaches_the_file_within_the_interval_and_not_before() {
    let home = Home::new().await;
    for word in 1..=50 {
        home.store.write_soon(&key(), json!(word)).unwrap();
    }
    pass(Duration::from_millis(90)).await;
    home.store.write_soon(&key(), json!("late")).unwrap();
    assert_eq!(on_file(&home), None);
    pass(Duration::from_millis(11)).await;
    assert_eq!(on_file(&home), Some(json!("late")));

    home.store.write_soon(&key(), json!("next")).unwrap();
    pass(Duration::from_millis(90)).await;
    assert_eq!(on_file(&home), Some(json!("late")));
    pass(Duration::from_millis(11)).await;
    assert_eq!(on_file(&home), Some(json!("next")));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_value_is_read_flushed_replaced_and_removed_like_any_other() {
    let home = Home::new().await;
    home.store.write_soon(&key(), json!(1)).unwrap();
    assert_eq!(
        home.store.read::<Value>(&key()).await.unwrap(),
        Some(json!(1))
    );
    home.store.write_soon(&key(), json!(2)).unwrap();
    home.store.flush(&key()).await.unwrap();
    assert_eq!(on_file(&home), Some(json!(2)));
    home.store.write_soon(&key(), json!(3)).unwrap();
    home.store.write(&key(), &json!(4)).await.unwrap();
    home.store.write_soon(&key(), json!({ "n": 5 })).unwrap();
    home.store
        .update::<Value, _>(&key(), |value| value["m"] = json!(6))
        .await
        .unwrap();
    assert_eq!(on_file(&home), Some(json!({ "n": 5, "m": 6 })));
    home.store.write_soon(&key(), json!(7)).unwrap();
    home.store.remove(&key()).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(on_file(&home), None);
}

#[tokio::test]
async fn a_barrier_and_the_end_of_the_store_write_what_waits() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 0).await;
    home.store.write_part_soon(text(1, 0, 0, "first")).unwrap();
    home.store.barrier(&session_id(1)).await.unwrap();
    let path = home.file(&format!("part/{}/{}.json", message_id(0), part_id(0, 0)));
    assert_eq!(value(&std::fs::read(&path).unwrap())["text"], "first");
    home.store.write_part_soon(text(1, 0, 0, "last")).unwrap();
    let page = home.store.messages(&session_id(1), None, 1).await.unwrap();
    assert_eq!(page.messages[0].parts, [text(1, 0, 0, "last")]);
    home.store
        .write_part_soon(text(1, 0, 0, "very last"))
        .unwrap();
    let Home { folder, store } = home;
    drop(store);
    // The task that writes may hold the storage for a moment longer.
    while value(&std::fs::read(&path).unwrap())["text"] != "very last" {
        tokio::task::yield_now().await;
    }
    drop(folder);
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_read_where_it_waits() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 2).await;
    let part = |at: i64| home.file(&format!("part/{}/{}.json", message_id(0), part_id(0, at)));
    let filed = std::fs::read(part(0)).unwrap();
    home.store.keep_part(&text(1, 0, 0, "newer")).await.unwrap();
    home.store.write_part_soon(text(1, 0, 2, "new")).unwrap();
    let expected = [
        text(1, 0, 0, "newer"),
        text(1, 0, 1, "part 1 of message 0"),
        text(1, 0, 2, "new"),
    ];

    let message = home.store.message(&session_id(1), &message_id(0)).await;
    assert_eq!(message.unwrap().unwrap().parts, expected);
    let parts = home.store.parts(&message_id(0)).await.unwrap();
    assert_eq!(parts.items, expected);
    let one = home.store.part(&message_id(0), &part_id(0, 2)).await;
    assert_eq!(one.unwrap(), Some(text(1, 0, 2, "new")));

    assert_eq!(std::fs::read(part(0)).unwrap(), filed);
    assert!(!part(2).exists());
    pass(Duration::from_millis(101)).await;
    assert!(part(2).exists());
    let parts = home.store.parts(&message_id(0)).await.unwrap();
    assert_eq!(parts.items, expected);
}

#[tokio::test(start_paused = true)]
async fn what_the_disk_refuses_is_read_all_the_same() {
    let (home, fs) = on_a_disk_that_may_fail().await;
    home.store.write(&key(), &json!("old")).await.unwrap();
    fs.set(Fault::From {
        at: 0,
        with: ENOSPC,
    });
    home.store.write_soon(&key(), json!("new")).unwrap();
    let read = home.store.read::<Value>(&key()).await.unwrap();
    assert_eq!(read, Some(json!("new")));
}

#[tokio::test(start_paused = true)]
async fn a_failed_background_write_is_told_kept_and_tried_again() {
    let (home, fs) = on_a_disk_that_may_fail().await;
    let store = &home.store;
    store.write(&key(), &json!("good")).await.unwrap();
    let mut health = store.health();
    assert!(health.borrow_and_update().is_good());

    fs.set(Fault::From {
        at: 0,
        with: ENOSPC,
    });
    store.write_soon(&key(), json!("wanted")).unwrap();
    health.changed().await.unwrap();
    assert!(!health.borrow_and_update().is_good());
    let told = loop {
        match store.write_soon(&key(), json!("wanted more")) {
            Err(told) => break told,
            Ok(()) => tokio::task::yield_now().await,
        }
    };
    assert!(told.is_disk_full(), "{told}");
    assert_eq!(on_file(&home), Some(json!("good")));

    fs.set(Fault::None);
    health.changed().await.unwrap();
    assert!(health.borrow_and_update().is_good());
    assert_eq!(on_file(&home), Some(json!("wanted more")));
    home.store.write_soon(&key(), json!("on we go")).unwrap();
}
