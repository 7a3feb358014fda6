use std::collections::HashMap;

use lathe_protocol::QuestionRequest;
use serde_json::json;

use super::*;

fn session(name: &str) -> SessionId {
    serde_json::from_value(json!(format!("ses_{name}"))).unwrap()
}

fn status(id: &SessionId, status: SessionStatus) -> Event {
    Event::SessionStatus {
        session_id: id.clone(),
        status,
    }
}

fn busy(id: &SessionId) -> Event {
    status(id, SessionStatus::Busy)
}

fn idle(id: &SessionId) -> Event {
    Event::SessionIdle {
        session_id: id.clone(),
    }
}

fn error(id: &SessionId, error: MessageError) -> Event {
    Event::SessionError {
        session_id: Some(id.clone()),
        error: Some(error),
    }
}

fn permission(id: &SessionId, kind: &str) -> PermissionRequest {
    let request = json!({
        "id": format!("per_{kind}"), "sessionID": id, "permission": kind,
        "patterns": [], "metadata": {}, "always": [],
    });
    serde_json::from_value(request).unwrap()
}

fn question(id: &SessionId) -> QuestionRequest {
    let request = json!({ "id": "que_peas", "sessionID": id, "questions": [] });
    serde_json::from_value(request).unwrap()
}

fn heard(watch: &mut Watch, events: &[Event]) -> Vec<(SessionId, News)> {
    events
        .iter()
        .filter_map(|event| watch.hear(event))
        .collect()
}

#[test]
fn the_end_of_a_turn_is_news_and_so_is_its_failure() {
    let (peas, beans) = (session("peas"), session("beans"));
    let mut watch = Watch::default();
    let news = heard(
        &mut watch,
        &[
            busy(&peas),
            busy(&beans),
            error(&beans, MessageError::unknown("no water")),
            idle(&beans),
            idle(&peas),
            busy(&beans),
            idle(&beans),
        ],
    );
    let expected = [
        (beans.clone(), News::Failed),
        (peas, News::Finished),
        (beans, News::Finished),
    ];
    assert_eq!(news, expected);
}

#[test]
fn a_turn_that_the_person_stopped_is_no_news_and_a_warning_is_no_failure() {
    let peas = session("peas");
    let mut watch = Watch::default();
    let stopped = [
        busy(&peas),
        error(&peas, MessageError::aborted("The turn was stopped")),
        idle(&peas),
    ];
    assert_eq!(heard(&mut watch, &stopped), []);
    let warned = [
        busy(&peas),
        error(&peas, MessageError::no_snapshot("the disk is full")),
        idle(&peas),
    ];
    assert_eq!(heard(&mut watch, &warned), [(peas, News::Finished)]);
}

#[test]
fn what_is_asked_is_news_once() {
    let peas = session("peas");
    let (edit, limit) = (permission(&peas, "edit"), permission(&peas, "limit"));
    let asked = question(&peas);
    let mut watch = Watch::default();
    let news = heard(
        &mut watch,
        &[
            Event::PermissionAsked(edit.clone()),
            Event::PermissionAsked(limit.clone()),
            Event::QuestionAsked(asked.clone()),
        ],
    );
    let expected = [News::Permission, News::Limit, News::Question].map(|one| (peas.clone(), one));
    assert_eq!(news, expected);
    let activity = Activity {
        permissions: vec![edit, limit],
        questions: vec![asked],
        ..Activity::default()
    };
    assert_eq!(watch.catch_up(&activity), []);
}

#[test]
fn after_missed_events_the_present_state_is_news() {
    let (peas, beans) = (session("peas"), session("beans"));
    let mut watch = Watch::default();
    assert_eq!(heard(&mut watch, &[busy(&peas), busy(&beans)]), []);
    let activity = Activity {
        statuses: HashMap::from([(beans.clone(), SessionStatus::Busy)]),
        permissions: vec![permission(&beans, "bash")],
        ..Activity::default()
    };
    let expected = [(peas, News::Finished), (beans, News::Permission)];
    assert_eq!(watch.catch_up(&activity), expected);
}
