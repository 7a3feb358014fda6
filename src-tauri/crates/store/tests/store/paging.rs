//! Messages are read from the newest backwards, in order and without gaps.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use lathe_protocol::MessageId;
use lathe_store::{Page, StoreError, WindowAnchor};

use crate::support::*;

fn numbers(page: &Page) -> Vec<i64> {
    let base = millis(0);
    page.messages
        .iter()
        .map(|message| (message.info.created().0 - base) / 1000)
        .collect()
}

/// Makes the message folder look as if it had last changed an hour ago.
fn age_message_folder(test: &TestStore) {
    let folder = test.file("message").join(session_id(1).as_str());
    let then = SystemTime::now() - Duration::from_secs(3600);
    File::open(folder)
        .unwrap()
        .set_times(FileTimes::new().set_modified(then))
        .unwrap();
}

#[tokio::test]
async fn pages_go_from_the_newest_message_to_the_oldest() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 7, 2).await;
    let session = session_id(1);
    let tail = test.store.messages(&session, None, 3).await.unwrap();
    assert_eq!((numbers(&tail), tail.has_older), (vec![4, 5, 6], true));
    let middle = test
        .store
        .messages(&session, Some(&message_id(4)), 3)
        .await
        .unwrap();
    assert_eq!((numbers(&middle), middle.has_older), (vec![1, 2, 3], true));
    let first = test
        .store
        .messages(&session, Some(&message_id(1)), 3)
        .await
        .unwrap();
    assert_eq!((numbers(&first), first.has_older), (vec![0], false));

    let words: Vec<_> = tail
        .messages
        .iter()
        .flat_map(|message| message.parts.clone())
        .collect();
    let expected: Vec<_> = [4, 5, 6]
        .iter()
        .flat_map(|m| [0, 1].map(|p| text(1, *m, p, &format!("part {p} of message {m}"))))
        .collect();
    assert_eq!(words, expected);

    let gone = MessageId::parse("msg_none").unwrap();
    let missing = test
        .store
        .messages(&session, Some(&gone), 3)
        .await
        .unwrap_err();
    assert!(matches!(missing, StoreError::Missing(_)));
    let nothing = test.store.messages(&session_id(9), None, 3).await.unwrap();
    assert_eq!(nothing, Page::default());
}

#[tokio::test]
async fn a_stored_order_is_used_and_messages_of_another_program_are_still_found() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 4, 1).await;
    age_message_folder(&test);
    let session = session_id(1);
    test.store.messages(&session, None, 9).await.unwrap();
    let index = test.root().join("index").join(format!("{session}.order"));
    let stored = std::fs::read(&index).unwrap();
    test.store.messages(&session, None, 9).await.unwrap();
    assert_eq!(std::fs::read(&index).unwrap(), stored);

    // Another program adds a message at each end and removes one.
    for number in [9, -5] {
        let message = serde_json::to_vec(&user(1, number)).unwrap();
        std::fs::write(
            test.file(&format!("message/{session}/{}.json", message_id(number))),
            message,
        )
        .unwrap();
    }
    std::fs::remove_file(test.file(&format!("message/{session}/{}.json", message_id(2)))).unwrap();
    let page = test.store.messages(&session, None, 9).await.unwrap();
    assert_eq!(numbers(&page), [-5, 0, 1, 3, 9]);
}

#[tokio::test]
async fn a_message_added_within_the_clocks_resolution_is_found() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 2, 0).await;
    let session = session_id(1);
    let folder = test.file("message").join(session.as_str());
    let before = folder.metadata().unwrap().modified().unwrap();
    assert_eq!(
        numbers(&test.store.messages(&session, None, 9).await.unwrap()),
        [0, 1]
    );
    // The folder's modification time does not show this one.
    std::fs::write(
        folder.join(format!("{}.json", message_id(5))),
        serde_json::to_vec(&user(1, 5)).unwrap(),
    )
    .unwrap();
    File::open(&folder)
        .unwrap()
        .set_times(FileTimes::new().set_modified(before))
        .unwrap();
    assert_eq!(
        numbers(&test.store.messages(&session, None, 9).await.unwrap()),
        [0, 1, 5]
    );
}

#[tokio::test]
async fn a_lost_torn_or_wrong_order_file_is_rebuilt() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 5, 1).await;
    age_message_folder(&test);
    let session = session_id(1);
    let index = test.root().join("index").join(format!("{session}.order"));
    let right = test.store.messages(&session, None, 3).await.unwrap();
    let complete = std::fs::read(&index).unwrap();

    std::fs::remove_file(&index).unwrap();
    assert_eq!(test.store.messages(&session, None, 3).await.unwrap(), right);
    for at in [0, 9, 20, complete.len() / 2, complete.len() - 1] {
        std::fs::write(&index, &complete[..at]).unwrap();
        assert_eq!(test.store.messages(&session, None, 3).await.unwrap(), right);
    }
    // Another program gave the newest message an earlier time, in place.
    let mut message = serde_json::to_value(user(1, 4)).unwrap();
    message["time"]["created"] = millis(-1).into();
    std::fs::write(
        test.file(&format!("message/{session}/{}.json", message_id(4))),
        message.to_string(),
    )
    .unwrap();
    age_message_folder(&test);
    assert_eq!(
        numbers(&test.store.messages(&session, None, 9).await.unwrap()),
        [-1, 0, 1, 2, 3]
    );
}

#[tokio::test]
async fn messages_are_ordered_by_time_also_where_the_ids_wrap_around() {
    let test = TestStore::new().await;
    let session = session_id(1);
    let mut write = Vec::new();
    // The last second before the ids wrapped, and the first after it.
    for (id, created) in [
        ("msg_fffffff00001aaaaaaaaaaaaaa", 1_786_706_394_000i64),
        ("msg_ffffffffffffaaaaaaaaaaaaaa", 1_786_706_395_263),
        ("msg_000000000001aaaaaaaaaaaaaa", 1_786_706_395_263),
        ("msg_000000001001aaaaaaaaaaaaaa", 1_786_706_395_264),
    ] {
        let mut message = serde_json::to_value(user(1, 0)).unwrap();
        message["id"] = id.into();
        message["time"]["created"] = created.into();
        write.push(serde_json::from_value(message).unwrap());
    }
    for message in write.iter().rev() {
        test.store.write_message(message).await.unwrap();
    }
    let page = test.store.messages(&session, None, 9).await.unwrap();
    let read: Vec<_> = page
        .messages
        .into_iter()
        .map(|message| message.info)
        .collect();
    assert_eq!(read, write);
}

#[tokio::test]
async fn removing_a_message_removes_its_parts() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 2, 2).await;
    assert!(
        test.store
            .remove_message(&session_id(1), &message_id(0))
            .await
            .unwrap()
    );
    assert!(
        test.store
            .remove_part(&message_id(1), &part_id(1, 0))
            .await
            .unwrap()
    );
    let page = test.store.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!(numbers(&page), [1]);
    assert_eq!(
        page.messages[0].parts,
        [text(1, 1, 1, "part 1 of message 1")]
    );
    assert!(
        test.store
            .parts(&message_id(0))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test]
async fn a_window_holds_a_message_and_the_ones_around_it() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 9, 1).await;
    let session = session_id(1);
    let cases = [
        (
            WindowAnchor::Around(message_id(4)),
            5,
            vec![2, 3, 4, 5, 6],
            true,
            true,
        ),
        (
            WindowAnchor::Around(message_id(0)),
            4,
            vec![0, 1, 2, 3],
            false,
            true,
        ),
        (
            WindowAnchor::Around(message_id(8)),
            4,
            vec![6, 7, 8],
            true,
            false,
        ),
        (
            WindowAnchor::Around(message_id(4)),
            100,
            vec![0, 1, 2, 3, 4, 5, 6, 7, 8],
            false,
            false,
        ),
        (
            WindowAnchor::After(message_id(2)),
            3,
            vec![3, 4, 5],
            true,
            true,
        ),
        (
            WindowAnchor::After(message_id(5)),
            3,
            vec![6, 7, 8],
            true,
            false,
        ),
        (WindowAnchor::After(message_id(8)), 3, vec![], true, false),
    ];
    for (anchor, limit, expected, older, newer) in cases {
        let window = test.store.window(&session, &anchor, limit).await.unwrap();
        let seen = (
            numbers(&window.page),
            window.page.has_older,
            window.has_newer,
        );
        assert_eq!(seen, (expected, older, newer), "{anchor:?}");
    }
    let gone = WindowAnchor::Around(MessageId::parse("msg_none").unwrap());
    let missing = test.store.window(&session, &gone, 3).await.unwrap_err();
    assert!(matches!(missing, StoreError::Missing(_)));
}
