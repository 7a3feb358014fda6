use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// 2026-08-14T11:19:55Z: the millisecond at which the 48 bits last wrapped.
const WRAP: i64 = 26 << 36;

fn source() -> IdSource {
    IdSource::new(Tick::default())
}

fn are_ascending(ids: &[MessageId]) -> bool {
    ids.windows(2)
        .all(|pair| serial_cmp(pair[0].as_str(), pair[1].as_str()) == Ordering::Less)
}

#[test]
fn an_id_has_prefix_time_and_random_tail() {
    let id = source().message(Millis(0x0001_0203_0405)).to_string();
    assert_eq!(id.len(), "msg_".len() + 12 + 14);
    assert_eq!(&id[..16], "msg_102030405001");
}

#[test]
fn ids_made_before_and_after_the_wrap_are_in_order() {
    let before = source().message(Millis(WRAP - 1));
    let after = source().message(Millis(WRAP));
    assert!(
        before.as_str() > after.as_str(),
        "as text the older one sorts last"
    );
    assert_eq!(serial_cmp(before.as_str(), after.as_str()), Ordering::Less);
    // The wrap happened in this second.
    assert_eq!(WRAP / 1000, 1_786_706_395);
}

#[test]
fn session_ids_descend_with_time() {
    let ids = source();
    let (first, second) = (ids.session(Millis(1_000)), ids.session(Millis(2_000)));
    assert!(second.as_str() < first.as_str());
    assert!(first.as_str().starts_with("ses_ff"));
}

#[test]
fn ten_thousand_ids_in_one_millisecond_stay_in_order_and_differ() {
    let ids = source();
    let made: Vec<_> = (0..10_000).map(|_| ids.message(Millis(WRAP - 1))).collect();
    assert!(are_ascending(&made));
    assert_eq!(made.iter().collect::<HashSet<_>>().len(), 10_000);
}

#[test]
fn a_floor_keeps_ids_ascending_when_the_clock_was_set_back() {
    let first = source();
    let old = first.message(Millis(WRAP + 3_600_000));
    let second = IdSource::new(first.floor());
    let new = second.message(Millis(WRAP));
    assert_eq!(serial_cmp(old.as_str(), new.as_str()), Ordering::Less);
}

#[test]
fn a_clock_that_jumps_ten_years_within_a_run_does_not_reverse_the_order() {
    let ids = source();
    let year = 365 * 24 * 3_600_000;
    let made: Vec<_> = [WRAP, WRAP + 10 * year, WRAP + 1, WRAP + 20 * year, WRAP + 2]
        .map(|now| ids.message(Millis(now)))
        .to_vec();
    assert!(are_ascending(&made));
}

#[test]
fn ids_from_outside_are_checked() {
    for bad in [
        "",
        "ses_",
        "msg_../../x",
        "../../x",
        "ses_a/b",
        "ses_a\0",
        "ses_a.json",
        "msg_1",
        "SES_1",
    ] {
        assert!(SessionId::parse(bad).is_err(), "{bad:?}");
    }
    assert!(SessionId::parse(&format!("ses_{}", "a".repeat(81))).is_err());
    assert_eq!(
        SessionId::parse("ses_46275e2c6ffeABC").unwrap().as_str(),
        "ses_46275e2c6ffeABC"
    );
    assert!(ProjectId::parse("..").is_err());
    assert_eq!(ProjectId::parse("global").unwrap().as_str(), "global");
}

#[test]
fn ids_in_another_format_sort_last_in_text_order() {
    let mut ids = vec![
        "msg_zz",
        "msg_000000000002aaaaaaaaaaaaaa",
        "odd",
        "msg_ffffffffffffaaaaaaaaaaaaaa",
    ];
    sort_serially(&mut ids, "msg_000000000001aaaaaaaaaaaaaa", |id| id);
    assert_eq!(
        ids,
        [
            "msg_ffffffffffffaaaaaaaaaaaaaa",
            "msg_000000000002aaaaaaaaaaaaaa",
            "msg_zz",
            "odd"
        ]
    );
}

/// Times close to the point where the ring wraps.
fn edge() -> impl Strategy<Value = i64> {
    (20i64..32, -5i64..=5).prop_map(|(lap, offset)| (lap << 36) + offset)
}

proptest! {
    #[test]
    fn ids_are_strictly_ordered_whatever_the_clock_does(
        start in edge(),
        steps in proptest::collection::vec(-3_600_000i64..3_600_000, 1..60),
    ) {
        let ids = source();
        let mut now = start;
        let mut made = vec![ids.message(Millis(now))];
        for step in steps {
            now += step;
            made.push(ids.message(Millis(now)));
        }
        prop_assert!(are_ascending(&made));
    }

    #[test]
    fn the_timestamp_of_an_id_is_recovered_for_any_age_within_a_lap(
        now in edge(),
        age in 0i64..((1 << 36) - AHEAD_MS),
    ) {
        let id = source().message(Millis(now));
        prop_assert_eq!(timestamp(id.as_str(), Millis(now + age)), Some(Millis(now)));
        prop_assert_eq!(timestamp(id.as_str(), Millis(now - 3_600_000)), Some(Millis(now)));
    }

    #[test]
    fn sorting_around_the_message_agrees_with_serial_order(
        now in edge(),
        steps in proptest::collection::vec(0i64..100_000, 2..40),
        seed in any::<u64>(),
    ) {
        let ids = source();
        let anchor = ids.message(Millis(now));
        let mut at = now;
        let made: Vec<_> = steps.iter().map(|step| { at += step; ids.message(Millis(at)) }).collect();
        let mut shuffled = made.clone();
        let length = shuffled.len() as u64;
        for index in 0..shuffled.len() {
            shuffled.swap(index, (seed.rotate_left(index as u32) % length) as usize);
        }
        sort_serially(&mut shuffled, anchor.as_str(), MessageId::as_str);
        prop_assert_eq!(shuffled, made);
    }

    #[test]
    fn any_text_can_be_compared_and_sorted(mut texts in proptest::collection::vec(".{0,30}", 0..20)) {
        sort_serially(&mut texts, "msg_", String::as_str);
        if let [a, b, ..] = texts.as_slice() {
            let _ = (serial_cmp(a, b), timestamp(a, Millis(0)), MessageId::parse(b));
        }
    }
}
