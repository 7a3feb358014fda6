//! Messages from the tail, in the right order, with nothing missed.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use lathe_protocol::MessageId;
use lathe_store::{Page, StoreError, Stretch};

use crate::support::*;

fn numbers(page: &Page) -> Vec<i64> {
    let base = millis(0);
    page.messages
        .iter()
        .map(|message| (message.info.created().0 - base) / 1000)
        .collect()
}

/// Makes the folder look as if nothing had happened in it for an hour.
fn settle(home: &Home) {
    let folder = home.file("message").join(session_id(1).as_str());
    let then = SystemTime::now() - Duration::from_secs(3600);
    File::open(folder)
        .unwrap()
        .set_times(FileTimes::new().set_modified(then))
        .unwrap();
}

#[tokio::test]
async fn pages_go_from_the_tail_to_the_beginning() {
    let home = Home::new().await;
    fill(&home.store, 1, 7, 2).await;
    let session = session_id(1);
    let tail = home.store.messages(&session, None, 3).await.unwrap();
    assert_eq!((numbers(&tail), tail.has_older), (vec![4, 5, 6], true));
    let middle = home
        .store
        .messages(&session, Some(&message_id(4)), 3)
        .await
        .unwrap();
    assert_eq!((numbers(&middle), middle.has_older), (vec![1, 2, 3], true));
    let first = home
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
    let missing = home
        .store
        .messages(&session, Some(&gone), 3)
        .await
        .unwrap_err();
    assert!(matches!(missing, StoreError::Missing(_)));
    let nothing = home.store.messages(&session_id(9), None, 3).await.unwrap();
    assert_eq!(nothing, Page::default());
}

#[tokio::test]
async fn an_old_order_is_used_and_a_foreign_message_is_still_seen() {
    let home = Home::new().await;
    fill(&home.store, 1, 4, 1).await;
    settle(&home);
    let session = session_id(1);
    home.store.messages(&session, None, 9).await.unwrap();
    let index = home.root().join("index").join(format!("{session}.order"));
    let kept = std::fs::read(&index).unwrap();
    home.store.messages(&session, None, 9).await.unwrap();
    assert_eq!(std::fs::read(&index).unwrap(), kept);

    // Another program writes a message, and one in the middle, and takes one away.
    for number in [9, -5] {
        let message = serde_json::to_vec(&user(1, number)).unwrap();
        std::fs::write(
            home.file(&format!("message/{session}/{}.json", message_id(number))),
            message,
        )
        .unwrap();
    }
    std::fs::remove_file(home.file(&format!("message/{session}/{}.json", message_id(2)))).unwrap();
    let page = home.store.messages(&session, None, 9).await.unwrap();
    assert_eq!(numbers(&page), [-5, 0, 1, 3, 9]);
}

#[tokio::test]
async fn a_message_added_within_the_clocks_grain_is_seen() {
    let home = Home::new().await;
    fill(&home.store, 1, 2, 0).await;
    let session = session_id(1);
    let folder = home.file("message").join(session.as_str());
    let before = folder.metadata().unwrap().modified().unwrap();
    assert_eq!(
        numbers(&home.store.messages(&session, None, 9).await.unwrap()),
        [0, 1]
    );
    // The folder's time does not tell of this one.
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
        numbers(&home.store.messages(&session, None, 9).await.unwrap()),
        [0, 1, 5]
    );
}

#[tokio::test]
async fn a_lost_torn_or_wrong_index_is_made_anew() {
    let home = Home::new().await;
    fill(&home.store, 1, 5, 1).await;
    settle(&home);
    let session = session_id(1);
    let index = home.root().join("index").join(format!("{session}.order"));
    let right = home.store.messages(&session, None, 3).await.unwrap();
    let whole = std::fs::read(&index).unwrap();

    std::fs::remove_file(&index).unwrap();
    assert_eq!(home.store.messages(&session, None, 3).await.unwrap(), right);
    for at in [0, 9, 20, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&index, &whole[..at]).unwrap();
        assert_eq!(home.store.messages(&session, None, 3).await.unwrap(), right);
    }
    // Another program gave the newest message an earlier time, in place.
    let mut message = serde_json::to_value(user(1, 4)).unwrap();
    message["time"]["created"] = millis(-1).into();
    std::fs::write(
        home.file(&format!("message/{session}/{}.json", message_id(4))),
        message.to_string(),
    )
    .unwrap();
    settle(&home);
    assert_eq!(
        numbers(&home.store.messages(&session, None, 9).await.unwrap()),
        [-1, 0, 1, 2, 3]
    );
}

#[tokio::test]
async fn order_is_time_first_and_survives_the_wrap_of_the_ids() {
    let home = Home::new().await;
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
        home.store.write_message(message).await.unwrap();
    }
    let page = home.store.messages(&session, None, 9).await.unwrap();
    let read: Vec<_> = page
        .messages
        .into_iter()
        .map(|message| message.info)
        .collect();
    assert_eq!(read, write);
}

#[tokio::test]
async fn a_removed_message_takes_its_parts_with_it() {
    let home = Home::new().await;
    fill(&home.store, 1, 2, 2).await;
    assert!(
        home.store
            .remove_message(&session_id(1), &message_id(0))
            .await
            .unwrap()
    );
    assert!(
        home.store
            .remove_part(&message_id(1), &part_id(1, 0))
            .await
            .unwrap()
    );
    let page = home.store.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!(numbers(&page), [1]);
    assert_eq!(
        page.messages[0].parts,
        [text(1, 1, 1, "part 1 of message 1")]
    );
    assert!(
        home.store
            .parts(&message_id(0))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test]
async fn a_window_shows_a_message_with_what_stands_around_it() {
    let home = Home::new().await;
    fill(&home.store, 1, 9, 1).await;
    let session = session_id(1);
    let cases = [
        (
            Stretch::Around(message_id(4)),
            5,
            vec![2, 3, 4, 5, 6],
            true,
            true,
        ),
        (
            Stretch::Around(message_id(0)),
            4,
            vec![0, 1, 2, 3],
            false,
            true,
        ),
        (
            Stretch::Around(message_id(8)),
            4,
            vec![6, 7, 8],
            true,
            false,
        ),
        (
            Stretch::Around(message_id(4)),
            100,
            vec![0, 1, 2, 3, 4, 5, 6, 7, 8],
            false,
            false,
        ),
        (Stretch::After(message_id(2)), 3, vec![3, 4, 5], true, true),
        (Stretch::After(message_id(5)), 3, vec![6, 7, 8], true, false),
        (Stretch::After(message_id(8)), 3, vec![], true, false),
    ];
    for (stretch, limit, expected, older, newer) in cases {
        let window = home.store.window(&session, &stretch, limit).await.unwrap();
        let seen = (
            numbers(&window.page),
            window.page.has_older,
            window.has_newer,
        );
        assert_eq!(seen, (expected, older, newer), "{stretch:?}");
    }
    let gone = Stretch::Around(MessageId::parse("msg_none").unwrap());
    let missing = home.store.window(&session, &gone, 3).await.unwrap_err();
    assert!(matches!(missing, StoreError::Missing(_)));
}
