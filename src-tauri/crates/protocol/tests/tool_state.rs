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
enum Transition {
    Receive,
    Start,
    Progress,
    Complete,
    Fail,
    Abort,
    Compact,
}

fn apply(part: &mut ToolPart, transition: Transition, now: Millis) -> bool {
    match transition {
        Transition::Receive => part.receive("{").is_ok(),
        Transition::Start => part.start(Map::new(), now).is_ok(),
        Transition::Progress => part.progress(Some("t".into()), Map::new()).is_ok(),
        Transition::Complete => part
            .complete("o".into(), "t".into(), Map::new(), vec![], now)
            .is_ok(),
        Transition::Fail => part.fail("e".into(), None, now).is_ok(),
        Transition::Abort => part.abort(now),
        Transition::Compact => part.compact(now),
    }
}

fn progress_of(part: &ToolPart) -> usize {
    match part.state() {
        ToolState::Pending(_) => 0,
        ToolState::Running(_) => 1,
        ToolState::Completed(_) | ToolState::Error(_) => 2,
    }
}

proptest! {
    #[test]
    fn no_sequence_of_transitions_goes_back_or_changes_an_ended_call(transitions in proptest::collection::vec(
        prop_oneof![
            Just(Transition::Receive), Just(Transition::Start), Just(Transition::Progress), Just(Transition::Complete),
            Just(Transition::Fail), Just(Transition::Abort), Just(Transition::Compact),
        ], 0..20,
    )) {
        let mut part = call();
        for (index, transition) in transitions.into_iter().enumerate() {
            let before = part.clone();
            let changed = apply(&mut part, transition, Millis(2_000_000_000_000 + index as i64));
            prop_assert!(progress_of(&part) >= progress_of(&before));
            if !changed {
                prop_assert_eq!(&part, &before);
            }
            if before.state().is_settled() && !matches!(transition, Transition::Compact) {
                prop_assert_eq!(&part, &before);
            }
        }
    }
}

#[test]
fn arguments_that_are_not_json_stay_readable() {
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
fn an_aborted_call_keeps_its_progress() {
    let mut part = call();
    part.start(
        json!({ "command": "ls" }).as_object().unwrap().clone(),
        Millis(5),
    )
    .unwrap();
    part.progress(None, json!({ "output": "a" }).as_object().unwrap().clone())
        .unwrap();
    assert!(part.abort(Millis(9)));
    assert_eq!(
        serde_json::to_value(part.state()).unwrap(),
        json!({
            "status": "error", "input": { "command": "ls" }, "error": "Tool execution aborted",
            "metadata": { "output": "a" }, "time": { "start": 5, "end": 9 },
        })
    );
}
