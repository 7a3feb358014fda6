use std::sync::Arc;

use lathe_protocol::{Message, Part};
use lathe_store::{Options, Store};
use serde_json::json;

use super::*;
use lathe_records::bus::Bus;
use lathe_records::clock::SystemClock;

#[tokio::test]
async fn a_search_answers_while_a_long_history_is_being_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Options::default())
        .await
        .unwrap();
    let records = Records::new(store, Bus::default(), Arc::new(SystemClock));
    let path = folder.path().join("index/search.db");
    let live = LiveIndex::open(records, path).await.unwrap();
    live.update().await.unwrap();

    let reading = live.update_lock.lock().await;
    let meanwhile = live.search("anything", 5).await.unwrap();
    drop(reading);
    let afterwards = live.search("anything", 5).await.unwrap();

    assert_eq!([meanwhile.indexing, afterwards.indexing], [true, false]);
}

#[tokio::test]
async fn a_reading_that_was_interrupted_goes_on_to_the_oldest_message() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Options::default())
        .await
        .unwrap();
    let session: Session = serde_json::from_value(json!({
        "id": "ses_1", "projectID": "global", "directory": "/", "title": "Long", "version": "1",
        "time": { "created": 1, "updated": 1 },
    }))
    .unwrap();
    store.write_session(&session).await.unwrap();
    for number in 0..250 {
        let id = format!("msg_{number:03}");
        let message = json!({
            "id": id, "sessionID": "ses_1", "role": "user", "time": { "created": number },
            "agent": "build", "model": { "providerID": "p", "modelID": "m" },
        });
        let part = json!({
            "id": format!("prt_{number:03}"), "messageID": id, "sessionID": "ses_1",
            "type": "text", "text": format!("look at file {number}."),
        });
        let message: Message = serde_json::from_value(message).unwrap();
        store.write_message(&message).await.unwrap();
        let part: Part = serde_json::from_value(part).unwrap();
        store.write_part(&part).await.unwrap();
    }
    let records = Records::new(store, Bus::default(), Arc::new(SystemClock));
    let path = folder.path().join("index/search.db");
    let live = LiveIndex::open(records.clone(), path.clone())
        .await
        .unwrap();

    let mut update = Box::pin(live.update());
    while live.index.indexed_messages(&session.id).unwrap().is_empty() {
        tokio::select! {
            biased;
            _ = &mut update => panic!("nothing was left to interrupt"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(update);
    drop(live);

    let live = LiveIndex::open(records, path).await.unwrap();
    let hits = live.find(&session, "file 3.").await.unwrap();
    let found: Vec<_> = hits.iter().map(|hit| hit.message_id.as_str()).collect();
    assert_eq!(found, ["msg_003"]);
}
