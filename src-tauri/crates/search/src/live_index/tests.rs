use std::sync::Arc;

use lathe_store::{Options, Store};

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
