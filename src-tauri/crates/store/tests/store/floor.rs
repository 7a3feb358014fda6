//! New ids stay ahead of stored ones, whatever the clock does between two runs.

use lathe_protocol::{Millis, Part, parse_tick};
use lathe_store::Store;
use serde_json::json;

use crate::support::*;

const HOUR: i64 = 3_600_000;
const TEN_YEARS: i64 = 10 * 365 * 24 * HOUR;
/// Where the 48 bits begin anew.
const LAP: i64 = 1 << 36;

async fn store_part(store: &Store, now: i64) -> u64 {
    let id = store.ids().part(Millis(now));
    let part: Part = serde_json::from_value(json!({
        "id": id, "sessionID": session_id(1), "messageID": message_id(1), "type": "text", "text": "",
    }))
    .unwrap();
    store.write_part(&part).await.unwrap();
    parse_tick(id.as_str()).unwrap()
}

fn is_after(later: u64, earlier: u64) -> bool {
    let distance = later.wrapping_sub(earlier) & ((1 << 48) - 1);
    distance != 0 && distance < 1 << 47
}

#[tokio::test]
async fn after_a_restart_ids_go_on_though_the_clock_went_back() {
    let now = 1_800_000_000_000;
    let edge = (now / LAP + 1) * LAP;
    for (first, second) in [
        (now, now - HOUR),
        (now, now),
        (now, 0),
        (now + TEN_YEARS, now),
        (edge - 1, edge),
        (edge, edge - 1),
        (edge + 1, edge - HOUR),
    ] {
        let home = Home::new().await;
        let earlier = store_part(&home.store, first).await;
        let home = home.again().await;
        let later = store_part(&home.store, second).await;
        assert!(is_after(later, earlier), "{first} then {second}");
    }
}

#[tokio::test]
async fn ten_thousand_ids_of_one_millisecond_keep_their_order_over_a_restart() {
    let home = Home::new().await;
    let now = Millis(1_800_000_000_000);
    let mut last = parse_tick(home.store.ids().part(now).as_str()).unwrap();
    for _ in 0..10_000 {
        let next = parse_tick(home.store.ids().part(now).as_str()).unwrap();
        assert!(is_after(next, last));
        last = next;
    }
    let stored = store_part(&home.store, now.0).await;
    let home = home.again().await;
    assert!(is_after(store_part(&home.store, now.0).await, stored));
}

#[tokio::test]
async fn the_floor_is_written_rarely_and_never_goes_down() {
    let home = Home::new().await;
    store_part(&home.store, 1_800_000_000_000).await;
    let floor = || {
        std::fs::read_to_string(home.root().join("ids"))
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let first = floor();
    store_part(&home.store, 1_800_000_009_000).await;
    assert_eq!(floor(), first);
    store_part(&home.store, 1_800_000_011_000).await;
    assert!(floor() > first);
}

#[tokio::test]
async fn a_lost_floor_is_found_again_from_the_sessions() {
    let home = Home::new().await;
    let mut record = session(1);
    record.time.updated = Millis(1_900_000_000_000);
    home.store.write_session(&record).await.unwrap();
    for lost in ["", "no number"] {
        let Home { folder, store } = Home::new().await;
        store.write_session(&record).await.unwrap();
        drop(store);
        std::fs::write(folder.path().join("ids"), lost).unwrap();
        let store = open(folder.path()).await;
        let next = store.ids().next(Millis(1_800_000_000_000));
        assert!(next.millis() > record.time.updated);
    }
}
