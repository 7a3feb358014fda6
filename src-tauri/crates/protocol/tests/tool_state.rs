//! A tool call only moves forward.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use lathe_protocol::*;
use proptest::prelude::*;
use serde_json::json;

fn call() -> ToolPart {
    let ids = IdSource::new(Tick::default());
    let now = Millis(1_767_806_134_140);
    ToolPart::pending(
        ids.part(now),
        ids.session(now),
        ids.message(now),
        "call_1",
        "read",
    )
}

#[derive(Debug, Clone, Copy)]
enum Move {
    Receive,
    Start,
    Progress,
    Complete,
    Fail,
    Settle,
    Compact,
}

fn apply(part: &mut ToolPart, step: Move, now: Millis) -> bool {
    match step {
        Move::Receive => part.receive("{").is_ok(),
        Move::Start => part.start(Map::new(), now).is_ok(),
        Move::Progress => part.progress(Some("t".into()), Map::new()).is_ok(),
        Move::Complete => part
            .complete("o".into(), "t".into(), Map::new(), vec![], now)
            .is_ok(),
        Move::Fail => part.fail("e".into(), None, now).is_ok(),
        Move::Settle => part.settle(Unanswered::Aborted, now),
        Move::Compact => part.compact(now),
    }
}

fn rank(part: &ToolPart) -> usize {
    match part.state() {
        ToolState::Pending(_) => 0,
        ToolState::Running(_) => 1,
        ToolState::Completed(_) | ToolState::Error(_) => 2,
    }
}

proptest! {
    #[test]
    fn no_sequence_of_moves_goes_back_or_changes_an_end(moves in proptest::collection::vec(
        prop_oneof![
            Just(Move::Receive), Just(Move::Start), Just(Move::Progress), Just(Move::Complete),
            Just(Move::Fail), Just(Move::Settle), Just(Move::Compact),
        ], 0..20,
    )) {
        let mut part = call();
        for (index, step) in moves.into_iter().enumerate() {
            let before = part.clone();
            let moved = apply(&mut part, step, Millis(2_000_000_000_000 + index as i64));
            prop_assert!(rank(&part) >= rank(&before));
            if !moved {
                prop_assert_eq!(&part, &before);
            }
            if before.state().is_settled() && !matches!(step, Move::Compact) {
                prop_assert_eq!(&part, &before);
            }
        }
    }
}

#[test]
fn arguments_that_never_became_json_stay_readable() {
    let mut part = call();
    part.receive("{\"filePath\": tru").unwrap();
    part.fail("not JSON".into(), None, Millis(5)).unwrap();
    assert_eq!(
        serde_json::to_value(part.state()).unwrap(),
        json!({
            "status": "error", "input": {}, "error": "not JSON",
            "time": { "start": 5, "end": 5 }, "raw": "{\"filePath\": tru",
        })
    );
}

#[test]
fn a_running_call_that_is_aborted_keeps_its_progress() {
    let mut part = call();
    part.start(
        json!({ "command": "ls" }).as_object().unwrap().clone(),
        Millis(5),
    )
    .unwrap();
    part.progress(None, json!({ "output": "a" }).as_object().unwrap().clone())
        .unwrap();
    assert!(part.settle(Unanswered::Aborted, Millis(9)));
    assert_eq!(
        serde_json::to_value(part.state()).unwrap(),
        json!({
            "status": "error", "input": { "command": "ls" }, "error": "Tool execution aborted",
            "metadata": { "output": "a" }, "time": { "start": 5, "end": 9 },
        })
    );
}
