//! One bad file is one placeholder, and its bytes are kept.

use lathe_protocol::Part;
use lathe_store::{Damaged, Key, Report, StoreError};
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

/// The bytes kept for a key.
fn kept(home: &Home, key: &Key) -> Vec<Vec<u8>> {
    let prefix = format!("{key}.");
    let files = tree(&home.root().join("quarantine"));
    files
        .into_iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .map(|(_, bytes)| bytes)
        .collect()
}

#[tokio::test]
async fn each_bad_part_of_a_big_session_is_one_placeholder() {
    let home = Home::new().await;
    fill(&home.store, 1, MESSAGES, PARTS).await;
    let whole = home.store.messages(&session_id(1), None, 99).await.unwrap();
    let stride = count(23, 1);
    let ways = [truncated, flipped, nul_filled, emptied];

    for number in (0..MESSAGES * PARTS).step_by(stride) {
        let (message, part) = (number / PARTS, number % PARTS);
        let key = Key::part(&message_id(message), &part_id(message, part)).unwrap();
        let path = home.file(&format!("{key}.json"));
        let good = std::fs::read(&path).unwrap();
        for way in ways {
            let bad = way(&good);
            std::fs::write(&path, &bad).unwrap();
            let page = home.store.messages(&session_id(1), None, 99).await.unwrap();
            let keys: Vec<_> = page.damaged.iter().map(|damaged| &damaged.key).collect();
            assert_eq!(keys, [&key]);
            assert_eq!(
                page.messages.iter().map(|m| m.parts.len()).sum::<usize>(),
                499
            );
            assert!(kept(&home, &key).contains(&bad));
            // It is looked at but not touched.
            assert_eq!(std::fs::read(&path).unwrap(), bad);
        }
        std::fs::write(&path, &good).unwrap();
    }
    assert_eq!(
        home.store.messages(&session_id(1), None, 99).await.unwrap(),
        whole
    );
}

#[tokio::test]
async fn a_bad_message_stands_in_its_place_and_hides_no_other() {
    let home = Home::new().await;
    fill(&home.store, 1, 5, 1).await;
    let key = Key::message(&session_id(1), &message_id(2)).unwrap();
    std::fs::write(home.file(&format!("{key}.json")), "\0\0\0").unwrap();
    let page = home.store.messages(&session_id(1), None, 3).await.unwrap();
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
async fn a_bad_session_or_project_does_not_hide_the_others() {
    let home = Home::new().await;
    for number in 1..=3 {
        home.store.write_session(&session(number)).await.unwrap();
    }
    let key = Key::new(["session", "global", session_id(2).as_str()]).unwrap();
    std::fs::write(home.file(&format!("{key}.json")), "{\"id\": \"ses_").unwrap();
    std::fs::create_dir_all(home.file("project")).unwrap();
    std::fs::write(home.file("project/p.json"), "[]").unwrap();

    let listing = home.store.all_sessions().await.unwrap();
    assert_eq!(listing.items.len(), 2);
    assert_eq!(listing.damaged.len(), 1);
    let refused = home.store.session(&session_id(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Damaged(Damaged { key: found, .. }) if found == key));
    assert_eq!(home.store.projects().await.unwrap().damaged.len(), 1);
}

#[tokio::test]
async fn bad_bytes_are_kept_before_a_write_or_a_remove_takes_their_place() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 2).await;
    // Nobody has read the damage before it is written over.
    for (part, bad) in [(0, &b"{\"id\": \"prt"[..]), (1, &b"\0\0\0\0"[..])] {
        let key = Key::part(&message_id(0), &part_id(0, part)).unwrap();
        std::fs::write(home.file(&format!("{key}.json")), bad).unwrap();
        if part == 0 {
            home.store
                .write_part(&text(1, 0, part, "new"))
                .await
                .unwrap();
        } else {
            home.store.remove(&key).await.unwrap();
        }
        assert_eq!(kept(&home, &key), [bad.to_vec()]);
    }
    assert_eq!(
        home.store.parts(&message_id(0)).await.unwrap().items,
        [text(1, 0, 0, "new")]
    );
}

#[tokio::test]
async fn a_record_in_another_records_place_is_damage() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 1).await;
    let stranger = serde_json::to_vec(&text(1, 3, 0, "lost")).unwrap();
    let key = Key::part(&message_id(0), &part_id(0, 0)).unwrap();
    std::fs::write(home.file(&format!("{key}.json")), &stranger).unwrap();
    let page = home.store.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!(page.messages[0].parts, Vec::<Part>::new());
    assert_eq!(page.damaged.len(), 1);
    assert_eq!(kept(&home, &key), [stranger]);
}

#[tokio::test]
async fn a_check_names_what_is_wrong_and_a_repair_moves_it_aside() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 1).await;
    home.store
        .write_part(&text(1, 7, 0, "no message"))
        .await
        .unwrap();
    home.store
        .write_part(&text(1, 7, 1, "no message"))
        .await
        .unwrap();
    home.store.write_message(&user(8, 8)).await.unwrap();
    home.store
        .write(&Key::todo(&session_id(9)).unwrap(), &json!([]))
        .await
        .unwrap();
    let bad = Key::new(["part", message_id(0).as_str(), "prt_bad"]).unwrap();
    std::fs::write(home.file(&format!("{bad}.json")), "{").unwrap();
    std::fs::write(home.file("session/global/x.json.tmp"), "half").unwrap();
    std::fs::write(home.file("session/notes.txt"), "mine").unwrap();
    std::fs::write(home.file("stray.txt"), "also mine").unwrap();

    let report = home.store.check().await.unwrap();
    let reason = "EOF while parsing an object at line 1 column 1".to_owned();
    let expected = Report {
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

    assert_eq!(home.store.repair().await.unwrap(), expected);
    let after = home.store.check().await.unwrap();
    assert_eq!(
        (after.records, after.damaged, after.strays),
        (7, vec![], vec![])
    );
    let aside = tree(&home.root().join("quarantine"));
    assert_eq!(aside["strays/session/notes.txt"], b"mine");
    assert_eq!(kept(&home, &bad), [b"{".to_vec()]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_where_a_record_should_be_holds_nobody_up() {
    let home = Home::new().await;
    fill(&home.store, 1, 1, 1).await;
    let pipe = home.file(&format!("part/{}/prt_pipe.json", message_id(0)));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let page = home.store.messages(&session_id(1), None, 9).await.unwrap();
    assert_eq!((page.messages[0].parts.len(), page.damaged.len()), (1, 1));
    let report = home.store.check().await.unwrap();
    assert_eq!(report.damaged.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: count(16, 500) as u32, ..ProptestConfig::default() })]

    /// Whatever happens to one file, the rest of its session is as it was.
    #[test]
    fn any_bytes_in_one_file_leave_the_others_alone(at in 0usize..1000, bit in 0u8..8, cut in any::<bool>()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let home = Home::new().await;
            fill(&home.store, 1, 3, 2).await;
            let path = home.file(&format!("part/{}/{}.json", message_id(1), part_id(1, 0)));
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            if cut {
                bytes.truncate(at);
            }
            std::fs::write(&path, &bytes).unwrap();
            let page = home.store.messages(&session_id(1), None, 9).await.unwrap();
            assert_eq!(page.messages.len(), 3);
            let parts: usize = page.messages.iter().map(|message| message.parts.len()).sum();
            assert_eq!(parts + page.damaged.len(), 6);
            assert!(page.damaged.len() <= 1);
            assert!(page.messages[1].parts.contains(&text(1, 1, 1, "part 1 of message 1")));
        });
    }
}
