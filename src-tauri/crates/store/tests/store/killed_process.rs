//! A process that writes messages and parts is killed, again and again.

use std::path::Path;
use std::time::Duration;

use lathe_protocol::{Millis, Part};
use lathe_store::{Options, Store};
use serde_json::json;

use crate::support::*;
use crate::two_processes::{Worker, report};

/// Numbered words, so that a torn text is noticed.
fn words(count: usize) -> String {
    (0..count).map(|number| format!("w{number} ")).collect()
}

/// Writes messages and parts, reports each once it is stored, and streams a text in between.
pub async fn stream(root: &Path) {
    let store = Store::open(root, Options::default()).await.unwrap();
    let _writer = store.lock_session(&session_id(1)).await.unwrap();
    let now = || {
        Millis(
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap()
                .as_millis() as i64,
        )
    };
    store.write_session(&session(1)).await.unwrap();
    for turn in 0.. {
        let mut message = serde_json::to_value(user(1, 0)).unwrap();
        let id = store.ids().message(now());
        message["id"] = json!(id);
        message["time"]["created"] = json!(now());
        store
            .write_message(&serde_json::from_value(message).unwrap())
            .await
            .unwrap();
        report(format!("message {id} {id}"));
        let streaming = store.ids().part(now());
        let part = |part_id: &str, words: String| -> Part {
            let part = json!({ "id": part_id, "sessionID": session_id(1), "messageID": id, "type": "text", "text": words });
            serde_json::from_value(part).unwrap()
        };
        for number in 0..8 {
            let streamed = part(streaming.as_str(), words(turn * 8 + number));
            store.journal_part(&streamed).await.unwrap();
            let stored = store.ids().part(now());
            let words = part(stored.as_str(), words(number * 50));
            match number % 2 {
                0 => store.write_part(&words).await.unwrap(),
                _ => store.journal_part(&words).await.unwrap(),
            }
            report(format!("part {id} {stored}"));
        }
        match turn % 4 {
            3 => store.barrier(&session_id(1)).await.unwrap(),
            _ => store.make_durable(&session_id(1)).await.unwrap(),
        }
        report(format!("part {id} {streaming}"));
    }
}

/// Everything that the killed process reported as stored can be read, and no temp file is left.
async fn assert_complete(root: &Path, stored: &[String]) {
    let store = open(root).await;
    let _writer = store.lock_session(&session_id(1)).await.unwrap();
    let page = store
        .messages(&session_id(1), None, usize::MAX)
        .await
        .unwrap();
    assert_eq!(page.damaged, []);
    for report in stored {
        let [kind, message, id] = report.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{report}")
        };
        let found = page
            .messages
            .iter()
            .find(|m| m.info.id().as_str() == message);
        let found = found.unwrap_or_else(|| panic!("{report} is lost"));
        if kind == "part" {
            let part = found.parts.iter().find(|part| part.id().as_str() == id);
            assert!(part.is_some(), "{report} is lost");
        }
    }
    for part in page.messages.iter().flat_map(|message| &message.parts) {
        let Part::Text(text) = part else {
            panic!("{part:?}")
        };
        assert_eq!(
            text.text,
            words(text.text.split_whitespace().count()),
            "a torn text"
        );
    }
    let strays: Vec<_> = tree(root)
        .into_keys()
        .filter(|name| name.contains(".tmp"))
        .collect();
    assert_eq!(strays, Vec::<String>::new());
    let logs = tree(&root.join("locks"))
        .into_keys()
        .filter(|name| name.starts_with("scratch-"))
        .count();
    assert_eq!(logs, 1, "only the log of this process is left");
}

#[tokio::test]
async fn a_killed_writer_loses_nothing_that_it_reported_as_stored() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let folder = tempfile::tempdir().unwrap();
    let mut stored = Vec::new();
    for _ in 0..count(60, 200) {
        let mut worker = Worker::start("stream", folder.path());
        let reports = 1 + random.below(12) as usize;
        stored.extend(std::iter::from_fn(|| worker.next()).take(reports));
        // Not right after a report, when no write is under way, but somewhere into the next one.
        std::thread::sleep(Duration::from_micros(random.below(400)));
        stored.extend(worker.kill());
        assert_complete(folder.path(), &stored).await;
    }
}
