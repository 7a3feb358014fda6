//! Sessions of other agents that were imported before and have changed there since.

use lathe_protocol::{Part, SessionId};
use serde_json::{Value, json};

use crate::support::*;

fn record(kind: &str, payload: Value) -> String {
    let time = "2026-05-01T08:00:00.000Z";
    let record = json!({ "timestamp": time, "type": kind, "payload": payload });
    format!("{record}\n")
}

fn said(role: &str, words: &str) -> String {
    let kind = match role {
        "user" => "input_text",
        _ => "output_text",
    };
    let content = json!([{ "type": kind, "text": words }]);
    let message = json!({ "type": "message", "role": role, "content": content });
    record("response_item", message)
}

async fn texts(test: &TestStore, session: &SessionId) -> Vec<String> {
    let page = test
        .store
        .messages(session, None, usize::MAX)
        .await
        .unwrap();
    let parts = page.messages.into_iter().flat_map(|one| one.parts);
    parts
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.text),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn what_was_taken_back_since_the_last_import_is_no_longer_in_the_session() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sessions/2026/05/01");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("rollout-2026-05-01T08-00-00-thread-a.jsonl");
    let meta = json!({
        "id": "thread-a", "timestamp": "2026-05-01T08:00:00.000Z", "cwd": "/home/user/garden",
    });
    let before = [
        record("session_meta", meta),
        said("user", "Water the fern"),
        said("assistant", "Watered."),
        said("user", "Cut the rose"),
        said("assistant", "Cut."),
    ];
    std::fs::write(&file, before.concat()).unwrap();
    let test = TestStore::new().await;
    let imported = test.store.import_from(home.path()).await.unwrap();
    let main = imported.added[0].id.clone();
    let first = ["Water the fern", "Watered.", "Cut the rose", "Cut."];
    assert_eq!(texts(&test, &main).await, first);

    let back = json!({ "type": "thread_rolled_back", "num_turns": 1 });
    let after = [
        record("event_msg", back),
        said("user", "Prune the rose"),
        said("assistant", "Pruned."),
    ];
    std::fs::write(&file, before.concat() + &after.concat()).unwrap();
    let imported = test.store.import_from(home.path()).await.unwrap();
    assert_eq!((imported.added.len(), imported.grown.len()), (1, 1));
    let now = ["Water the fern", "Watered.", "Prune the rose", "Pruned."];
    assert_eq!(texts(&test, &main).await, now);
    let fork = &imported.added[0];
    assert_eq!(fork.forked_from.as_ref().unwrap().session_id, main);
    assert_eq!(texts(&test, &fork.id).await, first);
    let checked = test.store.check().await.unwrap();
    assert_eq!((checked.damaged.len(), checked.orphans.len()), (0, 0));
}
