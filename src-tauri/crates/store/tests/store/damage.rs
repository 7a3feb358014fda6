//! A damaged file hides no other record, and its bytes are quarantined.

use lathe_fuzz::fuzz;
use lathe_protocol::Part;
use lathe_store::{CheckReport, Damaged, Key, StoreError};
use proptest::prelude::*;
use serde_json::json;

use crate::support::*;

const MESSAGES: i64 = 50;
const PARTS: i64 = 10;

fn truncated(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len() / 2].to_vec()
}

fn flipped(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[0] ^= 0x04;
    bytes
}

fn nul_filled(bytes: &[u8]) -> Vec<u8> {
    vec![0; bytes.len()]
}

fn emptied(_: &[u8]) -> Vec<u8> {
    Vec::new()
}

/// The bytes in quarantine for a key.
fn quarantined(test: &TestStore, key: &Key) -> Vec<Vec<u8>> {
    let prefix = format!("{key}.");
    let files = tree(&test.root().join("quarantine"));
    files
        .into_iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .map(|(_, bytes)| bytes)
        .collect()
}

#[tokio::test]
async fn each_damaged_part_of_a_big_session_is_listed_once() {
    let test = TestStore::new().await;
    fill(&test.store, 1, MESSAGES, PARTS).await;
    let complete = test.store.messages(&session_id(1), None, 99).await.unwrap();
    let stride = count(23, 1);
    let damages = [truncated, flipped, nul_filled, emptied];

    for number in (0..MESSAGES * PARTS).step_by(stride) {
        let (message, part) = (number / PARTS, number % PARTS);
        let key = Key::part(&message_id(message), &part_id(message, part)).unwrap();
        let path = test.file(&format!("{key}.json"));
        let good = std::fs::read(&path).unwrap();
        for damage in damages {
            let bad = damage(&good);
            std::fs::write(&path, &bad).unwrap();
            let page = test.store.messages(&session_id(1), None, 99).await.unwrap();
            let keys: Vec<_> = page.damaged.iter().map(|damaged| &damaged.key).collect();
            assert_eq!(keys, [&key]);
            assert_eq!(
                page.messages.iter().map(|m| m.parts.len()).sum::<usize>(),
                499
            );
            assert!(quarantined(&test, &key).contains(&bad));
            // Reading does not change the file.
            assert_eq!(std::fs::read(&path).unwrap(), bad);
        }
        std::fs::write(&path, &good).unwrap();
    }
    assert_eq!(
        test.store.messages(&session_id(1), None, 99).await.unwrap(),
        complete
    );
}

#[tokio::test]
async fn a_damaged_message_is_listed_and_hides_no_other() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 5, 1).await;
    let key = Key::message(&session_id(1), &message_id(2)).unwrap();
    std::fs::write(test.file(&format!("{key}.json")), "\0\0\0").unwrap();
    let page = test.store.messages(&session_id(1), None, 3).await.unwrap();
    let shown: Vec<_> = page.messages.iter().map(|m| m.info.id().clone()).collect();
    assert_eq!(shown, [message_id(3), message_id(4)]);
    assert_eq!(
        page.damaged
            .iter()
            .map(|d| d.key.clone())
            .collect::<Vec<_>>(),
        [key]
    );
    assert!(page.has_older);
}

#[tokio::test]
async fn a_damaged_session_or_project_hides_no_other() {
    let test = TestStore::new().await;
    for number in 1..=3 {
        test.store.write_session(&session(number)).await.unwrap();
    }
    let key = Key::new(["session", "global", session_id(2).as_str()]).unwrap();
    std::fs::write(test.file(&format!("{key}.json")), "{\"id\": \"ses_").unwrap();
    std::fs::create_dir_all(test.file("project")).unwrap();
    std::fs::write(test.file("project/p.json"), "[]").unwrap();

    let listing = test.store.all_sessions().await.unwrap();
    assert_eq!(listing.items.len(), 2);
    assert_eq!(listing.damaged.len(), 1);
    let refused = test.store.session(&session_id(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Damaged(Damaged { key: found, .. }) if found == key));
    assert_eq!(test.store.projects().await.unwrap().damaged.len(), 1);
}

#[tokio::test]
async fn damaged_bytes_are_quarantined_before_a_write_or_a_removal() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 1, 2).await;
    // The damage is first noticed by the write or the removal.
    for (part, bad) in [(0, &b"{\"id\": \"prt"[..]), (1, &b"\0\0\0\0"[..])] {
        let key = Key::part(&message_id(0), &part_id(0, part)).unwrap();
        std::fs::write(test.file(&format!("{key}.json")), bad).unwrap();
        if part == 0 {
            test.store
                .write_part(&text(1, 0, part, "new"))
                .await
                .unwrap();
        } else {
            test.store.remove(&key).await.unwrap();
        }
        assert_eq!(quarantined(&test, &key), [bad.to_vec()]);
    }
    assert_eq!(
        test.store.parts(&message_id(0)).await.unwrap().items,
        [text(1, 0, 0, "new")]
    );
}

#[tokio::test]
async fn a_record_under_the_key_of_another_is_damage() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 1, 1).await;
    let misplaced = serde_json::to_vec(&text(1, 3, 0, "lost")).unwrap();
    let key = Key::part(&message_id(0), &part_id(0, 0)).unwrap();
    std::fs::write(test.file(&format!("{key}.json")), &misplaced).unwrap();
    let page = test.store.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!(page.messages[0].parts, Vec::<Part>::new());
    assert_eq!(page.damaged.len(), 1);
    assert_eq!(quarantined(&test, &key), [misplaced]);
}

#[tokio::test]
async fn a_check_lists_problems_and_a_repair_moves_them_to_quarantine() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 1, 1).await;
    test.store
        .write_part(&text(1, 7, 0, "no message"))
        .await
        .unwrap();
    test.store
        .write_part(&text(1, 7, 1, "no message"))
        .await
        .unwrap();
    test.store.write_message(&user(8, 8)).await.unwrap();
    test.store
        .write(&Key::todo(&session_id(9)).unwrap(), &json!([]))
        .await
        .unwrap();
    let bad = Key::new(["part", message_id(0).as_str(), "prt_bad"]).unwrap();
    std::fs::write(test.file(&format!("{bad}.json")), "{").unwrap();
    std::fs::write(test.file("session/global/x.json.tmp"), "half").unwrap();
    std::fs::write(test.file("session/notes.txt"), "mine").unwrap();
    std::fs::write(test.file("stray.txt"), "also mine").unwrap();

    let report = test.store.check().await.unwrap();
    let reason = "EOF while parsing an object at line 1 column 1".to_owned();
    let expected = CheckReport {
        records: 7,
        damaged: vec![Damaged {
            key: bad.clone(),
            reason,
        }],
        orphans: vec![
            Key::new(["message", session_id(8).as_str()]).unwrap(),
            Key::new(["part", message_id(7).as_str()]).unwrap(),
            Key::todo(&session_id(9)).unwrap(),
        ],
        strays: vec![
            "session/global/x.json.tmp".into(),
            "session/notes.txt".into(),
            "stray.txt".into(),
        ],
    };
    assert_eq!(report, expected);

    assert_eq!(test.store.repair().await.unwrap(), expected);
    let after = test.store.check().await.unwrap();
    assert_eq!(
        (after.records, after.damaged, after.strays),
        (7, vec![], vec![])
    );
    let quarantine = tree(&test.root().join("quarantine"));
    assert_eq!(quarantine["strays/session/notes.txt"], b"mine");
    assert_eq!(quarantined(&test, &bad), [b"{".to_vec()]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_place_of_a_record_does_not_block_a_read() {
    let test = TestStore::new().await;
    fill(&test.store, 1, 1, 1).await;
    let pipe = test.file(&format!("part/{}/prt_pipe.json", message_id(0)));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let page = test.store.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!((page.messages[0].parts.len(), page.damaged.len()), (1, 1));
    let report = test.store.check().await.unwrap();
    assert_eq!(report.damaged.len(), 1);
}

/// Whatever happens to one file, the rest of its session is unchanged.
#[test]
fn any_damage_to_one_file_leaves_the_others_readable() {
    let runtime = runtime();
    fuzz(
        16,
        (0usize..1000, 0u8..8, any::<bool>()),
        |(at, bit, cut)| {
            runtime.block_on(async {
                let test = TestStore::new().await;
                fill(&test.store, 1, 3, 2).await;
                let path = test.file(&format!("part/{}/{}.json", message_id(1), part_id(1, 0)));
                let mut bytes = std::fs::read(&path).unwrap();
                let at = at % bytes.len();
                bytes[at] ^= 1 << bit;
                if cut {
                    bytes.truncate(at);
                }
                std::fs::write(&path, &bytes).unwrap();
                let page = test.store.messages(&session_id(1), None, 9).await.unwrap();
                assert_eq!(page.messages.len(), 3);
                let parts = page.messages.iter().map(|message| message.parts.len());
                assert_eq!(parts.sum::<usize>() + page.damaged.len(), 6);
                assert!(page.damaged.len() <= 1);
                let other = text(1, 1, 1, "part 1 of message 1");
                assert!(page.messages[1].parts.contains(&other));
            });
        },
    );
}
